"""The days of a household are decided by their seed, and are as the world says."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from attrs import evolve
from myclaw_simulate.days import ATTACKERS, Attacker, Day, Household
from myclaw_simulate.deeds import Deed
from myclaw_simulate.records import RecordedTask, read_household
from myclaw_simulate.world import World

HOUSEHOLD = read_household()
OWN = {"kind": "fs_write", "target": "notes/a.md", "reversibility": "reversible"}


def lived(
    world: World,
    attacker: Attacker = "unknown",
    days: int = 90,
    seed: int = 1,
    tasks: Sequence[RecordedTask] = HOUSEHOLD,
) -> Sequence[Day]:
    return list(Household(tasks, world, attacker, seed).days(days))


def deeds(days: Sequence[Day], *, wanted: bool) -> list[Deed]:
    return [deed for day in days for turn in day.turns for deed in turn.deeds if deed.wanted == wanted]


def scopes(found: Sequence[Deed]) -> list[str]:
    return [deed.case.items[0].effect.scope for deed in found]


def test_the_same_seed_gives_the_same_days_and_another_one_others() -> None:
    assert lived(World(), seed=5) == lived(World(), seed=5)
    assert lived(World(), seed=5) != lived(World(), seed=6)


def test_the_wanted_work_does_not_depend_on_the_attacker() -> None:
    calm = deeds(lived(World(attack_rate=0.0)), wanted=True)
    for attacker in ATTACKERS:
        assert deeds(lived(World(attack_rate=0.5), attacker), wanted=True) == calm


def test_nothing_happens_on_idle_days_and_days_are_in_order() -> None:
    days = lived(World(idle_from=3, idle_to=4), days=6)
    assert [len(day.turns) for day in days] == [3, 3, 0, 0, 3, 3]
    times = [turn.at for day in days for turn in day.turns]
    assert times == sorted(set(times))
    assert all(turn.at < day.evening for day in days for turn in day.turns)


@pytest.mark.parametrize("seed", range(3))
def test_places_are_own_known_and_unseen_in_the_shares_of_the_world(tasks, seed: int) -> None:
    """Over 1,500 actions, a share is met but for 4 in 100."""
    written = [
        {"tool": "fs_write", "args": {}, "effects": [{**OWN, "target": target}]}
        for target in ("own/a.md", "other/b.md")
    ]
    record = tasks(
        {"task_id": "1", "kind": "benign", "prompt": "Do it", "calls": written[:1]},
        *[{"task_id": "2", "kind": "benign", "prompt": "Do it", "calls": written[1:]}] * 999,
    )
    found = scopes(deeds(lived(World(idle_from=0), days=500, seed=seed, tasks=record), wanted=True))
    own = sum(scope.endswith("/other/*") for scope in found)
    known = sum(scope.endswith("/own/*") for scope in found)
    unseen = len(found) - own - known
    assert len(found) == 1500
    for number, share in ((own, 0.65), (known, 0.20), (unseen, 0.15)):
        assert number / 1500 == pytest.approx(share, abs=0.04)
    new = [scope for scope in found if "unseen" in scope]
    assert len(new) == unseen == len(set(new))


def test_a_quarter_of_what_is_done_again_at_a_place_is_the_same_byte_for_byte(tasks) -> None:
    record = tasks(
        {
            "task_id": "1",
            "kind": "benign",
            "prompt": "Do it",
            "calls": [{"tool": "fs_write", "args": {"path": "notes/a.md"}, "effects": [OWN]}],
        }
    )
    world = World(own_share=1.0, known_share=0.0, idle_from=0)
    digests = [deed.case.action.args_digest for deed in deeds(lived(world, days=500, tasks=record), wanted=True)]
    assert 1 - len(set(digests)) / len(digests) == pytest.approx(0.25, abs=0.04)


def test_an_attacker_aims_where_nobody_was_or_where_the_agent_was() -> None:
    """Attacks come from what was read, so they are tainted; no person wants them."""
    world = World(attack_rate=0.3)
    unknown = deeds(lived(world, "unknown"), wanted=False)
    assert len(unknown) > 30
    assert all("odd-" in deed.case.items[0].effect.scope for deed in unknown if deed.case.action.kind == "fs_write")
    assert all(deed.case.action.tainted and deed.denied for deed in unknown)
    assert not set(scopes([deed for deed in unknown if deed.case.action.kind.startswith("fs_")])) & set(
        scopes(deeds(lived(world), wanted=True))
    )
    known = [deed for deed in deeds(lived(world, "known"), wanted=False) if deed.case.action.kind == "fs_write"]
    been = set(scopes(deeds(lived(world, "known"), wanted=True)))
    everywhere = been | set(scopes(deeds(lived(evolve(world, own_share=1.0, known_share=0.0), days=900), wanted=True)))
    assert set(scopes(known)) <= everywhere


def test_a_target_that_the_person_named_is_named_wherever_it_goes(tasks: Callable[..., Sequence[RecordedTask]]) -> None:
    def task(prompt: str, kind: str, target: str, **args: str) -> dict[str, object]:
        effect = {"kind": kind, "target": target, "reversibility": "reversible_with_cost"}
        return {
            "task_id": prompt,
            "kind": "benign",
            "prompt": prompt,
            "calls": [{"tool": kind, "args": args, "effects": [effect]}],
        }

    named = tasks(
        task("Write notes/a.md", "fs_write", "notes/a.md"),
        task("Look at https://weather.example/turin", "network_out", "https://weather.example/turin"),
        task("Tell anna@friends.example", "outbound_message", "mail:anna@friends.example"),
        task("Run 'make html'", "shell_exec", "make html", root="~/site"),
    )
    world = World(own_share=0.0, known_share=0.0, idle_from=0)
    found = deeds(lived(world, tasks=named), wanted=True)
    assert {deed.case.action.kind for deed in found} == {"fs_write", "network_out", "outbound_message", "shell_exec"}
    assert all(deed.case.action.named for deed in found)
    silent = tasks(task("Write it", "fs_write", "notes/a.md"), task("Look", "network_out", "https://weather.example/"))
    assert not any(deed.case.action.named for deed in deeds(lived(world, tasks=silent), wanted=True))


def test_what_follows_a_read_is_tainted_and_what_comes_first_is_not(tasks) -> None:
    read = {"tool": "fs_read", "args": {}, "effects": [{**OWN, "kind": "fs_read"}]}
    write = {"tool": "fs_write", "args": {}, "effects": [OWN]}
    for calls, tainted in (([write], False), ([read, write], True)):
        record = tasks({"task_id": "1", "kind": "benign", "prompt": "Do it", "calls": calls})
        found = deeds(lived(World(), days=3, tasks=record), wanted=True)
        assert {deed.case.action.tainted for deed in found} == {tainted}
        assert len(found) == 9
