"""The provider of models behind an OpenAI-compatible endpoint: a thin client over HTTP, made at the first call."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from myclaw_core.clock import Clock
from myclaw_core.messages import N_
from myclaw_core.runtime.callsite import CallSite, is_web_address
from myclaw_core.runtime.model import ModelError, ModelReply, ModelRequest
from myclaw_core.types.text import Text

if TYPE_CHECKING:
    from httpx2 import AsyncClient, Response

__all__ = ["OpenAIProvider"]

_KEY_NAME = "OPENAI_API_KEY"
_CONNECT_TIMEOUT_S = 10.0
_MAX_COMPLETION_TOKENS_HOST = "api.openai.com"
"""Where newer models refuse `max_tokens`, the name that all other servers know."""


class OpenAIProvider:
    """Models of whatever serves chat completions at `base_url`: Ollama, llama-server, vLLM, LM Studio, OpenRouter …

    A call that did not begin is repeated where that can help (429, 5xx, a failed connection), after the pause the
    server asks for. Once an answer began nothing is repeated: part of it may have been shown, and it is paid for.

    Args:
        clock: Does the waiting between tries, and makes identifiers for calls that come without.
        base_url: What comes before `/chat/completions`.
        free: Whether calls cost nothing; by default true for a server on this machine only.
        timeout_s: Longest silence of the server, in seconds.
        max_retries: How often a call that did not begin is repeated.
        environ: Where the key is read; the process's environment by default.
    """

    name = "openai"

    def __init__(
        self,
        *,
        clock: Clock,
        base_url: str,
        free: bool | None = None,
        timeout_s: float = 120.0,
        max_retries: int = 2,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._clock = clock
        self._url = base_url.strip().rstrip("/")
        self._is_local = _is_loopback(self._url)
        self.free = self._is_local if free is None else free
        self._timeout_s = timeout_s
        self._max_retries = max_retries
        self._environ = os.environ if environ is None else environ
        self._client: AsyncClient | None = None

    def missing(self) -> Text | None:
        """Return one line on the base URL or the key, or `None` when calls can be made."""
        if not is_web_address(self._url):
            return N_("base_url in [openai] is not a web address: begin it with http:// or https://")
        key = self._key
        if not key and not self._is_local:
            return N_(
                "no key for the model provider 'openai': set {name} (any text where the server wants none),"
                " or another provider in [agent]",
                name=_KEY_NAME,
            )
        if not (key.isascii() and (key.isprintable() or not key)) or " " in key:
            return N_(
                "{name} holds something that cannot be a key: copy it again, without spaces or line breaks",
                name=_KEY_NAME,
            )
        return None

    async def complete(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        """Call the model and stream its text to `on_text` as it comes.

        Raises:
            ModelError: The call failed for good; cancellation closes the stream and passes through.
        """
        if line := self.missing():
            raise ModelError(line, "auth")
        client = await self._connect()

        from myclaw_core.runtime.retry import begin
        from myclaw_openai.answer import read_answer

        site = self._site(request.model)
        attempt = partial(_attempt, client, f"{self._url}/chat/completions", self._body(request), site)
        response = await begin(attempt, clock=self._clock, max_retries=self._max_retries)
        try:
            return await read_answer(response, on_text, site, self._new_call_id)
        finally:
            await response.aclose()

    async def close(self) -> None:
        """Free connections; may be called twice."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    @property
    def _key(self) -> str:
        return self._environ.get(_KEY_NAME, "").strip()

    def _body(self, request: ModelRequest) -> bytes:
        import json

        from myclaw_openai.prompt import request_body

        is_newer = urlsplit(self._url).hostname == _MAX_COMPLETION_TOKENS_HOST
        body = request_body(request, limit_name="max_completion_tokens" if is_newer else "max_tokens")
        return json.dumps(body).encode()

    def _new_call_id(self) -> str:
        return f"call_{self._clock.new_id().hex}"

    def _site(self, model: str) -> CallSite:
        here = N_("start the server there or check base_url in [openai]")
        elsewhere = N_("check the network and base_url in [openai]")
        return CallSite(
            provider=self.name,
            url=self._url,
            url_name=N_("base_url in [openai]"),
            model=model,
            key_name=_KEY_NAME,
            reach=here if self._is_local else elsewhere,
            timeout_s=self._timeout_s,
        )

    async def _connect(self) -> AsyncClient:
        """Return the client; the first time it is made in a thread, so that the status line stays alive."""
        if self._client is None:
            import asyncio

            made = await asyncio.to_thread(self._new_client)
            self._client = self._client or made
        return self._client

    def _new_client(self) -> AsyncClient:
        from httpx2 import AsyncClient, Timeout

        headers = {"accept": "text/event-stream", "content-type": "application/json"}
        if self._key:
            headers["authorization"] = f"Bearer {self._key}"
        return AsyncClient(
            headers=headers,
            timeout=Timeout(self._timeout_s, connect=min(self._timeout_s, _CONNECT_TIMEOUT_S)),
            trust_env=not self._is_local,  # a proxy of the environment is not for what never leaves this machine
        )


async def _attempt(client: AsyncClient, url: str, body: bytes, site: CallSite) -> Response:
    """Return an answer that began."""
    from httpx2 import InvalidURL, RequestError

    from myclaw_openai.faults import not_begun, refusal

    try:
        response = await client.send(client.build_request("POST", url, content=body), stream=True)
    except (InvalidURL, RequestError) as error:
        raise not_begun(site, error) from error
    if response.is_success:
        return response
    try:
        raise await refusal(site, response)
    finally:
        await response.aclose()


def _is_loopback(url: str) -> bool:
    """Return whether `url` names this machine."""
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or host.endswith(".localhost") or ip_address(host).is_loopback
    except ValueError:
        return False
