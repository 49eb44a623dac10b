"""What is said between the agent and a process of native code: one JSON object a line, in both directions.

What a frame to the process holds is the plugin's affair. Each is answered by any number of `{"text": …}` and one last
frame: `{"done": …}` or `{"error": KIND, "detail": …}`.
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
    try:
        frame = json.loads(line)
    except RecursionError:
        raise ValueError("a frame is not as deep as that") from None
    if not isinstance(frame, dict):
        raise ValueError("a frame is a JSON object")  # noqa: TRY004
    return frame
