"""Secrets are masked in every form they come in; what only looks like one is left alone."""

from __future__ import annotations

import base64
import hashlib
import json
from re import _parser as sre_parser  # type: ignore[attr-defined]
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from myclaw_core import codec
from myclaw_core.events.types import UndoApplied
from myclaw_core.messages import N_
from myclaw_core.redact import contains_mask, contains_secret, redact_text, redact_value, shapes

# Made by concatenation, so that no scanner takes this file for a leak.
HEX = hashlib.sha256(b"myclaw").hexdigest()
MIXED = base64.b64encode(hashlib.sha512(b"myclaw").digest()).decode().translate({ord(c): "x" for c in "+/="})
LETTERS = "".join(c for c in MIXED if c.isalpha())
JWT = "eyJ" + "hbGciOiJIUzI1NiJ9" + "." + "eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0" + "." + MIXED[:43]
PEM_BODY = "\n".join(MIXED[i : i + 32] for i in range(0, 64, 32)) + "\nAbC4=="
PEM = "-----BEGIN " + "RSA PRIVATE KEY-----\n" + PEM_BODY + "\n-----END " + "RSA PRIVATE KEY-----"
TELEGRAM = "123456789:" + "AAE" + MIXED[:32]
GITHUB = "ghp" + "_" + MIXED[:36]

UUID_TEXT = "3f2b8c1e-9d4a-4e7b-8a6f-0c1d2e3f4a5b"

