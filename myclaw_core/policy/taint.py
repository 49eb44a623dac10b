"""What the user named: a target that stands literally in the part of the message they typed themselves."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from myclaw_core.files.resolve import display_path, is_beneath
from myclaw_core.policy.addresses import mail_address
from myclaw_core.policy.hosts import literal_host
from myclaw_core.types.effect import Effect

__all__ = ["is_named", "names_host", "typed_part"]

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})", re.MULTILINE)
_QUOTED_TO_END = re.compile(
    r"^[ \t>]*(?:"
    r"-{2,}[ ]*(?:forwarded message|original message|messaggio inoltrato|messaggio originale)[ ]*-*"
    r"|begin forwarded message:|inizio messaggio inoltrato:"
    r"|(?:on|il)\b[^\n]{4,200}\b(?:wrote|ha scritto):"
    r"|(?:from|da):[^\n]+\n[ \t]*(?:sent|date|to|subject|inviato|data|a|oggetto):"
    r")",
    re.IGNORECASE | re.MULTILINE,
)
_BLOCKQUOTE = re.compile(r"<(blockquote|quote)\b[^>]*>.*?(?:</\1\s*>|\Z)", re.IGNORECASE | re.DOTALL)
_OPENING = "\"'`«“”‘’([{<,;="
_CLOSING = "\"'`»“”‘’)]}>,;:!?"
_QUOTES = "\"'`«»“”‘’"
_FILE_LIKE = re.compile(r"\.(?:cc|md|mk|ml|mov|pl|ps|py|rs|sh|so|zip)$", re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+){1,2}(?::[0-9]+)?")
_ADDRESSED = frozenset({"network_out", "network_in"})


def typed_part(text: str) -> str:
    """Return `text` without fenced code, quoted lines, and forwarded or quoted messages.

    Where it is unclear where a quotation ends, the rest of the text counts as quoted.
    """
    kept = _BLOCKQUOTE.sub("\n", _without_fences(text))
    start = _QUOTED_TO_END.search(kept)
    if start is not None:
        kept = kept[: start.start()]
    return "\n".join(line for line in kept.split("\n") if not line.lstrip().startswith(">"))


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
        if way == "mail" and _names_address(recipient, typed_text):
            return True
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
    """Return whether `typed_text` holds a mail address, its domain in whatever spelling."""
    for token in typed_text.split():
        word = token.strip(_QUOTES + "()[]{}<>,;:!?.").removeprefix("mailto:")
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
    kept = []
    position = 0
    while (opening := _FENCE.search(text, position)) is not None:
        kept.append(text[position : opening.start()])
        mark = opening.group(1)
        closing = re.compile(rf"^[ \t]*{re.escape(mark[0])}{{{len(mark)},}}[ \t]*$", re.MULTILINE)
        end = closing.search(text, opening.end())
        if end is None:
            return "".join(kept)
        position = end.end()
    kept.append(text[position:])
    return "".join(kept)
