"""Runs inside the sandbox: `ctx`, all that a neuron has of the world; the host answers each call of it."""

import io

__all__ = ["NeuronContext"]

_MODES = ("", "b", "t", "+", "b+", "t+", "+b", "+t")
_BUFFER_BYTES = 1 << 16


class NeuronContext:
    """The world of one run."""

    def __init__(self, channel):
        """Take the way to the host."""
        self._channel = channel
        self._handles = []

    def open(self, path, mode="r"):
        """Return a file, as the built-in function does, in UTF-8 if it is text.

        What is written is kept in memory and reaches the host when the file is closed; at the end of `run` each file
        that is open still is closed. A `with` block that ends with an error leaves the file as it was.
        """
        path, kind, more = str(path), mode[:1], mode[1:]
        if kind not in ("r", "w", "a", "x") or more not in _MODES:
            raise ValueError(f"invalid mode: {mode!r}")
        reads, writes = kind == "r" or "+" in more, kind != "r" or "+" in more
        memory = self._memory(path, kind, writes=writes)
        memory.reads, memory.writes = reads, writes
        handle = _buffered(memory)
        if "b" not in more:
            handle = _Text(handle, encoding="utf-8")
        if writes:
            self._handles.append((handle, memory))
        return handle

    async def call(self, name, /, **args):
        """Return what a tool or a neuron answers."""
        return self._channel.ask("call", name=name, args=args)

    async def fetch(self, url):
        """Return the text at a URL."""
        return self._channel.ask("fetch", url=str(url))

    async def llm(self, prompt):
        """Return a model's answer."""
        return self._channel.ask("llm", prompt=str(prompt))

    def log(self, text):
        """Note a line for whoever looks at the run."""
        self._channel.ask("log", text=_sayable(text))

    def now(self):
        """Return the time, aware, in UTC."""
        from datetime import datetime

        return datetime.fromisoformat(self._channel.ask("now"))

    def random(self):
        """Return a number in [0, 1)."""
        return self._channel.ask("random")

    def _memory(self, path, kind, *, writes):
        """Return what a file holds, once it is clear that it may be opened."""
        if not writes:
            return _Memory(self._channel.ask("read", path=path))

        def commit(content):
            self._channel.ask("write", content, path=path)

        self._channel.ask("stage", path=path)
        if kind == "w":
            return _Memory(b"", commit, is_changed=True)
        if kind == "r":
            return _Memory(self._channel.ask("read", path=path), commit)
        try:
            content = self._channel.ask("read", path=path)
        except FileNotFoundError:
            return _Memory(b"", commit, is_changed=True, appends=kind == "a")
        if kind == "x":
            raise FileExistsError(f"{path} exists")
        return _Memory(content, commit, appends=True)


def close_all(ctx):
    """Close each file that is open still, in the order in which they were opened."""
    for handle, _ in ctx._handles:
        handle.close()


def drop_all(ctx):
    """Let nothing that is not closed reach the host any more."""
    for _, memory in ctx._handles:
        memory.drop()


def _sayable(text):
    return str(text).encode("utf-8", "replace").decode()


class _Memory(io.RawIOBase):
    """What a file holds."""

    reads = writes = False

    def __init__(self, content, commit=None, *, is_changed=False, appends=False):
        self._content = io.BytesIO(content)
        self._commit = commit
        self._is_changed = is_changed
        self._appends = appends
        if appends:
            self._content.seek(0, 2)

    def readable(self):
        return self.reads

    def writable(self):
        return self.writes

    def seekable(self):
        return True

    def readinto(self, buffer):
        return self._content.readinto(buffer)

    def readall(self):
        return self._content.read()

    def write(self, data):
        self._is_changed = True
        if self._appends:
            self._content.seek(0, 2)
        return self._content.write(data)

    def seek(self, offset, whence=0):
        return self._content.seek(offset, whence)

    def tell(self):
        return self._content.tell()

    def truncate(self, size=None):
        self._is_changed = True
        return self._content.truncate(size)

    def drop(self):
        """Forget what was written."""
        self._commit = None

    def close(self):
        """Send what was written, once."""
        if self.closed:
            return
        super().close()
        content = self._content.getvalue()
        self._content.close()
        if self._commit is not None and self._is_changed:
            self._commit(content)


class _DroppedOnError:
    """A file that is left as it was where the block of `with` ends with an error."""

    def __exit__(self, kind, error, trace):
        if kind is not None:
            getattr(self, "buffer", self).raw.drop()
        self.close()


class _Reader(_DroppedOnError, io.BufferedReader):
    pass


class _Writer(_DroppedOnError, io.BufferedWriter):
    pass


class _Both(_DroppedOnError, io.BufferedRandom):
    pass


class _Text(_DroppedOnError, io.TextIOWrapper):
    pass


def _buffered(memory):
    kind = _Both if memory.reads and memory.writes else _Reader if memory.reads else _Writer
    return kind(memory, _BUFFER_BYTES)
