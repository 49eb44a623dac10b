"""Turns messages into the tokens a model was trained on; nothing in a message can pass for the frame around it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

__all__ = ["Piece", "Template", "TemplateError"]

Piece = tuple[str, bool]
"""A part of a prompt, and whether it is the template's: only there do the names of control tokens mean anything."""
_PLACE = re.compile("\ue000([0-9]+)\ue001")
_KEY = "tokenizer.chat_template"


class TemplateError(Exception):
    """Raised when the template of a model takes no such messages."""


class Template:
    """The chat template of one model; without one the messages follow each other as plain text.

    Args:
        metadata: That of the model's file.
        bos: Text of the token that begins a prompt; empty where there is none.
        eos: Text of the token that ends an answer.
    """

    def __init__(self, metadata: Mapping[str, str], *, bos: str, eos: str) -> None:
        self._format: Any = None
        if source := metadata.get(_KEY):
            from llama_cpp.llama_chat_format import Jinja2ChatFormatter

            self._format = Jinja2ChatFormatter(template=source, bos_token=bos, eos_token=eos)

    def pieces(self, messages: Sequence[Mapping[str, str]]) -> Sequence[Piece]:
        """Return the prompt in pieces, up to where the answer begins.

        Raises:
            TemplateError: The template refuses the messages, or leaves some of them out.
        """
        if self._format is None:
            return [*_plain(messages)]
        try:
            return self._filled(messages)
        except TemplateError:
            if messages[0]["role"] != "system" or len(messages) < 2:  # noqa: PLR2004 - one to fold it into
                raise
            return self._filled(_folded(messages))

    def _filled(self, messages: Sequence[Mapping[str, str]]) -> Sequence[Piece]:
        """Let the template place marks, and put the messages where they stand."""
        marked = [{"role": each["role"], "content": f"\ue000{n}\ue001"} for n, each in enumerate(messages)]
        try:
            text = self._format(messages=marked).prompt
        except Exception as error:  # a template is a program of whoever made the model
            raise TemplateError(str(error)) from error
        parts = _PLACE.split(text)
        placed = [int(number) for number in parts[1::2]]
        if placed != [*range(len(messages))]:
            raise TemplateError("it leaves messages out or repeats them")
        return [
            (messages[int(part)]["content"], False) if index % 2 else (part, True) for index, part in enumerate(parts)
        ]


def _folded(messages: Sequence[Mapping[str, str]]) -> Sequence[Mapping[str, str]]:
    """Return the messages for a template without a role for the system: its text begins the first one."""
    system, first, *rest = messages
    return [{"role": first["role"], "content": f"{system['content']}\n\n{first['content']}"}, *rest]


def _plain(messages: Sequence[Mapping[str, str]]) -> Iterator[Piece]:
    for message in messages:
        yield f"{message['role']}: ", True
        yield message["content"], False
        yield "\n\n", True
    yield "assistant:", True