SECRETS = {
    "anthropic key": ("sk-" + "ant-api03-" + MIXED[:40] + "-AA", None),
    "openai project key": ("sk-" + "proj-" + MIXED[:40], None),
    "openai classic key": ("sk-" + MIXED[:20] + "T3" + "BlbkFJ" + MIXED[:20], None),
    "openrouter key": ("sk-" + "or-v1-" + HEX, None),
    "aws access key id": ("AKIA" + "IOSFODNN7" + "ABCDEFG", None),
    "aws session key id": ("ASIA" + "Y34FZKBOK" + "MUTVV7A", None),
    "google api key": ("AIza" + "Sy" + MIXED[:33], None),
    "google oauth token": ("ya29." + "a0" + MIXED[:50], None),
    "google client secret": ("GOCSPX" + "-" + MIXED[:28], None),
    "azure client secret": ("abc" + "8Q~" + MIXED[:34], None),
    "github token": (GITHUB, None),
    "github fine-grained token": ("github_" + "pat_" + MIXED[:22] + "_" + MIXED[:59], None),
    "gitlab token": ("glpat" + "-" + MIXED[:20], None),
    "slack bot token": ("xoxb" + "-123456789012-123456789012-" + MIXED[:24], None),
    "slack app token": ("xapp" + "-1-A0123456789-1234567890123-" + HEX, None),
    "stripe live key": ("sk_" + "live_" + MIXED[:24], None),
    "stripe restricted key": ("rk_" + "live_" + MIXED[:24], None),
    "stripe webhook secret": ("whsec" + "_" + MIXED[:32], None),
    "npm token": ("npm" + "_" + MIXED[:36], None),
    "pypi token": ("pypi-" + "AgEIcHlwaS5vcmc" + MIXED[:60], None),
    "hugging face token": ("hf" + "_" + LETTERS[:34], None),
    "telegram bot token": (TELEGRAM, None),
    "telegram token in a URL": ("https://api.telegram.org/bot" + TELEGRAM + "/getMe", TELEGRAM),
    "discord bot token": ("MTk4" + MIXED[:20] + ".Cl2FMQ." + MIXED[:27], None),
    "sendgrid key": ("SG." + MIXED[:22] + "." + MIXED[:43], None),
    "mailgun key": ("key" + "-" + HEX[:32], None),
    "digitalocean token": ("dop_" + "v1_" + HEX, None),
    "shopify token": ("shpat" + "_" + HEX[:32], None),
    "vault token": ("hvs." + MIXED[:24], None),
    "databricks token": ("dapi" + HEX[:32], None),
    "docker token": ("dckr_" + "pat_" + MIXED[:27], None),
    "groq key": ("gsk" + "_" + MIXED[:52], None),
    "linear key": ("lin_" + "api_" + MIXED[:40], None),
    "notion token": ("ntn" + "_" + MIXED[:46], None),
    "supabase key": ("sbp" + "_" + HEX[:40], None),
    "age key": ("AGE-SECRET" + "-KEY-1" + "Q" * 58, None),
    "json web token": (JWT, None),
    "private key block": (PEM, PEM_BODY.splitlines()[0]),
    "private key on one line": (json.dumps({"k": PEM}), MIXED[:32]),
    "private key that was cut": (PEM.rpartition("\n-----END")[0], PEM_BODY.splitlines()[1]),
    "password in a URL": ("postgres://app:" + "s3cr3t" + "@db.local:5432/app", "s3cr3t"),
    "password with an @ in a URL": ("amqp://app:" + "p@ss" + "@mq.local/v", "p@ss"),
    "password without a user in a URL": ("redis://:" + "hunter2" + "@localhost:6379/0", "hunter2"),
    "token as user in a URL": ("https://" + MIXED[:40] + "@github.com/o/r.git", MIXED[:40]),
    "signature in a URL": ("https://x.blob.core.windows.net/c?sv=2022&sig=" + MIXED[:44] + "%3D", MIXED[:44]),
    "signed aws URL": ("https://b.s3.amazonaws.com/k?X-Amz-Signature=" + HEX + "&x=1", HEX),
    "access token in a fragment": ("https://app.local/#access_token=" + MIXED[:30] + "&state=1", MIXED[:30]),
    "bearer header": ("Authorization: Bearer " + "abcdef.ghijkl", "abcdef.ghijkl"),
    "basic header": ("authorization: Basic " + base64.b64encode(b"me:hunter2").decode(), "bWU6aHVudGVyMg"),
    "token header": ("curl -H 'Authorization: token " + HEX[:40] + "' https://x", HEX[:40]),
    "digest header": ('Authorization: Digest username="me", response="' + HEX[:32] + '"', HEX[:32]),
    "aws header": ("Authorization: AWS4-HMAC-SHA256 Credential=x/y, Signature=" + HEX, HEX),
    "header in JSON": ('{"Authorization": "Bearer ' + MIXED[:20] + '"}', MIXED[:20]),
    "bearer alone": ("sent Bearer " + MIXED[:24] + " to the server", MIXED[:24]),
    "api key header": ("X-Api-Key: " + HEX[:32], HEX[:32]),
    "gitlab header": ("PRIVATE-TOKEN: " + MIXED[:20], MIXED[:20]),
    "cookie header": ("Cookie: sid=" + MIXED[:20] + "; theme=dark", MIXED[:20]),
    "set-cookie header": ("Set-Cookie: session=" + "abc123; Path=/; HttpOnly", "abc123"),
    "password assignment": ("password=" + "hunter2", "hunter2"),
    "password of letters": ("DB_PASSWORD=" + "letmein", "letmein"),
    "password in YAML": ("  password: " + "correcthorse", "correcthorse"),
    "password with symbols": ("password: " + "Tr0ub4dor&3", "Tr0ub4dor&3"),
    "password in quotes": ('"password": "' + "correct horse battery staple" + '"', "correct horse"),
    "password in escaped JSON": ('{\\"password\\": \\"' + "hunter2" + '\\"}', "hunter2"),
    "password in code": ("password = '" + "hunter2" + "'", "hunter2"),
    "password in a typed declaration": ('password: str = "' + "hunter2" + '"', "hunter2"),
    "password in a connection string": ("Server=x;User Id=sa;Password=" + "p4ssw0rd;Encrypt=True", "p4ssw0rd"),
    "azure account key": ("AccountName=a;AccountKey=" + MIXED[:80] + "==;EndpointSuffix=core", MIXED[:80]),
    "aws secret key": ("aws_secret_access_key = " + MIXED[:40], MIXED[:40]),
    "client secret": ("client_secret=" + "abcd1234efgh&grant_type=x", "abcd1234efgh"),
    "api key in code": ('api_key: "' + HEX[:32] + '"', HEX[:32]),
    "token in an ini file": ("token = " + MIXED[:20], MIXED[:20]),
    "npmrc": ("//registry.local/:_authToken=" + MIXED[:24], MIXED[:24]),
    "flag": ("deploy --password " + "hunter2" + " --force", "hunter2"),
    "flag with an equals sign": ("deploy --api-key=" + HEX[:32], HEX[:32]),
    "curl user": ("curl -u admin:" + "hunter2 https://x", "hunter2"),
    "sshpass": ("sshpass -p " + "hunter2 ssh host", "hunter2"),
    "mysql": ("mysql -u root -p" + "hunter2 db", "hunter2"),
    "netrc": ("machine h login me password " + "hunter2", "hunter2"),
    "pgpass": ("db.local:5432:app:me:" + "hunter2", "hunter2"),
    "prose": ("my password is " + "hunter2", "hunter2"),
    "Italian prose": ("la password è " + "hunter2", "hunter2"),
    "password in XML": ("<db><password>" + "hunter2</password></db>", "hunter2"),
    "password in an XML attribute": ('<add key="Password" value="' + 'hunter2"/>', "hunter2"),
    "number as password in JSON": ('{"password": ' + "12345678}", "12345678"),
    "wifi key": ('psk="' + 'correcthorse"', "correcthorse"),
    "docker auth": ('{"auths": {"x": {"auth": "' + base64.b64encode(b"me:hunter2").decode() + '"}}}', "bWU6aHV"),
    "environment of a command": ("PGPASSWORD=" + "hunter2 psql -h db", "hunter2"),
    "docker environment": ("docker run -e MYSQL_ROOT_PASSWORD=" + "letmein mysql", "letmein"),
    "rails secret": ("SECRET_KEY_BASE=" + HEX * 2, HEX),
    "kubernetes secret": ("  password: " + base64.b64encode(b"hunter2!").decode(), "aHVudGVyMi"),
    "aws configure": ("aws configure set aws_secret_access_key " + MIXED[:40], MIXED[:40]),
    "ruby symbol": (":password => '" + "hunter2'", "hunter2"),
    "query parameter": ("GET /x?api_key=" + "abc123&y=1", "abc123"),
    "curl cookie": ("curl --cookie 'sid=" + "abc123' https://x", "abc123"),
    "identifier as password in a URL": ("https://me:" + UUID_TEXT + "@host/x", UUID_TEXT),
    "number as api key": ("api-key=" + "12345678901234567890", "12345678901234567890"),
    "key without a separator": ("apikey " + HEX[:24], HEX[:24]),
    "short json web token": ("jwt=" + "eyJ" + "hbGciOiJIUzI1NiJ9.e30." + MIXED[:20], MIXED[:20]),
    "redis": ("redis-cli -h db -a " + "hunter2 ping", "hunter2"),
    "private path by a detour": ("/home/rosa/notes/../private/tax.pdf", "tax"),
    "private path": ("see ~/private/diary.txt now", "diary"),
    "private path in quotes": ('open "~/private/my diary.txt"', "my diary"),
    "private path with an escaped blank": ("cat ~/private/my\\ diary.txt", "diary"),
    "private path of a user": ("/home/rosa/private/tax/2025.pdf", "tax"),
    "private path on a Mac": ("/Users/rosa/private/tax.pdf", "tax"),
    "private path by variable": ("ls $HOME/private/tax", "tax"),
    "private path as URL": ("file:///home/rosa/private/tax.pdf", "tax"),
    "private path with odd slashes": ("~/./private//tax.pdf", "tax"),
    "private effect class": ("fs_read:~/private/*", "private/"),
}

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + hashlib.sha512(b"png").digest() * 4).decode()

