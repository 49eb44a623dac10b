"""Runs inside the sandbox: files of the host as `open` would give them; what is written is sent at the end of each."""

from __future__ import annotations

import io

TYPE_CHECKING = False  # that of `typing`, which is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import IO, Any

    from myclaw_core.neurons.inside.channel import Channel

__all__ = ["Files"]

_MODES = ("", "b", "t", "+", "b+", "t+", "+b", "+t")
_BUFFER_BYTES = 1 << 16


class Files:
    """The files that one run has opened."""

    def __init__(self, channel: Channel) -> None:
        """Take the way to the host."""
        self._channel = channel
        self._written: list[tuple[IO[Any], _Memory]] = []

    def open(self, path: str, mode: str) -> IO[Any]:
        """Return a file.

        Raises:
            ValueError: There is no such mode.
            OSError: It cannot be opened, or may not.
        """
        kind, more = mode[:1], mode[1:]
        if kind not in ("r", "w", "a", "x") or more not in _MODES:
            raise ValueError(f"invalid mode: {mode!r}")
        memory = self._held(path, kind, reads=kind == "r" or "+" in more, writes=kind != "r" or "+" in more)
        buffered = _buffered(memory)
        handle: Any = buffered if "b" in more else _Text(buffered, encoding="utf-8")
        if memory.writes:
            self._written.append((handle, memory))
        opened: IO[Any] = handle
        return opened

    def close(self) -> None:
        """Close every file that is open still, in the order in which they were opened."""
        for handle, _ in self._written:
            handle.close()

    def drop(self) -> None:
        """Let nothing more be sent."""
        for _, memory in self._written:
            memory.commit = None

    def _held(self, path: str, kind: str, *, reads: bool, writes: bool) -> _Memory:
        """Return what a file holds, once it is clear that it may be opened."""
        if writes:
            self._channel.ask("stage", path=path)
        content, is_new = self._content(path, kind)
        if kind == "x" and not is_new:
            raise FileExistsError(f"{path} exists")
        memory = _Memory(content, reads=reads, writes=writes, appends=kind == "a")
        if writes:
            memory.is_changed = is_new
            memory.commit = lambda changed: self._channel.ask("write", changed, path=path)
        return memory

    def _content(self, path: str, kind: str) -> tuple[bytes, bool]:
        """Return what is in a file to begin with, and whether it begins anew."""
        if kind == "w":
            return b"", True
        try:
            return self._channel.ask("read", path=path), False
        except FileNotFoundError:
            if kind == "r":
                raise
            return b"", True


class _Memory(io.RawIOBase):
    """What a file holds, and where that goes when it is closed."""

    def __init__(self, content: bytes, *, reads: bool, writes: bool, appends: bool) -> None:
        self.writes = writes
        self.is_changed = False
        self.commit: Callable[[bytes], None] | None = None
        self._reads = reads
        self._appends = appends
        self._content = io.BytesIO(content)
        if appends:
            self._content.seek(0, io.SEEK_END)

    def readable(self) -> bool:
        return self._reads

    def writable(self) -> bool:
        return self.writes

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._content.readinto(buffer)

    def readall(self) -> bytes:
        return self._content.read()

    def write(self, data: Any) -> int:
        self.is_changed = True
        if self._appends:
            self._content.seek(0, io.SEEK_END)
        return self._content.write(data)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._content.seek(offset, whence)

    def tell(self) -> int:
        return self._content.tell()

    def truncate(self, size: int | None = None) -> int:
        self.is_changed = True
        wanted = self._content.tell() if size is None else size
        lacking = wanted - len(self._content.getbuffer())
        if lacking > 0:
            at = self._content.tell()
            self._content.seek(0, io.SEEK_END)
            self._content.write(bytes(lacking))
            self._content.seek(at)
        return self._content.truncate(wanted)

    def close(self) -> None:
        if self.closed:
            return
        super().close()
        content = self._content.getvalue()
        self._content.close()
        if self.commit is not None and self.is_changed:
            self.commit(content)


class _AsItWas:
    """A file that is left as it was where the block of `with` ends with an error."""

    def __exit__(self, kind: Any, _error: Any, _trace: Any) -> None:
        file: Any = self
        if kind is not None:
            getattr(file, "buffer", file).raw.commit = None
        file.close()


class _Read(_AsItWas, io.BufferedReader):
    pass


class _Written(_AsItWas, io.BufferedWriter):
    pass


class _Both(_AsItWas, io.BufferedRandom):
    pass


class _Text(_AsItWas, io.TextIOWrapper):
    pass


def _buffered(memory: _Memory) -> Any:
    kind: Any = _Read if not memory.writes else _Both if memory.readable() else _Written
    return kind(memory, _BUFFER_BYTES)
