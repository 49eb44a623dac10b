"""The web tool as a model sees it."""

from __future__ import annotations

from collections.abc import Sequence

from myclaw_core.runtime.tool import EffectSpec, Tool
from myclaw_web.fetch import DEFAULT_CHARS, MAX_CHARS, MAX_REDIRECTS, Fetcher

__all__ = ["web_tools"]

_MAX_URL_CHARS = 4000


def web_tools(*, timeout_s: float, max_bytes: int) -> Sequence[Tool]:
    """Return `web_fetch`.

    Args:
        timeout_s: Seconds that a page may take, redirects included.
        max_bytes: Bytes of a page that are read.
    """
    return (
        Tool(
            name="web_fetch",
            description=(
                "Fetch one web page (GET, http or https) and return it as Markdown with its links; text, JSON and XML "
                "come as they are, PDF and other binary files are refused. A notice in square brackets at the end says "
                f"how to read on. At most {MAX_REDIRECTS} redirects on the same host are followed; one to another host "
                "is reported, and fetching it is a new call. No cookies, no login, no credentials in the URL."
            ),
            schema={
                "type": "object",
                "properties": {
                    "url": {
                        "type": "string",
                        "minLength": 1,
                        "maxLength": _MAX_URL_CHARS,
                        "description": "The page; https where no scheme is given.",
                    },
                    "max_chars": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": MAX_CHARS,
                        "description": f"Most characters to return; {DEFAULT_CHARS} if left out.",
                    },
                    "offset": {"type": "integer", "minimum": 0, "description": "Characters of the page to skip."},
                    "raw": {"type": "boolean", "description": "Whether to return the source of an HTML page."},
                },
                "required": ["url"],
                "additionalProperties": False,
            },
            effects=(EffectSpec(kind="network_in", arg="url"),),
            run=Fetcher(max_bytes=max_bytes).run,
            idempotent=True,
            timeout_s=timeout_s,
        ),
    )
