"""One GET over a connection to a checked address; nothing is looked up, stored or sent along."""

from __future__ import annotations

import os
import ssl
import zlib
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING

from attrs import frozen

from myclaw_core.errors import ToolFailure
from myclaw_core.messages import N_
from myclaw_core.types.text import Text

if TYPE_CHECKING:
    import httpx2

__all__ = ["Answer", "Wire", "connected"]

_CONNECT_S = 10.0
_MAX_ADDRESSES = 4
_GZIP_BITS = 16 + zlib.MAX_WBITS


@frozen(kw_only=True)
class Answer:
    """The head of a response whose body has not been read yet."""

    response: httpx2.Response
    address: str

    @property
    def status(self) -> int:
        """Return the status code."""
        return self.response.status_code

    @property
    def content_type(self) -> str:
        """Return the header as it came; empty where there is none."""
        return self.response.headers.get("content-type", "")

    async def read(self, max_bytes: int) -> tuple[bytes, bool]:
        """Return the decompressed body, at most `max_bytes` of it, and whether there was more.

        It never holds more than `max_bytes`, however well the body was compressed.
        """
        decompress = self._decompress()
        body = bytearray()
        taken = 0
        async for raw in self.response.aiter_raw():
            taken += len(raw)
            room = max_bytes + 1 - len(body)
            body += decompress(raw, room)
            if max(len(body), taken) > max_bytes:
                return bytes(body[:max_bytes]), True
        return bytes(body), False

    def _decompress(self) -> Callable[[bytes, int], bytes]:
        """Return what undoes the one compression that was offered, giving at most as many bytes as it is told."""
        coding = self.response.headers.get("content-encoding", "").strip().lower()
        if coding in {"", "identity"}:
            return lambda raw, room: raw[:room]
        if coding not in {"gzip", "x-gzip"}:
            raise ToolFailure(N_("the page came in a compression that was not offered; it was not read"))
        return zlib.decompressobj(_GZIP_BITS).decompress


class Wire:
    """Sends GET requests; made by `connected`."""

    def __init__(self, transport: httpx2.AsyncHTTPTransport) -> None:
        self._transport = transport

    @asynccontextmanager
    async def get(self, url: httpx2.URL, host: str, addresses: Sequence[str]) -> AsyncIterator[Answer]:
        """Request `url` and give its answer; the connection is closed at the end.

        Args:
            url: Where to; its host names the server in the request and in TLS, but is not looked up.
            host: That host in ASCII.
            addresses: The checked addresses; they are tried in order.

        Raises:
            ToolFailure: No answer came; the text says why in one line.
        """
        with _network_errors(host):
            answer = await self._first(url, host, addresses[:_MAX_ADDRESSES])
            try:
                yield answer
            finally:
                await answer.response.aclose()

    async def _first(self, url: httpx2.URL, host: str, addresses: Sequence[str]) -> Answer:
        import httpx2

        *others, last = addresses
        for address in others:
            try:
                return await self._send(url, host, address)
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                continue
        return await self._send(url, host, last)

    async def _send(self, url: httpx2.URL, host: str, address: str) -> Answer:
        import httpx2

        request = httpx2.Request(
            "GET",
            url.copy_with(host=address, fragment=None),
            headers={
                "Host": url.netloc.decode("ascii"),
                "User-Agent": f"myclaw/{version('myclaw-web')}",
                "Accept": "text/html, text/plain, application/json, application/xml;q=0.9, */*;q=0.5",
                "Accept-Encoding": "gzip",
            },
            # The time of a whole call is the core's; only an address that never answers is given up here.
            extensions={"sni_hostname": host, "timeout": {"connect": _CONNECT_S}},
        )
        return Answer(response=await self._transport.handle_async_request(request), address=address)


@asynccontextmanager
async def connected() -> AsyncIterator[Wire]:
    """Give a wire without a proxy, cookies or anything else from the environment."""
    import httpx2

    # A kept connection belongs to an address; the next name there must prove its own certificate.
    limits = httpx2.Limits(max_keepalive_connections=0)
    async with httpx2.AsyncHTTPTransport(trust_env=False, limits=limits) as transport:
        yield Wire(transport)


@contextmanager
def _network_errors(host: str) -> Iterator[None]:
    """Turn what a connection can end with into one line."""
    import httpx2

    try:
        yield
    except zlib.error as error:
        raise ToolFailure(N_("the page of {host} is compressed in a way that cannot be read", host=host)) from error
    except httpx2.HTTPError as error:
        raise _failure(host, error) from error


def _failure(host: str, error: Exception) -> ToolFailure:
    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            reason = cause.verify_message.rstrip(".")
            return ToolFailure(
                N_("the certificate of {host} is not valid: {reason}; nothing was sent", host=host, reason=reason)
            )
        if isinstance(cause, ssl.SSLError):
            why = cause.reason or N_("no reason given")
            return ToolFailure(N_("{host} speaks no TLS that can be used: {reason}", host=host, reason=why))
    return ToolFailure(_line(host, error, _reason(causes)), retryable=True)


def _line(host: str, error: Exception, reason: Text | str) -> Text:
    import httpx2

    if isinstance(error, httpx2.ConnectTimeout):
        return N_("{host} did not accept a connection within {n} s", host=host, n=round(_CONNECT_S))
    if isinstance(error, httpx2.ConnectError):
        return N_("no connection to {host}: {reason}", host=host, reason=reason)
    if isinstance(error, httpx2.RemoteProtocolError):
        return N_("{host} broke off or does not speak HTTP", host=host)
    return N_("the connection to {host} broke: {reason}", host=host, reason=reason)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _reason(causes: Sequence[BaseException]) -> Text | str:
    numbers = [cause.errno for cause in causes if isinstance(cause, OSError) and cause.errno]
    return os.strerror(numbers[-1]) if numbers else N_("no reason given")
