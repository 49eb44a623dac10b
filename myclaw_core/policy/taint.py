"""What the user named: a target that stands literally in the part of the message they typed themselves."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import dropwhile

from myclaw_core.files.resolve import display_path, is_beneath
from myclaw_core.files.visible import is_invisible
from myclaw_core.policy.addresses import mail_address
from myclaw_core.policy.hosts import literal_host
from myclaw_core.types.effect import Effect

__all__ = ["is_named", "names_host", "typed_part"]

_BREAKS = r"\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
"""Whatever some program shows as the end of a line."""
_LINE = rf"(?<![^{_BREAKS}])[ \t>*_]*"
_REST = rf"[^{_BREAKS}]"
_FENCE = re.compile(rf"(?<![^{_BREAKS}])[ \t]*(`{{3,}}|~{{3,}})")
_QUOTED_TO_END = re.compile(
    rf"{_LINE}(?:"
    r"-{2,}[ ]*(?:forwarded message|original message|messaggio inoltrato|messaggio originale"
    r"|weitergeleitete nachricht|ursprüngliche nachricht|message transféré|message d'origine"
    r"|mensaje reenviado|mensaje original)[ ]*-*"
    r"|begin forwarded message:|inizio messaggio inoltrato:"
    rf"|(?:on|il|am|le|el)\b{_REST}{{4,200}}(?:[{_BREAKS}]{{1,2}}{_REST}{{0,200}})?"
    rf"\b(?:wrote|ha scritto|schrieb|a écrit|escribió)\b{_REST}{{0,200}}:"
    rf"|(?:from|da|von|de)[ ]?:{_REST}+[{_BREAKS}]+{_LINE}"
    r"(?:sent|date|to|subject|inviato|data|a|oggetto|gesendet|datum|an|betreff|envoyé|à|objet|enviado|fecha|para|asunto)"
    r"[ ]?:"
    r")",
    re.IGNORECASE,
)
_QUOTE_TAG = re.compile(r"<(?:block)?quote\b", re.IGNORECASE)
_QUOTE_END = re.compile(r"</(?:block)?quote\s*>", re.IGNORECASE)
_QUOTE_MARKS = (">", "＞", "›", "»", "&gt;", "|", "│", "┃")
_OPENING = "\"'`«“”‘’([{<,;="
_CLOSING = "\"'`»“”‘’)]}>,;:!?"
_QUOTES = "\"'`«»“”‘’"
_FILE_LIKE = re.compile(r"\.(?:cc|md|mk|ml|mov|pl|ps|py|rs|sh|so|zip)$", re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+){1,2}(?::[0-9]+)?")
_ADDRESSED = frozenset({"network_out", "network_in"})


def typed_part(text: str) -> str:
    """Return `text` without fenced code, quoted lines, and forwarded or quoted messages.

    Where it is unclear where a quotation ends, the rest of the text counts as quoted. What is quoted may hold the marks
    of an end itself, so that all between the first of them and the last does.
    """
    kept = _without_tags(_without_fences(text))
    start = _QUOTED_TO_END.search(kept)
    if start is not None:
        kept = kept[: start.start()]
    return "\n".join(map(_without_quotation, kept.split("\n")))


def is_named(effect: Effect, typed_text: str, cwd: str, *, given: str = "", user_home: str | None = None) -> bool:
    """Return whether the target of `effect` stands literally, as a whole token, in `typed_text`.

    A bare word (only letters and digits) counts only in quotation marks: every sentence holds bare words.

    Args:
        typed_text: What `typed_part` left of the user's message of this turn.
        cwd: Absolute folder against which relative paths are read.
        given: The target as the call spelled it; counts for a path only where no link led elsewhere.
        user_home: The folder that `~` stands for; the process's own where `None`.
    """
    if not typed_text or not effect.target:
        return False
    if effect.kind in _ADDRESSED:
        return names_host(effect.scope, typed_text)
    if effect.target.startswith("/"):
        if effect.target[effect.target.rfind("/") + 1 :] not in typed_text:
            return False
        return any(_stands_in(form, typed_text) for form in _path_forms(effect.target, cwd, user_home, given))
    names = {effect.target}
    if effect.kind == "outbound_message":
        way, _, recipient = effect.target.partition(":")
        if way == "mail":
            return _names_address(recipient, typed_text)
        names.add(recipient)
    return any(_stands_in(name, typed_text) for name in names)


def names_host(host: str, typed_text: str) -> bool:
    """Return whether `typed_text` holds `host` (a scope, with `:port` if it is not the default) or a URL on it.

    A bare word that could as well be a file's name (`notes.md`) or a number (`3.14`) names no host.
    """
    for token in typed_text.split():
        word = token.strip(_QUOTES + "()[]{}<>,;:!?.")
        if "://" not in word and ("." not in word or _FILE_LIKE.search(word) or _NUMBER.fullmatch(word)):
            continue
        try:
            if literal_host(word) == host:
                return True
        except ValueError:
            continue
    return False


def _names_address(address: str, typed_text: str) -> bool:
    """Return whether `typed_text` holds a mail address as a word of its own, its domain in whatever spelling.

    `o'anna@example.org` does not name `anna@example.org`: nearly every sign may be a part of an address.
    """
    for token in re.split(r"[\s,;]+", typed_text):
        word = re.sub("['’]s$", "", token.strip(_QUOTES + "()[]{}<>:!?.")).removeprefix("mailto:")
        try:
            if "@" in word and mail_address(word) == address:
                return True
        except ValueError:
            continue
    return False


def _path_forms(target: str, cwd: str, user_home: str | None, given: str) -> Iterator[str]:
    yield target
    shown = display_path(target, user_home)
    yield shown
    # A real path beneath `cwd` as it is written says that `cwd` is real too, without a look at each folder above it.
    folder = (cwd.rstrip("/") or "/") if is_beneath(target, cwd) else os.path.realpath(cwd)
    if is_beneath(target, folder) and target != folder:
        relative = target[len(folder.rstrip("/")) + 1 :]
        yield relative
        yield "./" + relative
    lexical = given if given.startswith(("/", "~/")) else f"{folder}/{given}"
    if given and os.path.normpath(lexical) in (target, shown):
        yield given


def _stands_in(form: str, text: str) -> bool:
    form = form.rstrip("/")
    if not any(char.isalnum() for char in form):
        return False
    bare = form.isalnum()
    at = text.find(form)
    while at >= 0:
        before = text[at - 1] if at else ""
        after = text[at + len(form) :]
        if bare:
            if before and before in _QUOTES and after[:1] and after[0] in _QUOTES:
                return True
        elif _opens(before) and _closes(after):
            return True
        at = text.find(form, at + 1)
    return False


def _opens(before: str) -> bool:
    return not before or before.isspace() or before in _OPENING


def _closes(after: str) -> bool:
    rest = after.removeprefix("/")
    return not rest or rest[0].isspace() or rest[0] in _CLOSING or (rest[0] == "." and _ends(rest[1:]))


def _ends(rest: str) -> bool:
    return not rest or rest[0].isspace() or rest[0] in _CLOSING or rest[0] == "."


def _without_fences(text: str) -> str:
    """Return `text` without all from the first fence to the last one, or to the end where that is not closed."""
    first, position = None, 0
    while (opening := _FENCE.search(text, position)) is not None:
        first = opening if first is None else first
        mark = opening.group(1)
        closing = re.compile(rf"^[ \t]*{re.escape(mark[0])}{{{len(mark)},}}[ \t\r]*$", re.MULTILINE)
        end = closing.search(text, opening.end())
        if end is None:
            return text[: first.start()]
        position = end.end()
    return text if first is None else text[: first.start()] + text[position:]


def _without_tags(text: str) -> str:
    """Do the same for quotations between tags."""
    opening = _QUOTE_TAG.search(text)
    if opening is None:
        return text
    ends = [end.end() for end in _QUOTE_END.finditer(text, opening.end())]
    rest = text[ends[-1] :] if ends else ""
    again = _QUOTE_TAG.search(rest)
    return text[: opening.start()] + "\n" + rest[: again.start() if again else None]


def _without_quotation(line: str) -> str:
    """Return a line up to where a quotation begins in it, for a program that shows other signs as line breaks, too."""
    kept = []
    for part in re.split(f"([{_BREAKS}])", line):
        if "".join(dropwhile(_is_blank, part)).startswith(_QUOTE_MARKS):
            break
        kept.append(part)
    return "".join(kept)


def _is_blank(char: str) -> bool:
    return char.isspace() or is_invisible(char)
