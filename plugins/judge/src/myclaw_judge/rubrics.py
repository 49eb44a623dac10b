"""The texts that a model is asked with: versioned files of this package."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from myclaw_core.errors import UnavailableError
from myclaw_core.messages import N_

__all__ = ["QUESTIONS", "VERSION", "rubric"]

VERSION = "constitution@1"
"""First line of each file; a measurement holds for it, so whoever changes a word of a rubric counts it up."""

QUESTIONS: Mapping[str, str] = MappingProxyType(
    {"law.0": "law0", "law.1": "law1", "law.2": "law2", "purpose": "purpose"}
)
"""The file with the question about each law, and about the honesty of the purpose."""


@cache
def rubric(name: str) -> str:
    """Return the text of a rubric without its first line.

    Raises:
        UnavailableError: The file is not of this version.
    """
    text = files("myclaw_judge").joinpath("texts", f"{name}.txt").read_text(encoding="utf-8")
    version, _, rest = text.partition("\n")
    if version != VERSION:
        raise UnavailableError(
            N_(
                "the rubric {name} is {found}, not {wanted}; install the plugin judge again",
                name=name,
                found=version[:40],
                wanted=VERSION,
            )
        )
    return rest.strip()
