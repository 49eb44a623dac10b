"""How much trust each kind of effect needs: three risk bands."""

from __future__ import annotations

from myclaw_core.types.effect import Reversibility, RiskBand
from myclaw_core.types.trust import TrustThreshold

__all__ = ["threshold_for"]

_MINIMA: dict[RiskBand, tuple[float, int]] = {"low": (0.60, 3), "medium": (0.65, 5), "high": (0.72, 15)}
_ONE_UP: dict[RiskBand, RiskBand] = {"low": "medium", "medium": "high", "high": "high"}
_FILES = frozenset({"fs_read", "fs_write", "fs_delete"})
_BANDS: dict[str, RiskBand] = {
    "memory_write": "low",
    "invoke": "low",
    "memory_delete": "medium",
    "network_out": "medium",
    "shell_exec": "high",
    "outbound_message": "high",
    "cost_spend": "high",
}


def threshold_for(effect_class: str, reversibility: Reversibility, workspace: str) -> TrustThreshold | None:
    """Return the threshold of a class, or `None` for what never runs without a question."""
    band = _band(effect_class, workspace)
    if band is None or reversibility == "irreversible":
        return None
    if reversibility == "reversible_with_cost":
        band = _ONE_UP[band]
    min_score, min_samples = _MINIMA[band]
    return TrustThreshold(
        effect_class=effect_class,
        risk_band=band,
        min_score=min_score,
        min_samples=min_samples,
        cap_autonomy="full",
    )


def _band(effect_class: str, workspace: str) -> RiskBand | None:
    kind, _, scope = effect_class.partition(":")
    if kind in _FILES:
        return "low" if scope.startswith(workspace.rstrip("/") + "/") else "medium"
    return _BANDS.get(kind)