LOOK_ALIKES = [
    HEX,
    HEX[:40],
    HEX[:32],
    f"sha256:{HEX}",
    f"commit {HEX[:40]}",
    f"integrity sha512-{MIXED}==",
    UUID_TEXT,
    f"trace_id={UUID_TEXT}",
    f"args_digest: {HEX}",
    f"data:image/png;base64,{PNG}",
    PNG,
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + MIXED[:43] + " me@home",
    "-----BEGIN " + "PUBLIC KEY-----\n" + PEM_BODY + "\n-----END " + "PUBLIC KEY-----",
    "-----BEGIN " + "CERTIFICATE-----\n" + PEM_BODY + "\n-----END " + "CERTIFICATE-----",
    "A key file starts with -----BEGIN " + "PRIVATE KEY----- and ends with -----END " + "PRIVATE KEY-----.",
    "2026-01-05T09:00:00.000000Z",
    "192.168.1.10:8080",
    "aa:bb:cc:dd:ee:ff",
    "max_tokens: 4096",
    "max_tokens=4096",
    "tokens: 1234",
    "token: 512",
    "total_tokens=123456",
    "cost_tokens",
    "token_type=bearer",
    "the token is valid",
    "token: string",
    "The token: a short text that proves who you are",
    "eos_token = '<|endoftext|>'",
    "next_page_token=" + MIXED[:20],
    "password: required",
    "password: ********",
    "password=",
    "password=<password>",
    "Password: must have 8-16 characters",
    "your password is wrong",
    "password = get_password()",
    "password = getpass.getpass('Password: ')",
    "self.password = password",
    "login(user=user, password=password)",
    "if password == expected:",
    "password: str",
    "password: str | None = None",
    "password_file=/run/secrets/db",
    "password_hash_rounds=12",
    "PASSWORD=${PASSWORD}",
    'PASSWORD="$DB_PASSWORD"',
    "token = os.environ['API_TOKEN']",
    "const token = await fetchToken();",
    "api_key=YOUR_API_KEY",
    "api_key: your-api-key-here",
    "API_KEY=${API_KEY}",
    "secret_name: database",
    "The secret: butter and patience",
    "public_key=" + MIXED[:40],
    "primary_key=id",
    "key: value",
    "keyboard=it",
    "monkey=banana12345",
    "Authorization: required",
    "the Authorization header",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    "the bearer of this letter",
    "Basic understanding of networks",
    "cookie: chocolate chip",
    "We use cookies; see the cookie policy.",
    "https://example.com:8443/path?x=1",
    "https://me@example.com/path",
    "ssh://git@github.com/o/r.git",
    "git@github.com:o/r.git",
    "http://localhost:8080?email=a@b.example",
    "https://example.com/?page=2&key=name",
    "mailto:me@example.com",
    "postgres://localhost:5432/app",
    "sk-learn",
    "sk-container-id-1",
    "sk-toggleable__content-label-arrow",
    "ghp_ is the prefix of GitHub tokens",
    "hf_hub_download",
    "npm_config_registry",
    "pk_" + "live_" + MIXED[:24],
    "AKIA is a prefix",
    "eyJhbGciOiJIUzI1NiJ9",
    "10:30:45",
    "1234567890:short",
    "~/privateer/ship.txt",
    "~/private",
    "/private/var/folders/x",
    "/srv/private/report.txt",
    "/home/rosa/notes/private/a.txt",
    "~/notes/private/a.txt",
    "docs/private/notes.md",
    "/home/rosa/private-notes/a.txt",
    "fs_write:~/notes/*",
    "telegram:42",
    "arn:aws:secretsmanager:eu-south-1:123456789012:secret:backup-a1b2c3",
    '"encryptionKey": "arn:aws:kms:eu-south-1:123456789012:key/' + UUID_TEXT + '"',
    "if token is Comment.Preproc:",
    'Wait for the "Password:" prompt and then answer',
    "the --username and --password options",
    "def sign(private_key: SSHCertPrivateKeyTypes) -> bytes:",
    '"input_token": "ExclusiveStartTableName"',
    "<password></password>",
    "PIN: 4 digits",
    f"version https://git-lfs.github.com/spec/v1 oid sha256:{HEX}",
    f"etag: W/{HEX[:32]}",
    "La password deve avere almeno 8 caratteri.",
    "Il token scade domani.",
]


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_masked(name: str) -> None:
    text, secret = SECRETS[name]

    masked = redact_text(text)

    assert (secret or text) not in masked
    assert contains_mask(masked)
    assert contains_secret(text)
    assert not contains_secret(masked)


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_masked_inside_a_sentence_and_inside_json(name: str) -> None:
    text, secret = SECRETS[name]

    assert (secret or text) not in redact_text(f"Log says:\n{text}\nand goes on")
    assert json.dumps(secret or text)[1:-1] not in json.dumps(redact_value({"text": ["x", text]}))


