"""Runs inside the sandbox, as `__main__`: executes a neuron's body once and tells the host what came of it."""

import sys

__all__ = ["main"]

_FOLDER = "/n"
_BODY = "/n/body.py"
_LONGEST_MESSAGE = 2_000


def main():
    """Take the arguments, run, and give the output or what was raised; a lack of memory is for whoever started it."""
    _make_importable()
    from myclaw_core.neurons.inside.channel import Channel, UndeclaredSynapseError
    from myclaw_core.neurons.inside.context import NeuronContext, close_all, drop_all

    _module("myclaw")
    _module("myclaw.runtime", NeuronContext=NeuronContext, UndeclaredSynapseError=UndeclaredSynapseError)
    channel = Channel()
    ctx = NeuronContext(channel)
    args = channel.receive()["args"]
    try:
        done = {"do": "done", "output": _result(_body().run(ctx, args))}
        from myclaw_core.neurons.inside.channel import encoded

        frame = encoded(done)
        close_all(ctx)
    except MemoryError:
        drop_all(ctx)
        raise
    except BaseException as error:
        drop_all(ctx)
        channel.send({"do": "raised", **_told(error)})
    else:
        channel.send_bytes(frame)


def _make_importable():
    """Let the files beside this one be found by the names that they have in the repository."""
    parts = "myclaw_core.neurons.inside".split(".")
    for end in range(1, len(parts) + 1):
        _module(".".join(parts[:end]), __path__=[_FOLDER])


def _module(name, **names):
    module = sys.modules[name] = type(sys)(name)
    module.__dict__.update(names)
    return module


def _body():
    module = _module("body", __file__=_BODY)
    with open(_BODY, "rb") as file:
        code = compile(file.read(), _BODY, "exec")
    exec(code, module.__dict__)
    return module


def _result(given):
    """Return what a function has given, or what comes of it if that is to be awaited; all it awaits is `ctx`."""
    if not hasattr(given, "__await__"):
        return given
    try:
        next(given.__await__())
    except StopIteration as end:
        return end.value
    raise RuntimeError("only what ctx gives can be awaited")


def _told(error):
    """Return an error for the host: its type, what it says, and the line of the body that it came from."""
    line = getattr(error, "lineno", None) if isinstance(error, SyntaxError) else None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == _BODY:
            line = trace.tb_lineno
        trace = trace.tb_next
    try:
        message = str(error)
    except Exception:
        message = ""
    sayable = message[:_LONGEST_MESSAGE].encode("utf-8", "replace").decode()
    return {"type": type(error).__name__, "message": sayable, "line": line if isinstance(line, int) else 0}


if __name__ == "__main__":
    main()
