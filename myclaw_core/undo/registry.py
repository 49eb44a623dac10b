"""Every way to take a step back, found by the name in its record; a fault of one loses nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any

from attrs import frozen

from myclaw_core.clock import Clock
from myclaw_core.errors import ToolFailure
from myclaw_core.messages import N_
from myclaw_core.runtime.received import guarded_briefly, received_error
from myclaw_core.runtime.storable import storable_line
from myclaw_core.types.text import Text, as_text
from myclaw_core.undo.handler import PATHS, SNAPSHOT, UndoHandler
from myclaw_core.undo.journal import UndoJournal
from myclaw_core.undo.revert import Reverted
from myclaw_core.undo.types import UndoRecord

__all__ = ["UndoRegistry"]

_LIMIT_S = 60.0


@frozen(kw_only=True)
class UndoRegistry:
    """Takes steps back.

    Attributes:
        journal: Takes back changes of files.
        handlers: What takes back the rest, by name.
        clock: Limits how long one of these may take.
    """

    journal: UndoJournal
    handlers: Mapping[str, UndoHandler]
    clock: Clock

    @staticmethod
    def of(
        journal: UndoJournal, clock: Clock, *, core: Iterable[UndoHandler], offered: Mapping[str, UndoHandler]
    ) -> UndoRegistry:
        """Return the registry of the core's handlers and of those that plugins offer; a name of the core's stays so."""
        handlers = {**offered, **{handler.name: handler for handler in core}}
        return UndoRegistry(journal=journal, handlers=handlers, clock=clock)

    def require(self, handler: str) -> None:
        """Check that records of a handler can be taken back.

        Raises:
            ToolFailure: Nothing here knows how.
        """
        if handler not in self.handlers:
            raise ToolFailure(N_("nothing here knows how to undo it ({handler})", handler=handler))

    async def revert(self, record: UndoRecord, *, force: bool = False) -> Reverted:
        """Take a step back; see `UndoJournal.revert`. A handler that fails leaves it not undone, with one line."""
        if record.reverted_at is not None:
            return Reverted(reverted=True, details=(N_("it was undone before"),))
        if record.handler in (PATHS, SNAPSHOT):
            return await asyncio.to_thread(self.journal.revert, record, force=force)
        handler = self.handlers.get(record.handler)
        if handler is None:
            text = N_(
                "nothing here knows how to undo it ({handler}); switch on the plugin that did it and undo again",
                handler=record.handler,
            )
            return Reverted(reverted=False, details=(text,))
        return await self._by(handler, record, force=force)

    async def _by(self, handler: UndoHandler, record: UndoRecord, *, force: bool) -> Reverted:
        who = N_("the undo of {handler}", handler=record.handler)
        try:
            async with self.clock.timeout(_LIMIT_S):
                return _received(await guarded_briefly(who, _reverted(handler, record, force=force)))
        except TimeoutError:
            problem = N_("{who} took longer than {seconds} s; undo again", who=who, seconds=f"{_LIMIT_S:g}")
        except Exception as error:
            problem = N_("{who} failed: {reason}", who=who, reason=received_error(error))
        return Reverted(reverted=False, details=(problem,))


async def _reverted(handler: UndoHandler, record: UndoRecord, *, force: bool) -> Any:
    """Return what a handler answers; what it does to the record is not what is stored."""
    return await handler.revert(deepcopy(record), force=force)


def _received(answer: Any) -> Reverted:
    """Return an answer in a form that the record can hold.

    Raises:
        TypeError: It is none.
    """
    if not (isinstance(answer, Reverted) and isinstance(answer.reverted, bool)):
        raise TypeError(f"it answered {type(answer).__name__} instead of Reverted")
    return Reverted(reverted=answer.reverted, details=tuple(map(_line, answer.details)))


def _line(detail: Text | str) -> Text:
    return storable_line(as_text(detail))
