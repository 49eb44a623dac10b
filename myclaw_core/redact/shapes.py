"""Tokens that are known by their shape alone: a prefix that nothing else has, or a structure."""

from __future__ import annotations

import re

from myclaw_core.redact.rule import Rule

__all__ = ["mask_shapes"]

_LEFT, _RIGHT = r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])"
_SHORTEST = 15
"""No shape is shorter, and none holds a blank: texts without a long word, which most are, need no search."""

# kind | what the text must hold, lower case | shape
_TABLE = r"""
anthropic-key   | sk-ant-                   | sk-ant-[\w-]{16,}
openai-key      | sk-proj- sk-svc sk-admin- sk-or- | sk-(?:proj|svcacct|admin|or-v1|or)-[\w-]{20,}
aws-key         | akia asia abia acca       | (?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}
google-key      | aiza                      | AIza[\w-]{35}
google-token    | ya29.                     | ya29\.[\w.-]{20,}
google-token    | 1//0                      | 1//0[\w-]{30,}
google-secret   | gocspx-                   | GOCSPX-[\w-]{20,}
firebase-key    | :apa91b                   | AAAA[\w-]{7}:APA91b[\w-]{100,}
azure-secret    | q~                        | [\w~.-]{3}[0-9]Q~[\w~.-]{31,34}
alibaba-key     | ltai                      | LTAI[A-Za-z0-9]{12,24}
github-token    | ghp_ gho_ ghu_ ghs_ ghr_  | gh[pousr]_[A-Za-z0-9]{30,}
github-token    | github_pat_               | github_pat_\w{22,}
gitlab-token    | glpat- gloas- gldt- glrt- glcbt- glptt- glft- | gl(?:pat|oas|dt|rt|cbt|ptt|ft)-[\w.-]{20,}
atlassian-token | atatt3 atctt3             | AT[AC]TT3[\w=+/-]{50,}
bitbucket-token | atbb                      | ATBB[A-Za-z0-9_=-]{28,}
slack-token     | xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe. | xox[abcdeoprs][.-][A-Za-z0-9%.-]{10,}
slack-token     | xapp-                     | xapp-[0-9]-[A-Za-z0-9-]{20,}
slack-webhook   | hooks.slack.com           | (?<=hooks\.slack\.com/)(?:services|workflows|triggers)/[\w/-]{20,}
discord-webhook | /api/webhooks/            | (?<=/api/webhooks/)[0-9]{16,20}/[\w-]{40,}
discord-token   | m n o                     | [MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}
stripe-key      | sk_live_ sk_test_ rk_live_ rk_test_ | [sr]k_(?:live|test)_[A-Za-z0-9]{16,}
stripe-key      | whsec_                    | whsec_[A-Za-z0-9+/]{24,}={0,2}
square-token    | sq0atp- sq0csp-           | sq0(?:atp|csp)-[\w-]{22,}
shopify-token   | shpat_ shpca_ shppa_ shpss_ | shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}
paypal-token    | access_token$             | access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}
npm-token       | npm_                      | npm_[A-Za-z0-9]{36}
pypi-token      | pypi-age                  | pypi-AgE[\w-]{40,}
rubygems-token  | rubygems_                 | rubygems_[0-9a-f]{48}
crates-token    | cio                       | cio[A-Za-z0-9]{32}
docker-token    | dckr_pat_ dckr_oat_       | dckr_[po]at_[\w-]{20,}
huggingface-token | hf_ api_org_            | (?:hf_|api_org_)[A-Za-z0-9]{30,}
groq-key        | gsk_                      | gsk_[A-Za-z0-9]{40,}
xai-key         | xai-                      | xai-[A-Za-z0-9]{40,}
perplexity-key  | pplx-                     | pplx-[A-Za-z0-9]{40,}
replicate-token | r8_                       | r8_[A-Za-z0-9]{37,}
nvidia-key      | nvapi-                    | nvapi-[\w-]{40,}
tavily-key      | tvly-                     | tvly-[\w-]{20,}
langsmith-key   | lsv2_                     | lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}
sendgrid-key    | sg.                       | SG\.[\w-]{16,32}\.[\w-]{16,64}
brevo-key       | xkeysib-                  | xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}
mailgun-key     | key-                      | (?<![\w-])key-[0-9a-f]{32}
mailchimp-key   | -us                       | [0-9a-f]{32}-us[0-9]{1,2}
twilio-key      | sk                        | SK[0-9a-f]{32}
digitalocean-token | dop_v1_ doo_v1_ dor_v1_ | do[por]_v1_[0-9a-f]{64}
vault-token     | hvs. hvb. hvr.            | hv[sbr]\.[\w-]{20,}
terraform-token | .atlasv1.                 | [A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,}
databricks-token | dapi                     | dapi[0-9a-f]{32}(?:-[0-9])?
doppler-token   | dp.                       | dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{40,}
grafana-token   | glc_ glsa_                | (?:glc_[A-Za-z0-9+/]{32,}={0,2}|glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8})
sentry-token    | sntrys_ sntryu_           | sntry[su]_[\w+/=.-]{40,}
newrelic-key    | nrak-                     | NRAK-[A-Z0-9]{27}
dynatrace-token | dt0c01.                   | dt0c01\.[A-Z0-9]{24}\.[A-Z0-9]{64}
linear-key      | lin_api_                  | lin_(?:api|oauth)_[A-Za-z0-9]{32,}
notion-token    | secret_                   | secret_[A-Za-z0-9]{43}
notion-token    | ntn_                      | ntn_[A-Za-z0-9]{40,}
figma-token     | figd_                     | figd_[\w-]{40,}
airtable-token  | pat                       | pat[A-Za-z0-9]{14}\.[0-9a-f]{64}
postman-key     | pmak-                     | PMAK-[0-9a-f]{24}-[0-9a-f]{34}
pulumi-token    | pul-                      | pul-[0-9a-f]{40}
planetscale-token | pscale_                 | pscale_(?:tkn|oauth|pw)_[\w.-]{32,}
supabase-key    | sbp_ sb_secret_           | (?:sbp_[0-9a-f]{40}|sb_secret_[\w-]{20,})
netlify-token   | nfp_                      | nfp_[A-Za-z0-9]{36}
heroku-key      | hrku-                     | HRKU-[\w-]{36,}
fly-token       | fo1_ fm1 fm2_             | (?:fo1_[\w-]{43}|fm[12][ar]?_[A-Za-z0-9+/=]{60,})
tailscale-key   | tskey-                    | tskey-[\w-]{16,}
dropbox-token   | sl.                       | sl\.(?:u\.)?[\w-]{60,}
facebook-token  | eaa                       | EAA[A-Za-z0-9]{80,}
age-key         | age-secret-key-1          | AGE-SECRET-KEY-1[A-Z0-9]{58}
jwt             | eyj                       | (?<![\w-])eyJ[\w-]{10,}\.[\w-]{2,}\.[\w-]*(?:\.[\w-]+){0,2}
jwt             | eyj                       | (?<![\w-])eyJ[\w-]{10,}\.\.[\w-]{10,}\.[\w-]+\.[\w-]+
"""


