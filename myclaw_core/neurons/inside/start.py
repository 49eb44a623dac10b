"""Runs inside the sandbox, as `__main__`: gives the files beside it their names in the repository, then runs one."""

from __future__ import annotations

import os
import sys

__all__ = ["main"]

_FOLDER = "/n"
_PACKAGES = ("myclaw_core", "myclaw_core.neurons", "myclaw_core.neurons.inside")


def main() -> None:
    """Run the birth tests if what runs them was handed in, else the body."""
    for name in _PACKAGES:
        package = sys.modules[name] = type(sys)(name)
        package.__path__ = [_FOLDER]
    if os.path.exists(f"{_FOLDER}/testing.py"):  # noqa: PTH110 - pathlib is slow to import
        from myclaw_core.neurons.inside import testing as work
    else:
        from myclaw_core.neurons.inside import runner as work  # type: ignore[no-redef]
    work.main()


if __name__ == "__main__":
    main()
