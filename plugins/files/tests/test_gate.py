"""Text over a file that is not text is asked about."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

import pytest
from myclaw_files.plugin import myclaw_check

from myclaw_core.testing import FakeClock
from myclaw_core.types.action import PlannedAction
from myclaw_core.types.effect import Effect


def action(path: Path, tool: str = "fs_write") -> PlannedAction:
    return PlannedAction.from_tool_call(
        tool_name=tool,
        args={"path": str(path), "content": "x"},
        args_preview={},
        effects=(Effect(kind="fs_write", scope="", target=str(path), reversibility="reversible"),),
        sender="cli:me",
        trace_id=UUID(int=1),
        session_id="s",
        autonomy="full",
        planned_at=FakeClock().now(),
    )


def test_hook_myclaw_check_asks_before_text_replaces_a_binary_file(tmp_path: Path) -> None:
    """A NUL in the first 8 KB makes a file binary."""
    (tmp_path / "image.png").write_bytes(b"x" * 8191 + b"\0")
    finding = myclaw_check(action(tmp_path / "image.png"))
    assert finding is not None
    assert finding.verdict == "approve_required"
    assert str(finding.text) == f"the file {tmp_path}/image.png is not text; writing replaces all of it"


@pytest.mark.parametrize("content", [b"", b"text", b"\xff\xfe", b"x" * 8192 + b"\0"])
def test_text_and_new_files_pass(tmp_path: Path, content: bytes) -> None:
    """The gate has no opinion on them."""
    (tmp_path / "file").write_bytes(content)
    assert myclaw_check(action(tmp_path / "file")) is None
    assert myclaw_check(action(tmp_path / "new")) is None


def test_other_tools_and_what_is_no_file_pass(tmp_path: Path) -> None:
    """A gate that raised would deny everything."""
    (tmp_path / "image.png").write_bytes(b"\0")
    (tmp_path / "link").symlink_to("image.png")
    assert myclaw_check(action(tmp_path / "image.png", "fs_move")) is None
    for path in (tmp_path, tmp_path / "link", tmp_path / "image.png/x", Path("/dev/zero"), Path("/")):
        assert myclaw_check(action(path)) is None
