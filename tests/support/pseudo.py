"""A language in which each message of the core is the English one in quotes; what stands without is no message."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from catalogues import domains, template

from myclaw_core.messages import add_catalogues, use_language

__all__ = ["quoted"]


@contextmanager
def quoted(folder: Path) -> Iterator[None]:
    """Speak that language in the body; its catalogue is written below `folder`."""
    path = folder / "it" / "LC_MESSAGES" / "myclaw_core.mo"
    path.parent.mkdir(parents=True)
    path.write_bytes(_catalogue())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("myclaw_core.messages._folders", {})
        add_catalogues("myclaw_core", folder)
        use_language("it")
        yield
    use_language("en")


@cache
def _catalogue() -> bytes:
    core, *_ = domains()
    made = Catalog(locale="it")
    made.mime_headers = [("Plural-Forms", "nplurals=2; plural=(n != 1);")]
    for message in template(core):
        if message.id:
            ids = message.id if isinstance(message.id, tuple) else (message.id,)
            strings = tuple(f"‹{one}›" for one in ids)
            made.add(message.id, strings if isinstance(message.id, tuple) else strings[0])
    out = io.BytesIO()
    write_mo(out, made)
    return out.getvalue()
