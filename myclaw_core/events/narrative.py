"""One trace as people read it: step by step, with each decision's reason."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import singledispatch
from typing import Any

from myclaw_core.approval.grants import told
from myclaw_core.columns import columns
from myclaw_core.events.narrative_synthesis import advanced, calibrated, ended, requested
from myclaw_core.events.store import Head
from myclaw_core.events.types import (
    ApprovalAnswered,
    ApprovalAsked,
    ConfigChanged,
    CostMediansSet,
    DeferralEnded,
    Event,
    GrantEnded,
    GrantGiven,
    LevelChanged,
    ModelCalled,
    NeuronBorn,
    NeuronChanged,
    NeverChanged,
    NightlyDone,
    OutboxChanged,
    PairingChanged,
    PluginConsent,
    PluginFault,
    QuestionDeferred,
    SlotEnded,
    StepDecided,
    StepEnded,
    StepIntended,
    SynapseRefused,
    TraceClosed,
    TrustChanged,
    TurnStarted,
    UndoApplied,
    UndoExpired,
)
from myclaw_core.events.words import shortened, word
from myclaw_core.files.visible import visible
from myclaw_core.messages import _, n_, render
from myclaw_core.policy.types import Evidence
from myclaw_core.runtime.types import ModelCall

__all__ = ["event_lines", "narrate"]


def narrate(trace_id: str, entries: Sequence[tuple[Head, Event | None]]) -> Iterator[str]:
    """Yield the lines of one trace, in the language of the person.

    Args:
        entries: The heads of the trace in order, each with its event; `None` where the body was erased.
    """
    yield _("trace {trace}, times in UTC", trace=trace_id)
    for head, event in entries:
        yield from event_lines(head, event)


def event_lines(head: Head, event: Event | None) -> Iterator[str]:
    """Yield the lines of one event, the first with its number and time."""
    lines = [_("(erased)")] if event is None else _lines(event)
    yield f"{head.seq:>6}  {head.at[:19].replace('T', ' ')}  {head.type}: {visible(lines[0])}"
    yield from (f"{'':>8}{visible(line)}" for line in lines[1:] if line)


@singledispatch
def _lines(event: object) -> list[str]:
    return [type(event).__name__]


@_lines.register
def _turn_started(event: TurnStarted) -> list[str]:
    turn = event.turn
    return [
        _(
            "{sender} on {channel}, level {level}: {message}",
            sender=turn.sender,
            channel=turn.channel,
            level=turn.autonomy,
            message=shortened(turn.text),
        ),
        _("folders: {folders}", folders=", ".join(turn.roots)),
        _("plugins: {plugins}", plugins=", ".join(f"{plugin.name} {plugin.version}" for plugin in event.plugins)),
    ]


@_lines.register
def _model_called(event: ModelCalled) -> list[str]:
    lines = [_spent(event.call)]
    if event.message is not None and event.message.text:
        lines.append(_("said: {message}", message=shortened(event.message.text)))
    if event.message is not None:
        lines.extend(
            _("proposed: {tool} {args}", tool=call.tool, args=shortened(_json(call.args)))
            for call in event.message.tool_calls
        )
    return lines


def _spent(call: ModelCall) -> str:
    usage = call.usage
    spent = _(
        "{model} through {provider}, {tokens_in} tokens in ({cached} cached), {tokens_out} out, {cost:.6f} EUR",
        model=call.model,
        provider=call.provider,
        tokens_in=usage.input_tokens + usage.cached_tokens,
        cached=usage.cached_tokens,
        tokens_out=usage.output_tokens,
        cost=call.cost_eur,
    )
    return _("{spent}; failed: {reason}", spent=spent, reason=call.error) if call.error else spent


@_lines.register
def _step_decided(event: StepDecided) -> list[str]:
    step = event.step
    if step.decision is None:
        return [_("step {step} {tool}: not judged, its arguments are invalid", step=step.index, tool=step.tool_name)]
    decision = step.decision
    return [
        _(
            "step {step} {tool} {effect_class}: {verdict} via {check}",
            step=step.index,
            tool=step.tool_name,
            effect_class=step.effect_class,
            verdict=word(decision.verdict),
            check=decision.via,
        ),
        *columns([(reason.check, word(reason.verdict), render(reason.text)) for reason in decision.reasons]),
        *map(_read, decision.evidence),
    ]


def _read(item: Evidence) -> str:
    return _(
        "evidence: {effect_class}, score {score:.3f}, samples {n}",
        effect_class=item.effect_class,
        score=item.score,
        n=item.n_samples,
    )


@_lines.register
def _approval_asked(event: ApprovalAsked) -> list[str]:
    request = event.request
    return [
        _("step {step}: {what} ({request})", step=event.step_index, what=request.draft.summary, request=str(request.id))
    ]


@_lines.register
def _approval_answered(event: ApprovalAnswered) -> list[str]:
    approval = event.approval
    verdict, who, request = word(approval.verdict), approval.decided_by, str(approval.request_id)
    if approval.scope == "batch":
        return [_("{verdict} by {who} together with another ({request})", verdict=verdict, who=who, request=request)]
    if approval.revision is not None:
        stage, words = word(approval.revision.stage), shortened(approval.revision.text)
        return [
            _(
                "revision of the {stage} asked for by {who} ({request}): {words}",
                stage=stage,
                who=who,
                words=words,
                request=request,
            )
        ]
    if not approval.note:
        return [_("{verdict} by {who} ({request})", verdict=verdict, who=who, request=request)]
    note = word(approval.note)
    return [_("{verdict} by {who} ({note}) ({request})", verdict=verdict, who=who, note=note, request=request)]


@_lines.register
def _question_deferred(event: QuestionDeferred) -> list[str]:
    until = f"{event.expires_at:%Y-%m-%d %H:%M}"
    return [_("left for a later answer until {until} ({request})", until=until, request=str(event.request_id))]


@_lines.register
def _deferral_ended(event: DeferralEnded) -> list[str]:
    ending, request = word(event.ending), str(event.request_id)
    if event.by is None:
        return [_("the question that was left: {ending} ({request})", ending=ending, request=request)]
    by = str(event.by)
    return [_("the question that was left: {ending} in trace {by} ({request})", ending=ending, by=by, request=request)]


@_lines.register
def _grant_given(event: GrantGiven) -> list[str]:
    return [_("grant {number}: {grant}", number=event.grant.number, grant=told(event.grant))]


@_lines.register
def _grant_ended(event: GrantEnded) -> list[str]:
    return [_("grant {number} ended: {why}", number=event.number, why=word(event.ending))]


@_lines.register
def _never_changed(event: NeverChanged) -> list[str]:
    sender, actor, what = event.sender, event.actor, event.effect_class
    if event.change == "added":
        return [_("{sender} said never: {actor} doing {what}", sender=sender, actor=actor, what=what)]
    return [_("{sender} allows asking again: {actor} doing {what}", sender=sender, actor=actor, what=what)]


@_lines.register
def _step_intended(event: StepIntended) -> list[str]:
    if event.undo is None:
        return [_("step {step}: about to run, no undo record", step=event.step_index)]
    return [_("step {step}: about to run, undo record {undo}", step=event.step_index, undo=str(event.undo.id))]


@_lines.register
def _step_ended(event: StepEnded) -> list[str]:
    step = event.step
    if step.error is not None:
        kind, reason = word(step.error.kind), step.error.message
        return [
            _("step {step} {tool}: {kind}, {reason}", step=step.index, tool=step.tool_name, kind=kind, reason=reason)
        ]
    text = step.exec_result.text if step.exec_result else ""
    state, ms = word(step.state), step.wall_time_ms
    return [
        _("step {step} {tool}: {state} in {ms} ms", step=step.index, tool=step.tool_name, state=state, ms=ms),
        shortened(text),
    ]


@_lines.register
def _trace_closed(event: TraceClosed) -> list[str]:
    trace = event.trace
    return [
        _(
            "{outcome}, steps {steps}, {cost:.6f} EUR, {ms} ms",
            outcome=word(trace.outcome or ""),
            steps=len(trace.steps),
            cost=sum(call.cost_eur for call in trace.model_calls),
            ms=trace.wall_time_ms,
        ),
        *([_("taken in from a file")] if event.ingested else []),
        *(_("counts for trust in {subject}", subject=" ".join(row.subject)) for row in event.signals),
    ]


@_lines.register
def _undo_applied(event: UndoApplied) -> list[str]:
    step, trace = event.step_index, str(event.original_trace_id)
    if event.reverted:
        first = _("step {step} of {trace} undone", step=step, trace=trace)
    else:
        first = _("step {step} of {trace} not undone", step=step, trace=trace)
    return [first, *map(render, event.details)]


@_lines.register
def _undo_expired(event: UndoExpired) -> list[str]:
    return [_("the time to undo is over for so many actions: {n}", n=len(event.undo_ids))]


@_lines.register
def _outbox_changed(event: OutboxChanged) -> list[str]:
    state, tool, step = word(event.state), event.tool, event.step_index
    first = _(
        "step {step} {tool} to {targets}: {state}", step=step, tool=tool, targets=", ".join(event.targets), state=state
    )
    return [first, *([render(event.reason)] if event.reason else [])]


@_lines.register
def _plugin_fault(event: PluginFault) -> list[str]:
    return [_("{plugin} in {hook}: {detail}", plugin=event.plugin, hook=event.hook, detail=event.detail)]


@_lines.register
def _plugin_consent(event: PluginConsent) -> list[str]:
    plugin, version, distribution = event.plugin, event.version, event.distribution
    if event.change == "enabled":
        return [
            _("{plugin} {version} of {distribution} enabled", plugin=plugin, version=version, distribution=distribution)
        ]
    return [
        _("{plugin} {version} of {distribution} disabled", plugin=plugin, version=version, distribution=distribution)
    ]


@_lines.register
def _config_changed(event: ConfigChanged) -> list[str]:
    before, after = event.before or _("default"), event.after or _("default")
    return [_("{key}: {before} became {after}, by {who}", key=event.key, before=before, after=after, who=event.sender)]


@_lines.register
def _level_changed(event: LevelChanged) -> list[str]:
    if event.until is None:
        return [_("level {level} again, by {who}", level=event.level, who=event.sender)]
    until = f"{event.until:%Y-%m-%d %H:%M}"
    line = _("level {level} until {until}, by {who}", level=event.level, until=until, who=event.sender)
    if event.estimate_eur is None:
        return [line]
    return [line, _("estimate: {eur} €", eur=f"{event.estimate_eur:.2f}")]


@_lines.register
def _pairing_changed(event: PairingChanged) -> list[str]:
    who = f"{event.sender} ({event.name})" if event.name else event.sender
    match event.change:
        case "offered":
            return [_("a code to pair with {messenger} was made by {who}", messenger=event.messenger, who=who)]
        case "void":
            return [_("the code of {messenger} is void, last tried by {who}", messenger=event.messenger, who=who)]
        case "paired":
            return [_("{who} is served on {messenger} from now on", messenger=event.messenger, who=who)]
        case "ended":
            return [_("{who} is not served on {messenger} any more", messenger=event.messenger, who=who)]


@_lines.register
def _trust_changed(event: TrustChanged) -> list[str]:
    who = event.sender
    subjects = [" ".join(subject) for subject in event.subjects]
    match event.change:
        case "revoke":
            first = _("trust taken away by {who} from:", who=who)
        case "hold":
            first = _("to be asked about whatever they earn, by {who}:", who=who)
        case "restore":
            first = _("trust given back by {who} to:", who=who)
        case "rollback":
            first = _(
                "brought back by {who} to how they stood at {moment}:", who=who, moment=f"{event.to:%Y-%m-%d %H:%M}"
            )
        case "birth":
            first = _("born with a score of {reward:.2f}:", reward=event.reward or 0.0)
    return [first, *subjects]


@_lines.register
def _neuron_born(event: NeuronBorn) -> list[str]:
    first = _("neuron {name} {version} was approved and may run", name=event.name, version=event.version)
    return [first, _("digest {digest}, born with a score of {reward:.2f}", digest=event.digest, reward=event.reward)]


@_lines.register
def _neuron_changed(event: NeuronChanged) -> list[str]:
    first = _("neuron {name} {version}: {change}", name=event.name, version=event.version, change=word(event.change))
    return [first, render(event.reason)]


@_lines.register
def _synapse_refused(event: SynapseRefused) -> list[str]:
    caller, callee = event.caller, event.callee
    if event.why == "too deep":
        return [
            _("{caller} called {callee}, but as many neurons as may be were under way", caller=caller, callee=callee)
        ]
    return [_("{caller} called {callee}, which it does not declare", caller=caller, callee=callee)]


@_lines.register
def _cost_medians_set(event: CostMediansSet) -> list[str]:
    medians = sorted(event.median_cost_usd.items())
    first = _("usual cost of a trace by effect class, from {n} traces:", n=event.traces)
    return [first, *(_("{usd:.6f} USD for {effect_class}", usd=usd, effect_class=name) for name, usd in medians)]


@_lines.register
def _nightly_done(event: NightlyDone) -> list[str]:
    return [_("the work of the night to {night} is done", night=event.night), *map(render, event.lines)]


@_lines.register
def _slot_ended(event: SlotEnded) -> list[str]:
    at = f"{event.due_at:%Y-%m-%d %H:%M}"
    if event.outcome == "done":
        return [_("{job}, due at {at}: done", job=event.job, at=at)]
    if event.outcome == "failed":
        return [_("{job}, due at {at}: failed: {reason}", job=event.job, at=at, reason=event.reason)]
    return [
        n_(
            "{job}, due at {at}: skipped: {reason}",
            "{job}, due {n} times until {at}: skipped: {reason}",
            event.slots,
            job=event.job,
            at=at,
            reason=event.reason,
        )
    ]


for _told in (requested, advanced, ended, calibrated):
    _lines.register(_told)


def _json(args: Mapping[str, Any]) -> str:
    return json.dumps(dict(args), ensure_ascii=False, default=str)
