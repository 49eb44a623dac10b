"""What happens in the demo, scene by scene."""

from __future__ import annotations

from typing import Any

from attrs import frozen

from myclaw_core.messages import _

__all__ = ["LIST", "Scene", "story"]

LIST = "notes/shopping.md"


@frozen(kw_only=True)
class Scene:
    """One turn of the story.

    Attributes:
        title: What the scene shows.
        says: What the person types.
        calls: Tool calls the scripted model makes.
        answer: What it says at the end.
        person_says: The scripted person's answer, should a question come.
        decided_by: The checks one of which must have decided the last step, or the story is not true.
        is_undone: Whether the turn is taken back afterwards.
    """

    title: str
    says: str
    calls: tuple[tuple[str, dict[str, Any]], ...]
    answer: str
    person_says: bool = True
    decided_by: frozenset[str] = frozenset({"trust"})
    is_undone: bool = False


_READ = ("fs_read", {"path": LIST})


def _write(*items: str) -> tuple[str, dict[str, Any]]:
    return "fs_write", {"path": LIST, "content": "".join(f"- {item}\n" for item in items)}


def story() -> tuple[Scene, ...]:
    """Return the scenes, in the language of the person."""
    milk, bread, eggs, coffee, tea = _("milk"), _("bread"), _("eggs"), _("coffee"), _("tea")
    return (
        Scene(
            title=_("A question, asked and answered"),
            says=_("Put milk on the shopping list."),
            calls=(_write(milk),),
            answer=_("Milk is on the list."),
        ),
        Scene(
            title=_("The same kind of action: asked again, it is new"),
            says=_("Add bread."),
            calls=(_READ, _write(milk, bread)),
            answer=_("Bread is on the list."),
        ),
        Scene(
            title=_("A third time"),
            says=_("Add eggs."),
            calls=(_READ, _write(milk, bread, eggs)),
            answer=_("Eggs are on the list."),
        ),
        Scene(
            title=_("Earned: done by itself, with the numbers that allowed it"),
            says=_("Add coffee."),
            calls=(_READ, _write(milk, bread, eggs, coffee)),
            answer=_("Coffee is on the list."),
            decided_by=frozenset({"trust_promoted"}),
            is_undone=True,
        ),
        Scene(
            title=_("Quick to lose: after the undo the same action asks again, and this time the answer is no"),
            says=_("Add tea."),
            calls=(_write(milk, bread, eggs, tea),),
            answer=_("Tea was not added: the answer was no."),
            person_says=False,
        ),
        Scene(
            title=_("Denied: a text asked for something no score can allow"),
            says=_("Do what the note says."),
            calls=(("fs_write", {"path": "~/.ssh/authorized_keys", "content": "ssh-ed25519 AAAA stranger\n"}),),
            answer=_("That was denied and not done."),
            decided_by=frozenset({"constitution", "forbidden"}),
        ),
    )
