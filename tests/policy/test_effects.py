"""What a call does, as the core works it out from the declared effects and the resolved arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from myclaw_core.policy.effects import TargetRefusedError, estimated_cost_eur, resolve_effects
from myclaw_core.runtime.tool import EffectSpec, Tool
from myclaw_core.types.effect import EFFECT_KINDS, Effect

Build = Callable[..., Tool]


@pytest.fixture
def resolve(world: Any) -> Callable[..., tuple[Effect, ...]]:
    def resolved(tool: Tool, args: dict[str, Any], **more: Any) -> tuple[Effect, ...]:
        return resolve_effects(
            tool, args, cwd=str(world.workspace), home=world.home, user_home=str(world.user_home), **more
        )

    return resolved


def only(effects: tuple[Effect, ...]) -> Effect:
    (effect,) = effects
    return effect


def test_a_file_effect_is_scoped_by_its_real_folder(world: Any, tool: Build, resolve: Any) -> None:
    (world.workspace / "real").mkdir()
    (world.workspace / "link").symlink_to("real")
    effect = only(
        resolve(tool("t", EffectSpec(kind="fs_write", arg="path"), plan=True), {"path": "link/../link//a.md"})
    )
    assert effect.target == str(world.workspace / "real/a.md")
    assert effect.effect_class == "fs_write:~/.local/share/myclaw/workspace/real/*"
    assert effect.reversibility == "reversible"


def test_deleting_acts_on_the_link_and_writing_on_what_it_leads_to(world: Any, tool: Build, resolve: Any) -> None:
    (world.workspace / "link").symlink_to("a.md")
    deleted = only(resolve(tool("t", EffectSpec(kind="fs_delete", arg="path"), plan=True), {"path": "link"}))
    written = only(resolve(tool("t", EffectSpec(kind="fs_write", arg="path"), plan=True), {"path": "link"}))
    assert deleted.target == str(world.workspace / "link")
    assert written.target == str(world.workspace / "a.md")


@pytest.mark.parametrize("kind", ["fs_write", "fs_delete", "memory_write", "memory_delete", "config_change"])
def test_without_an_undo_record_nothing_is_reversible(tool: Build, resolve: Any, kind: Any) -> None:
    spec = EffectSpec(kind=kind, arg="x", reversibility="reversible")
    assert only(resolve(tool("t", spec, plan=True), {"x": "a"})).reversibility == "reversible"
    assert only(resolve(tool("t", spec, plan=True), {"x": "a"}, undoable=False)).reversibility == "irreversible"
    assert only(resolve(tool("t", spec), {"x": "a"})).reversibility == "irreversible"


def test_a_tool_may_claim_worse_than_the_default_but_never_better(tool: Build, resolve: Any) -> None:
    worse = EffectSpec(kind="fs_write", arg="x", reversibility="reversible_with_cost")
    assert only(resolve(tool("t", worse, plan=True), {"x": "a"})).reversibility == "reversible_with_cost"
    for kind in ("cost_spend", "neuron_spawn", "self_modify", "shell_exec", "outbound_message"):
        claimed = EffectSpec(kind=kind, arg="x", reversibility="reversible")
        assert only(resolve(tool("t", claimed, plan=True), {"x": "a"})).reversibility == "irreversible"
    for kind in EFFECT_KINDS:
        final = EffectSpec(kind=kind, arg="x", reversibility="irreversible")
        assert only(resolve(tool("t", final, plan=True), {"x": "a.example"})).is_side_effect in (True, False)


def test_a_request_is_irreversible_unless_it_is_a_composed_get(tool: Build, resolve: Any) -> None:
    url = {"url": "https://EXAMPLE.com:443/a?b=c"}
    body = only(resolve(tool("t", EffectSpec(kind="network_out", arg="url")), url))
    assert (body.effect_class, body.reversibility) == ("network_out:example.com", "irreversible")
    claimed = EffectSpec(kind="network_out", arg="url", reversibility="reversible")
    assert only(resolve(tool("t", claimed), url)).reversibility == "reversible_with_cost"


def test_fetching_is_reading_only_where_the_user_named_the_host(tool: Build, resolve: Any) -> None:
    fetch = tool("t", EffectSpec(kind="network_in", arg="url"))
    named = only(resolve(fetch, {"url": "https://a.example/x"}, typed_text="see https://a.example/start"))
    assert (named.kind, named.is_side_effect) == ("network_in", False)
    other = only(resolve(fetch, {"url": "https://b.example/x"}, typed_text="see https://a.example/start"))
    assert (other.kind, other.reversibility) == ("network_out", "reversible_with_cost")


def test_an_undeclared_effect_is_irreversible_and_a_pure_tool_has_none(tool: Build, resolve: Any) -> None:
    effect = only(resolve(tool("t", undeclared=True), {}))
    assert (effect.effect_class, effect.reversibility) == ("shell_exec:undeclared:t", "irreversible")
    assert resolve(tool("t"), {}) == ()


def test_an_argument_that_was_not_given_uses_the_default_or_has_no_effect(
    world: Any, tool: Build, resolve: Any
) -> None:
    listing = tool("t", EffectSpec(kind="fs_read", arg="path", default="."))
    assert only(resolve(listing, {})).target == str(world.workspace)
    assert resolve(tool("t", EffectSpec(kind="fs_read", arg="path")), {"path": None}) == ()


def test_a_list_of_targets_is_one_effect_each(tool: Build, resolve: Any) -> None:
    many = resolve(tool("t", EffectSpec(kind="fs_write", arg="paths"), plan=True), {"paths": ["a", "b/c"]})
    assert [effect.scope.rsplit("/", 2)[1] for effect in many] == ["workspace", "b"]


def test_messages_neurons_and_names_are_scoped_by_name(tool: Build, resolve: Any) -> None:
    def effect_class(kind: Any, value: Any) -> str:
        return only(resolve(tool("t", EffectSpec(kind=kind, arg="x"), plan=True), {"x": value})).effect_class

    assert effect_class("outbound_message", "telegram:42") == "outbound_message:telegram:42"
    assert effect_class("neuron_invoke", "sorter") == "invoke"
    assert effect_class("memory_write", "likes") == "memory_write:likes"
    assert effect_class("config_change", "policy.roots") == "config_change:policy.roots"
    assert effect_class("cost_spend", 2.5) == "cost_spend:t"


@pytest.mark.parametrize("value", ["", "  ", "a\nb", "a\u200bb", "x" * 600, True, 5, ["a", 3]])
def test_an_unclear_name_is_refused(tool: Build, resolve: Any, value: Any) -> None:
    with pytest.raises(TargetRefusedError):
        resolve(tool("t", EffectSpec(kind="memory_write", arg="x")), {"x": value})


def test_the_estimated_cost_is_what_the_spending_arguments_say(tool: Build) -> None:
    spend = tool("t", EffectSpec(kind="cost_spend", arg="eur"))
    assert estimated_cost_eur(spend, {"eur": 2.5}) == 2.5
    assert estimated_cost_eur(spend, {"eur": 10**400}) == float("inf")
    assert estimated_cost_eur(spend, {"eur": [1, 2.5]}) == 3.5
    assert estimated_cost_eur(spend, {"eur": 0}) == 0
    assert estimated_cost_eur(tool("t", undeclared=True), {}) == 0


@pytest.mark.parametrize("amount", ["a lot", "2.50", -1, [5, -3], True, None, {}, float("nan"), float("inf"), [None]])
def test_an_amount_that_is_none_is_infinite_and_not_nothing(tool: Build, amount: Any) -> None:
    spend = tool("t", EffectSpec(kind="cost_spend", arg="eur"))
    assert estimated_cost_eur(spend, {"eur": amount}) == float("inf")
    assert estimated_cost_eur(spend, {}) == float("inf")


def test_deleting_a_folder_above_neurons_is_a_change_of_the_system(world: Any, tool: Build, resolve: Any) -> None:
    (world.workspace / "neurons").mkdir(exist_ok=True)
    delete = tool("t", EffectSpec(kind="fs_delete", arg="path"), plan=True)
    effect = only(resolve(delete, {"path": "."}))
    assert (effect.kind, effect.reversibility) == ("self_modify", "irreversible")


def test_a_folder_given_for_writing_speaks_for_all_that_lies_in_it(world: Any, tool: Build, resolve: Any) -> None:
    write = tool("t", EffectSpec(kind="fs_write", arg="path"), plan=True)
    assert only(resolve(write, {"path": "."})).kind == "self_modify"
    assert only(resolve(write, {"path": "notes"})).kind == "fs_write"


@pytest.mark.parametrize("path", ["/etc/systemd/system/x.service", "/etc/cron.d/x", "/var/spool/cron/me"])
def test_units_of_the_scheduler_are_changes_of_the_system(tool: Build, resolve: Any, path: str) -> None:
    write = tool("t", EffectSpec(kind="fs_write", arg="path"), plan=True)
    assert only(resolve(write, {"path": path})).kind == "self_modify"
    assert only(resolve(tool("t", EffectSpec(kind="fs_read", arg="path")), {"path": path})).kind == "fs_read"


def test_what_comes_to_a_free_place_may_bring_a_change_of_the_system(world: Any, tool: Build, resolve: Any) -> None:
    """A folder moved to where neurons shall lie later, or above it, brings what is in it."""
    write = tool("t", EffectSpec(kind="fs_write", arg="path"), plan=True)
    assert only(resolve(write, {"path": "neurons"})).kind == "self_modify"
    assert only(resolve(write, {"path": f"{world.user_home}/.config"})).kind == "config_change"