@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert redact_text(text) == text
    assert redact_value({"text": text}) == {"text": text}
    assert not contains_secret(text)


def test_a_mask_names_what_it_hides_and_keeps_what_stands_around_it() -> None:
    assert redact_text(f"use {GITHUB}, please") == "use «redacted:github-token», please"
    assert redact_text("https://me:" + "hunter2@host/x") == "https://me:«redacted:url-password»@host/x"
    assert redact_text("Authorization: Bearer " + MIXED[:20]) == "Authorization: Bearer «redacted:authorization»"
    assert redact_text('{"password": "' + 'hunter2", "a": 1}') == '{"password": "«redacted:credential»", "a": 1}'


def test_a_masked_text_is_still_json() -> None:
    document = {"env": {"API_TOKEN": MIXED[:30], "n": 1}, "header": f"Authorization: Bearer {JWT}", "pem": PEM}

    masked = json.loads(redact_text(json.dumps(document)))

    assert masked.keys() == document.keys()
    assert not contains_secret(json.dumps(masked))


def test_values_of_variables_named_like_secrets_are_masked_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BACKUP_API_TOKEN", "Zebra/42 stripes")
    monkeypatch.setenv("BACKUP_FOLDER", "/srv/backup/zebra")

    assert redact_text("x Zebra/42 stripes y") == "x «redacted:env» y"
    assert redact_text("?q=Zebra%2F42%20stripes") == "?q=«redacted:env»"
    assert redact_text("/srv/backup/zebra") == "/srv/backup/zebra"
    assert redact_value({"Zebra/42 stripes": ["Zebra/42 stripes"]}) == {"«redacted:env»": ["«redacted:env»"]}


