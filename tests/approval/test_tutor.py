"""What grants a question that must be checked: the target as it is called, and nothing that merely resembles it."""

from __future__ import annotations

from typing import Any

import pytest
from gateways import asking, planned, turn_of

from myclaw_core.approval.tutor import names_of, wanted_name
from myclaw_core.testing import FakeClock
from myclaw_core.types.action import ApprovalRequestDraft, PlannedAction
from myclaw_core.types.effect import Effect


def draft(clock: FakeClock, kind: Any, target: str, scope: str = "x") -> ApprovalRequestDraft:
    action: PlannedAction = planned(turn_of(clock))
    effect = Effect(kind=kind, scope=scope, target=target, reversibility="irreversible")
    action = PlannedAction.from_tool_call(
        tool_name=action.tool_name,
        args={},
        args_preview={},
        effects=(effect,),
        sender=action.sender,
        trace_id=action.trace_id,
        session_id=action.session_id,
        autonomy=action.autonomy,
        planned_at=action.planned_at,
    )
    return asking(action).draft


@pytest.mark.parametrize(
    ("kind", "target", "names", "wanted"),
    [
        (
            "network_out",
            "mail:ada.b@example.org",
            ("mail:ada.b@example.org", "ada.b", "ada.b@example.org"),
            "the address that it goes to",
        ),
        ("network_out", "telegram:42", ("telegram:42", "42"), "the address that it goes to"),
        (
            "network_out",
            "https://x.org/in/box",
            ("https://x.org/in/box", "box"),
            "the last part of the web address, or all of it",
        ),
        ("fs_write", "/srv/a:b/c.md", ("/srv/a:b/c.md", "c.md"), "the name of what it would touch"),
        ("neuron_invoke", "neuron:tidy", ("neuron:tidy", "tidy"), "the name of the neuron"),
        ("fs_write", "/srv/mail:x", ("/srv/mail:x", "mail:x"), "the name of what it would touch"),
    ],
)
def test_a_target_is_named_as_a_whole_or_by_its_name(
    clock: FakeClock, kind: Any, target: str, names: tuple[str, ...], wanted: str
) -> None:
    """For a mail the address, and the part before the @; the way it goes is no part of it."""
    made = draft(clock, kind, target)
    assert names_of(made) == names
    assert str(wanted_name(made)) == wanted


def test_a_command_is_named_by_its_program(clock: FakeClock) -> None:
    made = draft(clock, "shell_exec", "git push origin", "git @ ~")
    assert names_of(made) == ("git push origin", "git")
    assert str(wanted_name(made)) == "the name of the program"
