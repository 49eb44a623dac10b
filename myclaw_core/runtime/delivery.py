"""`/file`: hands a file of this machine to the person, by the rules by which a tool may read it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

from attrs import frozen

from myclaw_core.errors import EffectChangedError, UsageError
from myclaw_core.files.handles import open_regular, place_of
from myclaw_core.files.resolve import ResolvedPath, display_path, resolve_path
from myclaw_core.files.visible import visible
from myclaw_core.messages import N_, _
from myclaw_core.policy.reach import root_of, why_not_covered
from myclaw_core.runtime.channel import Channel
from myclaw_core.runtime.services import Services
from myclaw_core.runtime.traces import new_trace
from myclaw_core.runtime.types import Turn
from myclaw_core.shown.markup import code
from myclaw_core.types.text import Text

__all__ = ["DeliveryCommand"]


@frozen
class DeliveryCommand:
    """The command of one session.

    Attributes:
        channel: Where files go.
        new_turn: Makes the turn as which a delivery is recorded, from the words that were typed.
    """

    services: Services
    channel: Channel
    new_turn: Callable[[str], Awaitable[Turn]]

    async def file(self, rest: str) -> str:
        """Deliver one file.

        Raises:
            UsageError: No path was given, or the file may not be read or could not be delivered.
        """
        if not rest:
            raise UsageError(N_("give the file: /file PATH"))
        turn = await self.new_turn(f"/file {rest}")
        place = self._place(rest, turn)
        try:
            opened = await asyncio.to_thread(_open, place.real)
        except (OSError, EffectChangedError) as error:
            reason = error.text if isinstance(error, EffectChangedError) else error.strerror or ""
            raise UsageError(
                N_("{path} cannot be read: {reason}", path=display_path(place.real), reason=reason)
            ) from error
        try:
            problem = await self._delivered(turn, opened, place)
        finally:
            os.close(opened)
        if problem is not None:
            raise UsageError(N_("not delivered: {reason}", reason=problem))
        return _("delivered: {path}", path=code(display_path(place.real)))

    async def _delivered(self, turn: Turn, opened: int, place: ResolvedPath) -> Text | None:
        """Hand over an opened file, on record; return why that failed, or `None`."""
        recorder = self.services.recorder(new_trace(turn, self.services.plugins, self.services.config.digest))
        async with recorder.during(turn):
            # By its handle: what is delivered is what was looked at, whatever is put in its place meanwhile.
            problem = await self.channel.file(Path(f"/proc/self/fd/{opened}"), visible(Path(place.real).name))
            recorder.trace.outcome = "success" if problem is None else "failed"
        return problem

    def _place(self, given: str, turn: Turn) -> ResolvedPath:
        """Return the file that a path names.

        Raises:
            UsageError: It may not be read here.
            PathRefusedError: It is no path.
        """
        place = resolve_path(given, turn.cwd)
        shown = display_path(place.real)
        root = root_of(place.real, turn.roots)
        if root is None:
            raise UsageError(N_("{path} is outside the folders you opened", path=shown))
        if self.services.forbidden(place.real):
            raise UsageError(N_("{path} may not be touched", path=shown))
        if place.kind == "absent":
            raise UsageError(N_("there is no {path}", path=shown))
        if place.kind != "file":
            raise UsageError(N_("{path} is no regular file", path=shown))
        if "/." in place.real[len(root.rstrip("/")) :]:
            raise UsageError(N_("{path} has a hidden name; hidden files are not delivered", path=shown))
        if (reason := why_not_covered(place, root, changes=False)) is not None:
            raise UsageError(reason)
        return place


def _open(real: str) -> int:
    with place_of(real) as place:
        opened = open_regular(place)
    if os.fstat(opened).st_nlink > 1:
        os.close(opened)
        raise EffectChangedError(N_("it has another name elsewhere (hard link)"))
    return opened
