"""The provider of Claude models; the SDK is imported when the first call is made."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from myclaw_core.clock import Clock
from myclaw_core.messages import N_
from myclaw_core.runtime.callsite import CallSite, is_web_address
from myclaw_core.runtime.model import ModelError, ModelReply, ModelRequest
from myclaw_core.types.text import Text

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from anthropic.lib.streaming import AsyncMessageStream

__all__ = ["AnthropicProvider"]

_KEY_NAMES = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
_URL_NAME = "ANTHROPIC_BASE_URL"
_DEFAULT_URL = "https://api.anthropic.com"
_CONNECT_TIMEOUT_S = 10.0


class AnthropicProvider:
    """Claude models through the official SDK, or whatever serves the same format at `ANTHROPIC_BASE_URL`.

    A call that did not begin is repeated where that can help (429, 5xx, a failed connection), after the pause the
    service asks for. Once an answer began nothing is repeated: part of it may have been shown, and it is paid for.

    Args:
        clock: Does the waiting between tries.
        timeout_s: Longest silence of the service, in seconds.
        max_retries: How often a call that did not begin is repeated.
        environ: Where key and base URL are read; the process's environment by default.
    """

    name = "anthropic"
    free = False

    def __init__(
        self,
        *,
        clock: Clock,
        timeout_s: float = 120.0,
        max_retries: int = 2,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._clock = clock
        self._timeout_s = timeout_s
        self._max_retries = max_retries
        self._environ = os.environ if environ is None else environ
        self._client: AsyncAnthropic | None = None

    def missing(self) -> Text | None:
        """Return one line on the key or the base URL, or `None` when calls can be made."""
        name, key = self._key()
        if not key:
            return N_(
                "no key for the model provider 'anthropic': set {name}, or another provider in [agent]", name=name
            )
        if not (key.isascii() and key.isprintable()) or " " in key:
            return N_(
                "{name} holds something that cannot be a key: copy it again, without spaces or line breaks", name=name
            )
        if not is_web_address(self._url):
            return N_("{name} is not a web address: begin it with http:// or https://, or unset it", name=_URL_NAME)
        return None

    async def complete(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        """Call the model and stream its text to `on_text` as it comes.

        Raises:
            ModelError: The call failed for good; cancellation closes the stream and passes through.
        """
        if line := self.missing():
            raise ModelError(line, "auth")
        client = await self._connect()

        from myclaw_anthropic.answer import read_answer
        from myclaw_anthropic.prompt import request_params
        from myclaw_core.runtime.retry import begin

        site = self._site(request.model)
        attempt = partial(_attempt, client, request_params(request), site)
        async with await begin(attempt, clock=self._clock, max_retries=self._max_retries) as stream:
            return await read_answer(stream, on_text, site)

    async def close(self) -> None:
        """Free connections; may be called twice."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    @property
    def _url(self) -> str:
        return self._environ.get(_URL_NAME, "").strip() or _DEFAULT_URL

    def _key(self) -> tuple[str, str]:
        """Return the first variable that holds something, and its value; the value is empty where none does."""
        found = ((name, self._environ.get(name, "").strip()) for name in _KEY_NAMES)
        return next((item for item in found if item[1]), (_KEY_NAMES[0], ""))

    async def _connect(self) -> AsyncAnthropic:
        """Return the client; the first time the SDK is imported in a thread, so that the status line stays alive."""
        if self._client is not None:
            return self._client
        import asyncio
        from importlib import import_module

        await asyncio.to_thread(import_module, "anthropic.resources.messages")
        from anthropic import AsyncAnthropic, Timeout

        if self._client is None:
            name, key = self._key()
            self._client = AsyncAnthropic(
                api_key=key if name == _KEY_NAMES[0] else None,
                auth_token=key if name != _KEY_NAMES[0] else None,
                base_url=self._url,
                timeout=Timeout(self._timeout_s, connect=min(self._timeout_s, _CONNECT_TIMEOUT_S)),
                max_retries=0,
                open_telemetry=False,
            )
        return self._client

    def _site(self, model: str) -> CallSite:
        return CallSite(
            provider=self.name,
            url=self._url,
            url_name=_URL_NAME,
            model=model,
            key_name=self._key()[0],
            reach=N_("check the network and {name}", name=_URL_NAME),
            timeout_s=self._timeout_s,
        )


async def _attempt(client: AsyncAnthropic, params: Mapping[str, Any], site: CallSite) -> AsyncMessageStream[None]:
    """Return the stream of an answer that began."""
    from anthropic import AnthropicError

    from myclaw_anthropic.faults import not_begun

    try:
        return await client.messages.stream(**params).__aenter__()
    except AnthropicError as error:
        raise not_begun(site, error) from error