def _from_table(line: str) -> Rule:
    kind, hints, shape = (cell.strip() for cell in line.split("|", 2))
    return Rule(kind, tuple(hints.split()), rf"{_LEFT}(?:{shape}){_RIGHT}")


def _mixed(match: re.Match[str]) -> bool:
    text = match["body"]
    return any(char.isdigit() for char in text) and any(char.isalpha() for char in text)


def _mixed_case(match: re.Match[str]) -> bool:
    text = match["body"]
    return text != text.lower() and text != text.upper()


# A mention of the header alone is no key: there must be a run of base64. A key that was cut ends with its last run.
_PEM = Rule(
    "private-key",
    ("private key",),
    (
        r"-----BEGIN (?P<label>[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?)-----(?:"
        r"(?=(?:(?!-----)[^«»]){0,2000}?[A-Za-z0-9+/]{20})(?:(?!-----BEGIN )[^«»])*?-----END (?P=label)-----"
        r"|(?:\s|\\[nr]|(?:Proc-Type|DEK-Info|Version|Comment): [^\n«»]*){0,20}[A-Za-z0-9+/]{20,}"
        r"(?:\s|\\[nr]|[A-Za-z0-9+/]{16,}={0,2}|[A-Za-z0-9+/]{1,15}={1,2})*)"
    ),
)
_SK = Rule("openai-key", ("sk-",), rf"{_LEFT}sk-(?P<body>[A-Za-z0-9]{{20,}}){_RIGHT}", _mixed)
_TELEGRAM = Rule(
    "telegram-token",
    (":",),
    rf"{_LEFT}(?:bot)?[0-9]{{6,12}}:(?P<body>[\w-]{{35}})(?![\w-])",
    _mixed_case,
)

_WORD_RULES = (*(_from_table(line) for line in _TABLE.strip().splitlines()), _SK, _TELEGRAM)


def mask_shapes(text: str, lower: str) -> str:
    """Return `text` with every known shape masked; `lower` is the text in lower case."""
    if _PEM.is_hinted(lower):
        text = _PEM.apply(text)
    words = " ".join(word for word in text.split() if len(word) >= _SHORTEST)
    if not words:
        return text
    lower = words.lower()
    for rule in _WORD_RULES:
        if rule.is_hinted(lower) and rule.apply(words) != words:
            text = rule.apply(text)
    return text
