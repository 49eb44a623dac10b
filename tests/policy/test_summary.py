"""The line a person reads before they answer."""

from __future__ import annotations

from myclaw_core.policy.summary import summary_of
from myclaw_core.types.effect import EFFECT_KINDS, Effect, EffectKind

HOME = "/nowhere/me"


def effect(kind: EffectKind, target: str) -> Effect:
    return Effect(kind=kind, scope="s", target=target, reversibility="irreversible")


def line(*effects: Effect) -> str:
    return str(summary_of("t", effects, HOME))


def test_one_effect_is_one_sentence() -> None:
    assert line(effect("fs_write", f"{HOME}/a.md")) == "t: write ~/a.md"
    assert line(effect("network_out", "https://x.example/")) == "t: send a request to https://x.example/"
    assert line() == "t: no effect outside"
    for kind in EFFECT_KINDS:
        assert "x" in line(effect(kind, "x"))


def test_a_neuron_is_named_once() -> None:
    called = effect("neuron_invoke", "neuron:csv_summary")
    assert str(summary_of("neuron:csv_summary", (called,), HOME)) == "call the neuron csv_summary"
    assert line(called) == "t: call the neuron neuron:csv_summary"
    let_in = effect("neuron_spawn", "csv_summary")
    assert str(summary_of("neuron_admit", (let_in,), HOME, "1.0.0")) == "let the neuron csv_summary 1.0.0 in"
    assert line(let_in) == "t: let the neuron csv_summary in"


def test_a_move_names_both_ends() -> None:
    assert line(effect("fs_delete", "/a"), effect("fs_write", "/b")) == "t: remove /a, write /b"


def test_several_effects_are_counted() -> None:
    assert line(effect("fs_write", "/a"), effect("fs_write", "/b")) == "t: write /a and 1 more"
    assert line(effect("fs_read", "/a"), effect("memory_write", "b")) == "t: change b and 1 more"


def test_invisible_characters_are_written_out_and_long_targets_cut() -> None:
    assert line(effect("memory_write", "a\u202eb\x1b\u200b")) == "t: remember a\\u202eb\\x1b\\u200b"
    assert len(line(effect("memory_write", "x" * 5000))) < 300
    assert "4800 more" in line(effect("memory_write", "x" * 5000))
