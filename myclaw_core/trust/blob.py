"""A subject's state as the bytes of `scores.component_blob`, under a keyed checksum."""

from __future__ import annotations

import hashlib
import hmac
import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from myclaw_core import codec
from myclaw_core.errors import CodecError, TrustCorruptionError
from myclaw_core.messages import N_
from myclaw_core.trust.estimator import Estimator
from myclaw_core.trust.stamp import parse_stamp, stamp
from myclaw_core.trust.state import COMPONENTS, KEPT_GRANTS, RECENT, Component, Handover, SubjectState
from myclaw_core.types.canonical import canonical_json
from myclaw_core.types.text import Text
from myclaw_core.types.trust import TrustSubject

__all__ = ["from_blob", "to_blob"]

_FORM = 2
"""Raised with every change of what a state holds; a blob of another form is replayed."""
_TIMES = ("last_updated", "as_of", "last_good", "last_asked")


def to_blob(state: SubjectState, estimator: Estimator, key: bytes) -> bytes:
    """Return the canonical JSON of `state`; equal states give equal bytes."""
    content = {
        "schema_version": codec.SCHEMA_VERSION,
        "form": _FORM,
        "estimator": estimator.id,
        "subject": list(state.subject),
        "score": estimator.score(state, state.last_updated) if state.last_updated else 0.0,
        "components": {name: [getattr(state, name).mean, getattr(state, name).mass] for name in COMPONENTS},
        "n_samples": state.n_samples,
        "n_good": state.n_good,
        "days": state.days,
        "last_day": state.last_day,
        **{name: _written(getattr(state, name)) for name in _TIMES},
        "recent": list(state.recent),
        "grants": [stamp(at) for at in state.grants],
        "born": state.born,
        "extra": {name: [component.mean, component.mass] for name, component in state.extra.items()},
        "unasked": state.unasked,
        "version": state.version,
        "model": state.model,
        "handover": _handover_content(state.handover),
        "revoked": state.revoked,
        "held": state.held,
    }
    return canonical_json({**content, "checksum": _checksum(content, key)})


def from_blob(blob: bytes, subject: TrustSubject, estimator: Estimator, key: bytes) -> SubjectState | None:
    """Return the state of `subject` that `blob` holds, or `None` where another estimator or version wrote it.

    Raises:
        TrustCorruptionError: The checksum fails, a value is out of range, it speaks of another subject, or a later
            version wrote it.
    """
    try:
        content = _checked(codec.document(blob, N_("its document")), subject, key)
        is_ours = content["estimator"] == estimator.id and content.get("form") == _FORM
        return _state(subject, content) if is_ours else None
    except (CodecError, TrustCorruptionError) as error:
        raise _damaged(subject, error.text) from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise _damaged(subject, N_("it is malformed")) from error


def _damaged(subject: TrustSubject, reason: Text) -> TrustCorruptionError:
    return TrustCorruptionError(
        N_(
            "trust in {subject}: the stored score is damaged: {reason}",
            subject=" ".join(map(str, subject)),
            reason=reason,
        )
    )


def _checked(content: dict[str, Any], subject: TrustSubject, key: bytes) -> Mapping[str, Any]:
    checksum = content.pop("checksum")
    if not hmac.compare_digest(checksum, _checksum(content, key)):
        raise TrustCorruptionError(N_("its checksum fails"))
    if content["subject"] != list(subject):
        raise TrustCorruptionError(N_("it belongs to another subject"))
    return content


def _checksum(content: Mapping[str, Any], key: bytes) -> str:
    return hmac.new(key, b"blob:" + canonical_json(content), hashlib.sha256).hexdigest()


def _state(subject: TrustSubject, content: Mapping[str, Any]) -> SubjectState:
    _in_range(content["score"], 1.0)
    n_samples, n_good, days = (_count(content[name]) for name in ("n_samples", "n_good", "days"))
    if max(n_good, days) > n_samples:
        raise TrustCorruptionError(N_("its counts contradict each other"))
    recent, grants = content["recent"], content["grants"]
    if len(recent) > RECENT or len(grants) > KEPT_GRANTS or not all(isinstance(bad, bool) for bad in recent):
        raise TrustCorruptionError(N_("its last samples are malformed"))
    parts = {name: _component(content["components"][name]) for name in COMPONENTS}
    times = {name: _read(content[name]) for name in _TIMES}
    return SubjectState(
        subject=subject,
        tool_success=parts["tool_success"],
        human_approval_rate=parts["human_approval_rate"],
        cost_efficiency=parts["cost_efficiency"],
        constitution_clean=parts["constitution_clean"],
        undo_rate=parts["undo_rate"],
        n_samples=n_samples,
        n_good=n_good,
        days=days,
        last_day=str(content["last_day"]),
        last_updated=times["last_updated"],
        as_of=times["as_of"],
        last_good=times["last_good"],
        last_asked=times["last_asked"],
        recent=tuple(recent),
        grants=tuple(parse_stamp(at) for at in grants),
        born=content["born"] is True,
        extra={str(name): _component(pair) for name, pair in content["extra"].items()},
        unasked=_count(content["unasked"]),
        version=str(content["version"]),
        model=str(content["model"]),
        handover=_handover(content["handover"]),
        revoked=content["revoked"] is True,
        held=content["held"] is True,
    )


def _handover_content(handover: Handover | None) -> dict[str, str] | None:
    if handover is None:
        return None
    return {"at": stamp(handover.at), "what": handover.what, "before": handover.before, "after": handover.after}


def _handover(content: Mapping[str, Any] | None) -> Handover | None:
    if content is None:
        return None
    what = content["what"]
    if what not in ("body", "version", "model"):
        raise TrustCorruptionError(N_("{value} is out of range", value=repr(what)))
    return Handover(
        at=parse_stamp(content["at"]), what=what, before=str(content["before"]), after=str(content["after"])
    )


def _component(pair: Any) -> Component:
    mean, mass = pair
    return Component(_in_range(mean, 1.0), _in_range(mass, math.inf))


def _in_range(value: Any, highest: float) -> float:
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not 0.0 <= value <= highest
        or value == math.inf
    ):
        raise TrustCorruptionError(N_("{value} is out of range", value=repr(value)))
    return float(value)


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise TrustCorruptionError(N_("{value} is no count", value=repr(value)))
    return value


def _written(at: datetime | None) -> str | None:
    return None if at is None else stamp(at)


def _read(text: str | None) -> datetime | None:
    return None if text is None else parse_stamp(text)
