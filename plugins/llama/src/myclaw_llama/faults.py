"""The one line for each way in which a call to a model on this machine can fail."""

from __future__ import annotations

import signal
from pathlib import Path

from attrs import evolve

from myclaw_core.messages import N_
from myclaw_core.native.child import ChildEndedError
from myclaw_core.native.frames import Frame
from myclaw_core.runtime.callsite import short_line
from myclaw_core.runtime.model import ModelError

__all__ = ["NO_LIBRARY", "ended", "paused", "refused", "too_slow", "tools_refused"]

NO_LIBRARY = N_(
    "the model provider 'llama' needs the package llama-cpp-python: install it with"
    " 'CMAKE_ARGS=\"-DGGML_NATIVE=OFF\" uv pip install llama-cpp-python', which builds it,"
    " or use a local server through the provider 'openai'"
)
_REFUSALS = {
    "schema": N_("the schema of the answer cannot be held to by {model} ({detail}); simplify it"),
    "template": N_("the chat template of {model} does not take this conversation ({detail}); use another model"),
    "vocabulary": N_("{model} cannot be asked for yes or no ({detail}); use another model"),
}


def refused(answer: Frame, path: Path, context_tokens: int) -> ModelError:
    """Return the line for an `error` frame."""
    kind, detail = str(answer.get("error")), short_line(str(answer.get("detail", "")))
    if kind == "library":
        line = N_("llama-cpp-python cannot be loaded ({detail}); install it again", detail=detail)
        return ModelError(line, "unreachable")
    if kind == "model":
        line = N_("the model file {path} cannot be loaded ({detail}); use another one", path=str(path), detail=detail)
        return ModelError(line, "unreachable")
    if kind == "too_long":
        line = N_(
            "the prompt of {n} tokens does not fit into {most}; raise context_tokens in [llama]",
            n=detail,
            most=context_tokens,
        )
        return ModelError(line, "request")
    if kind in _REFUSALS:
        return ModelError(evolve(_REFUSALS[kind], params={"model": path.name, "detail": detail}), "request")
    return ModelError(
        N_("the model {model} failed ({detail}); ask again", model=path.name, detail=detail), "connection"
    )


def ended(error: ChildEndedError, path: Path) -> ModelError:
    """Return the line for a process that ended in the middle of a call."""
    how = _how(error.code)
    places = {"model": path.name, "how": how, "said": short_line(error.said)}
    if error.code == -signal.SIGILL:
        line = N_(
            "the process of the model {model} ended ({how}): llama-cpp-python was built for another processor;"
            ' build it again with CMAKE_ARGS="-DGGML_NATIVE=OFF"',
            **places,
        )
    elif error.code == -signal.SIGKILL:
        line = N_(
            "the process of the model {model} was ended ({how}), as the kernel does where memory ends;"
            " use a smaller model or lower context_tokens in [llama]",
            **places,
        )
    elif error.said:
        line = N_("the process of the model {model} ended ({how}: {said}); it is started again", **places)
    else:
        line = N_("the process of the model {model} ended ({how}); it is started again", **places)
    return ModelError(line, "connection")


def paused(path: Path, ends: int, left_s: float) -> ModelError:
    """Return the line for a process that is left alone for a while."""
    line = N_(
        "the process of the model {model} ended {n} times in a row; it is started again in {seconds} s at the earliest",
        model=path.name,
        n=ends,
        seconds=f"{left_s:.0f}",
    )
    return ModelError(line, "unreachable")


def too_slow(path: Path, limit_s: float, *, loading: bool) -> ModelError:
    """Return the line for a call that took too long and was ended."""
    if loading:
        line = N_(
            "the model {model} was not loaded within {seconds} s; use a smaller one",
            model=path.name,
            seconds=f"{limit_s:g}",
        )
    else:
        line = N_(
            "the model {model} did not answer within {seconds} s; raise timeout_s in [llama] or use a smaller one",
            model=path.name,
            seconds=f"{limit_s:g}",
        )
    return ModelError(line, "timeout")


def tools_refused() -> ModelError:
    """Return the line for a call that offers tools."""
    line = N_(
        "the model provider 'llama' calls no tools; name it in [agent] local,"
        " and for conversations use a local server through the provider 'openai'"
    )
    return ModelError(line, "request")


def _how(code: int) -> str:
    """Return how a process ended, as its code says it."""
    if code >= 0:
        return f"exit {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
