"""Where everything on disk lies; all of it below one home."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from attrs import frozen

__all__ = ["Home"]


@frozen
class Home:
    """The folders and files of one installation.

    Attributes:
        root: `MYCLAW_HOME`, or `~/.local/share/myclaw`.
        config_file: `config.toml` in the home when `MYCLAW_HOME` is set, else in `~/.config/myclaw`.
    """

    root: Path
    config_file: Path

    @classmethod
    def find(cls, environ: Mapping[str, str] | None = None) -> Home:
        """Return the home that the environment names; nothing is created.

        Raises:
            UsageError: It would be another one in each folder.
        """
        env = os.environ if environ is None else environ
        chosen = env.get("MYCLAW_HOME")
        if chosen:
            if not chosen.startswith(("/", "~")):
                from myclaw_core.errors import UsageError
                from myclaw_core.messages import N_

                raise UsageError(N_("MYCLAW_HOME is {home}; it must be an absolute path", home=repr(chosen)))
            return cls.at(Path(chosen))
        return cls(Path.home() / ".local/share/myclaw", Path.home() / ".config/myclaw/config.toml")

    @classmethod
    def at(cls, root: Path) -> Home:
        """Return the home whose files all lie below `root`."""
        absolute = Path.cwd() / root.expanduser()
        return cls(absolute, absolute / "config.toml")

    @property
    def workspace(self) -> Path:
        """Return the agent's own root."""
        return self.root / "workspace"

    @property
    def neurons(self) -> Path:
        """Return the folder of neurons; a change in it is a change of the system itself."""
        return self.workspace / "neurons"

    @property
    def state(self) -> Path:
        """Return the folder of databases, keys and undo blobs; never reachable by a tool."""
        return self.workspace / "state"

    @property
    def audit(self) -> Path:
        """Return the folder of exported audit files; never reachable by a tool."""
        return self.workspace / ".audit"

    @property
    def keys(self) -> Path:
        """Return the folder of keys, mode 0700."""
        return self.state / "keys"

    @property
    def undo(self) -> Path:
        """Return the content-addressed store of what was there before."""
        return self.state / "undo"

    @property
    def outputs(self) -> Path:
        """Return where tool output that was cut is kept whole."""
        return self.state / "outputs"

    @property
    def neuron_archive(self) -> Path:
        """Return where removed neurons and journals that were set aside are kept; never reachable by a tool."""
        return self.state / "neurons"

    def create(self) -> None:
        """Make the folders that are missing; state and keys are for the owner only.

        Raises:
            UnavailableError: A folder cannot be made.
        """
        from myclaw_core.errors import UnavailableError
        from myclaw_core.messages import N_

        for folder, mode in (
            (self.root, 0o700),
            (self.workspace, 0o700),
            (self.neurons, 0o700),
            (self.state, 0o700),
            (self.audit, 0o700),
            (self.keys, 0o700),
            (self.undo, 0o700),
            (self.outputs, 0o700),
        ):
            try:
                folder.mkdir(mode=mode, parents=True, exist_ok=True)
            except OSError as error:
                text = N_(
                    "cannot make {folder}: {reason}; set MYCLAW_HOME to a folder you can write to",
                    folder=str(folder),
                    reason=str(error.strerror),
                )
                raise UnavailableError(text) from error
