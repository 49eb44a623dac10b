"""Keeps a tool from leaving the configuration file in a state in which nothing starts any more."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from attrs import frozen

from myclaw_core.config.load import read_config
from myclaw_core.config.schema import ConfigSchema
from myclaw_core.config.sections import Config
from myclaw_core.config.source import SIZE_LIMIT_BYTES, parse_source
from myclaw_core.errors import ConfigError, ToolFailure
from myclaw_core.files.steps import PathStep, resolve_plan
from myclaw_core.messages import N_
from myclaw_core.runtime.tool import PlannedChange
from myclaw_core.types.effect import Autonomy

__all__ = ["ConfigGuard"]


@frozen(kw_only=True)
class ConfigGuard:
    """Looks at every plan that puts something where the configuration is.

    Attributes:
        file: The configuration file.
        schemas: Sections of the plugins that are on.
        idle: Names of plugins that are installed but not on.
    """

    file: Path
    schemas: Sequence[ConfigSchema]
    idle: Collection[str]

    def check(self, plan: Iterable[PlannedChange], cwd: str) -> Autonomy | None:
        """Refuse a plan after which the configuration would not load.

        Returns:
            The level that would be configured after it, or `None` where it leaves the configuration alone.

        Raises:
            ToolFailure: It would not; the line names the first problem.
            PathRefusedError: A path cannot be used.
        """
        changes = tuple(plan)
        if not changes:
            return None
        real, level = os.path.realpath(self.file), None
        for step in resolve_plan(changes, cwd):
            if step.path == real:
                level = self._level_of(step) if step.action in ("write", "move") else Config().agent.level
        return level

    def _level_of(self, step: PathStep) -> Autonomy:
        try:
            text = _bytes_of(step).decode("utf-8-sig")
            return read_config(parse_source(self.file, text), self.schemas, self.idle).agent.level
        except UnicodeDecodeError:
            problem = N_("{path} would be no text any more; it was left as it is", path=str(self.file))
            raise ToolFailure(problem) from None
        except ConfigError as error:
            problem = N_(
                "the configuration would not load any more: {problem}; it was left as it is", problem=error.problems[0]
            )
            raise ToolFailure(problem) from error


def _bytes_of(step: PathStep) -> bytes:
    if step.action == "write":
        return step.content
    source = Path(step.source)
    if not source.is_file() or source.stat().st_size > SIZE_LIMIT_BYTES:
        raise ToolFailure(N_("{path} is no configuration file; the configuration was left as it is", path=step.source))
    return source.read_bytes()
