"""The Python that runs code in the sandbox, and the folders of this machine that it cannot do without."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from attrs import frozen

__all__ = ["Interpreter"]

_SYSTEM = "/usr"
_SHARED = ("/usr", "/usr/local")
"""Prefixes that hold much besides Python."""
_LOADER_FOLDERS = ("lib64", "lib32")


@frozen(kw_only=True)
class Interpreter:
    """One Python.

    Attributes:
        program: Real path of the program.
        prefix: Real path of its installation; bound at its own path, since elsewhere it would load another libpython.
        stdlib: Real path of its library.
        multiarch: Name of the system's folder for libraries of this processor; may be empty.
    """

    program: str
    prefix: str
    stdlib: str
    multiarch: str

    @classmethod
    def here(cls) -> Interpreter:
        """Return the one that runs this."""
        return cls(
            program=os.path.realpath(sys.executable),
            prefix=os.path.realpath(sys.base_prefix),
            stdlib=os.path.realpath(sysconfig.get_path("stdlib")),
            multiarch=sysconfig.get_config_var("MULTIARCH") or "",
        )

    def options(self) -> Iterator[str]:
        """Yield the options of bubblewrap that show it and the system's libraries, read-only, and nothing else."""
        for name in ("lib", *_LOADER_FOLDERS):
            if Path("/", name).is_symlink():
                yield from ("--symlink", f"usr/{name}", f"/{name}")
        for place in dict.fromkeys(self._places()):
            if Path(place).exists():
                yield from ("--ro-bind", os.path.realpath(place), place)
        if self.prefix != _SYSTEM:
            yield from ("--setenv", "LD_LIBRARY_PATH", f"{self.prefix}/lib")

    def _places(self) -> Iterator[str]:
        for top in ("/usr", ""):
            if top or not Path("/lib").is_symlink():
                if self.multiarch:
                    yield f"{top}/lib/{self.multiarch}"
                yield f"{top}/lib/ld-linux-aarch64.so.1"
            yield from (f"{top}/{name}" for name in _LOADER_FOLDERS if top or not Path("/", name).is_symlink())
        if self.prefix not in _SHARED:
            yield self.prefix
            return
        yield from (self.program, self.stdlib)
        yield from map(str, sorted(Path(self.prefix, "lib").glob("libpython3*.so*")))
