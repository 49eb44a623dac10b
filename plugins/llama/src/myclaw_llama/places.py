"""Finds the file of a model: by its path, or inside an installed package, of which nothing is run."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from myclaw_core.messages import N_
from myclaw_core.runtime.model import ModelError
from myclaw_core.types.text import Text

__all__ = ["model_file"]

_MAGIC = b"GGUF"
_SUFFIX = ".gguf"


def model_file(model: str) -> Path:
    """Return the file that a model's name stands for: a path, or a package that carries one GGUF file.

    Raises:
        ModelError: There is none; the line says what to do.
    """
    path = Path(model).expanduser() if _is_path(model) else _packaged(model)
    if not path.is_absolute():
        raise _lacking(N_("write the whole path of the model {model}, from / or ~ on", model=model))
    try:
        with path.open("rb") as file:
            magic = file.read(len(_MAGIC))
    except OSError as error:
        raise _lacking(
            N_(
                "the model file {path} cannot be read: {reason}; see 'myclaw models list'",
                path=str(path),
                reason=error.strerror or "",
            )
        ) from error
    if magic != _MAGIC:
        raise _lacking(N_("{path} is no GGUF file; give a model in that format", path=str(path)))
    return path


def _is_path(model: str) -> bool:
    return "/" in model or model.endswith(_SUFFIX)


def _packaged(package: str) -> Path:
    # Of a dotted name the outer package would be run.
    spec = find_spec(package) if package.isidentifier() and package != "__main__" else None
    if spec is None:
        raise _lacking(N_("{model} is neither a path ending in .gguf nor an installed package", model=package))
    folders = [Path(folder) for folder in spec.submodule_search_locations or ()]
    found = sorted(path for folder in folders for path in folder.rglob(f"*{_SUFFIX}"))
    if not found:
        raise _lacking(N_("the package {package} carries no GGUF file", package=package))
    if len(found) > 1:
        raise _lacking(
            N_("the package {package} carries {n} GGUF files; give the path of one", package=package, n=len(found))
        )
    return found[0]


def _lacking(line: Text) -> ModelError:
    return ModelError(line, "unreachable")
