"""What is said between the agent and the process that holds a model: one JSON object a line, in both directions.

The first frame to the process names the model (`path`, `context_tokens`, `threads`), each further one is a call:
`{"op": "complete", "messages": […], "max_tokens": …, "schema": …}` or `{"op": "score", "rubric": …, "item": …}`.
Each is answered by any number of `{"text": …}` and one last frame: `{"done": {…}}` or `{"error": KIND, "detail": …}`.
"""

from __future__ import annotations

import json
from typing import Any

__all__ = ["MOST_BYTES", "Frame", "packed", "unpacked"]

Frame = dict[str, Any]
MOST_BYTES = 16 << 20
"""A longer frame from the process is none of ours."""


def packed(frame: Frame) -> bytes:
    """Return a frame as it is sent."""
    return json.dumps(frame, separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n"


def unpacked(line: bytes) -> Frame:
    """Return the frame of a line.

    Raises:
        ValueError: It is none.
    """
    frame = json.loads(line)
    if not isinstance(frame, dict):
        raise ValueError("a frame is a JSON object")  # noqa: TRY004
    return frame