def test_the_environment_is_read_at_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAMP_PASSWORD", "first-value")
    assert contains_secret("first-value")

    monkeypatch.setenv("LAMP_PASSWORD", "other-value")

    assert not contains_secret("first-value")
    assert contains_secret("other-value")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LAMP_PASSWORD", "short"),
        ("KEYBOARD", "italian-layout"),
        ("PWD", "/home/rosa/notes"),
        ("SSH_AUTH_SOCK", "/run/user/1000/agent"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/home/rosa/key.json"),
        ("API_KEY_FILE", "/run/secrets/api"),
        ("MONKEY", "banana-tree"),
    ],
)
def test_short_values_and_names_that_only_sound_secret_do_not_count(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)

    assert redact_text(f"see {value} there") == f"see {value} there"


def test_the_own_home_folder_counts_wherever_it_lies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/data/people/rosa")

    assert redact_text("in /data/people/rosa/private/a.txt it says") == "in «redacted:private-path» it says"
    assert redact_text("/data/people/rosa/notes/a.txt") == "/data/people/rosa/notes/a.txt"


def test_a_value_that_is_a_private_path_is_masked_whole() -> None:
    assert redact_value({"path": "~/private/my diary.txt"}) == {"path": "«redacted:private-path»"}


def test_only_text_changes_in_a_value() -> None:
    value = {
        "id": UUID_TEXT,
        "at": "2026-01-05T09:00:00.000000Z",
        "digest": HEX,
        "n": [1, 2.5, True, None],
        "password": 12345678,
        "deep": [{"token": GITHUB, "tokens": "123"}],
    }

    assert redact_value(value) == value | {"deep": [{"token": "«redacted:credential»", "tokens": "123"}]}


