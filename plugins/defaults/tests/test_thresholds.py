"""Risk bands and their numbers."""

from __future__ import annotations

import tomllib
from pathlib import Path

import myclaw_defaults
import pytest
from myclaw_defaults import plugin
from myclaw_defaults.plugin import myclaw_threshold

WORKSPACE = "~/.local/share/myclaw/workspace"


def test_hook_myclaw_threshold() -> None:
    """The hook gives a threshold with the numbers of the band."""
    found = myclaw_threshold(f"fs_write:{WORKSPACE}/notes/*", "reversible", WORKSPACE)
    assert found is not None
    assert (found.risk_band, found.min_score, found.min_samples, found.cap_autonomy) == ("low", 0.60, 3, "full")


@pytest.mark.parametrize(
    ("effect_class", "reversible", "with_cost"),
    [
        (f"fs_write:{WORKSPACE}/notes/*", "low", "medium"),
        (f"fs_delete:{WORKSPACE}/*", "low", "medium"),
        ("memory_write:", "low", "medium"),
        ("invoke", "low", "medium"),
        (f"fs_write:{WORKSPACE}2/notes/*", "medium", "high"),
        ("fs_write:~/Documents/*", "medium", "high"),
        ("fs_write:*", "medium", "high"),
        ("memory_delete:", "medium", "high"),
        ("network_out:example.org", "medium", "high"),
        ("shell_exec:git status @ ~/ws", "high", "high"),
        ("outbound_message:telegram:42", "high", "high"),
        ("cost_spend:", "high", "high"),
    ],
)
def test_each_class_has_its_band_and_what_costs_to_undo_is_one_up(
    effect_class: str, reversible: str, with_cost: str
) -> None:
    numbers = {"low": (0.60, 3), "medium": (0.65, 5), "high": (0.72, 15)}
    cases = (("reversible", reversible), ("reversible_with_cost", with_cost))
    for reversibility, band in cases:
        found = myclaw_threshold(effect_class, reversibility, WORKSPACE)  # type: ignore[arg-type]
        assert found is not None
        assert (found.risk_band, (found.min_score, found.min_samples)) == (band, numbers[band])


@pytest.mark.parametrize(
    "effect_class",
    ["neuron_spawn:", "neuron_promote:", "config_change:", "self_modify:", "network_in:x", "strange", ""],
)
def test_what_is_in_no_band_has_no_threshold(effect_class: str) -> None:
    assert myclaw_threshold(effect_class, "reversible", WORKSPACE) is None


def test_what_cannot_be_undone_has_no_threshold() -> None:
    assert myclaw_threshold(f"fs_write:{WORKSPACE}/notes/*", "irreversible", WORKSPACE) is None


def test_the_plugin_declares_the_hooks_it_has() -> None:
    declared = tomllib.loads((Path(myclaw_defaults.__file__).parent / "plugin.toml").read_text())
    assert declared["name"] == "defaults"
    assert sorted(declared["hooks"]) == sorted(plugin.__all__)