def test_texts_under_names_of_secrets_are_masked_whole() -> None:
    value = {
        "password": "hunter" + "2",
        "apiKey": "abcd" + "1234",
        "Authorization": "Bearer " + "abcdefgh",
        "cookie": "sid=" + "abc",
        "env": [{"name": "DB_PASSWORD", "value": "let" + "mein"}, {"name": "LANG", "value": "it_IT.UTF-8"}],
        "password_hint": "blue",
        "client_secret": "${CLIENT_SECRET}",
    }

    masked = redact_value(value)

    assert masked["env"] == [{"name": "DB_PASSWORD", "value": "«redacted:credential»"}, value["env"][1]]
    assert [key for key in value if masked[key] == value[key]] == ["password_hint", "client_secret"]


def test_keys_that_become_the_same_mask_lose_nothing() -> None:
    value = {GITHUB: 1, "ghp" + "_" + MIXED[1:37]: 2}

    masked = redact_value(value)

    assert masked == {"«redacted:github-token»": 1, "«redacted:github-token» 2": 2}
    assert redact_value(masked) == masked


def test_a_mask_keeps_its_kind_under_a_secret_name() -> None:
    assert redact_value({"password": "«redacted:jwt»"}) == {"password": "«redacted:jwt»"}


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "eyJ",
        "://a:",
        "-----BEGIN " + "PRIVATE KEY-----\n" + "A" * 30,
        'password="',
        "--token ",
        "/home/x",
        "«",
        "\n",
    ],
)
def test_a_long_text_without_an_end_in_sight_is_read_in_reasonable_time(piece: str) -> None:
    """A pattern that backtracks without bounds would never come back from these."""
    text = piece * (100_000 // len(piece))

    assert not contains_secret(redact_text(text))


def test_a_mask_is_recognised() -> None:
    assert contains_mask("x «redacted:jwt» y")
    assert contains_mask(json.dumps("x «redacted:jwt» y"))
    assert not contains_mask("«redacted»")
    assert not contains_mask("the word redacted")


FRAGMENTS = (
    [text for text, _ in SECRETS.values()] + LOOK_ALIKES + ["«redacted:jwt»", "«", "»", "password", "=", ": ", "://"]
)
TEXTS = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=12), max_size=8).flatmap(
    lambda parts: st.sampled_from(["", " ", "\n", '"', "=", "/"]).map(lambda glue: glue.join(parts))
)


@given(TEXTS)
def test_masking_twice_is_masking_once(text: str) -> None:
    masked = redact_text(text)

    assert redact_text(masked) == masked


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(JSON_VALUES)
def test_masking_a_value_twice_is_masking_it_once_and_keeps_its_form(value: object) -> None:
    masked = redact_value(value)

    assert redact_value(masked) == masked
    assert _form(masked) == _form(value)


def _form(value: object) -> object:
    if isinstance(value, dict):
        return [_form(item) for item in value.values()]
    if isinstance(value, list):
        return [_form(item) for item in value]
    return "text" if isinstance(value, str) else value


def test_no_known_shape_is_short_or_holds_a_blank() -> None:
    """Texts without long words are not searched for them."""
    for rule in shapes._WORD_RULES:
        parsed = sre_parser.parse(rule.pattern)

        assert parsed.getwidth()[0] >= shapes._SHORTEST
        assert not any(part in rule.pattern for part in (" ", r"\s", "[^"))


def test_a_secret_is_masked_in_the_values_of_a_stored_message_however_deep_it_lies() -> None:
    """A message inside a message inside an event; the sentences stay, so that they can be translated."""
    reason = N_("{path}: {problem}", path="/home/ada/private/a.md", problem=N_("bad key {key}", key=GITHUB))
    undo = UndoApplied(
        trace_id=UUID(UUID_TEXT),
        original_trace_id=UUID(UUID_TEXT),
        step_index=0,
        undo_id=UUID(UUID_TEXT),
        reverted=False,
        within_window=True,
        details=(N_("not restored: {reason}", reason=reason),),
    )

    written = codec.dumps_event(undo)

    assert GITHUB.encode() not in written
    (detail,) = codec.loads_event(written, "event").details  # type: ignore[attr-defined]
    masked = N_(
        "{path}: {problem}", path="«redacted:private-path»", problem=N_("bad key {key}", key="«redacted:github-token»")
    )
    assert detail == N_("not restored: {reason}", reason=masked)
