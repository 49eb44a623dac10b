"""The words for states as people read them; what is stored stays English."""

from __future__ import annotations

from myclaw_core.messages import N_, n_, render

__all__ = ["WORDS", "shortened", "word"]

WORDS = (
    N_("open"),
    N_("damaged"),
    # How a turn ended.
    N_("success"),
    N_("failed"),
    N_("abandoned"),
    N_("denied"),
    N_("budget"),
    N_("interrupted"),
    # What the policy says.
    N_("allow"),
    N_("approve_required"),
    N_("deny"),
    N_("pass"),
    # How far a step came, and why it has no result.
    N_("decided"),
    N_("asked"),
    N_("intent"),
    N_("done"),
    N_("validation"),
    N_("timeout"),
    N_("exception"),
    N_("sandbox"),
    N_("unavailable"),
    # How a question ended, and why.
    N_("granted"),
    N_("expired"),
    N_("revoked"),
    N_("unattended"),
    N_("no answer"),
    N_("turn ended"),
    N_("restart"),
    N_("elsewhere"),
    N_("deferred"),
    # How a question that was left for later ended, where not as above.
    N_("run"),
    N_("crowded out"),
    N_("dropped"),
    N_("outdated"),
    # How far a message in the outbox came.
    N_("held"),
    N_("sending"),
    N_("sent"),
    N_("unknown"),
    N_("recalled"),
    # What became of a neuron.
    N_("strike"),
    N_("recovered"),
    N_("active"),
    N_("quarantined"),
    N_("disabled"),
    N_("not loaded"),
    N_("not adopted"),
    N_("rehabilitated"),
    N_("removed"),
    N_("signed again"),
    # How a run of a neuron ended, where not as above.
    N_("ok"),
    N_("refused"),
    N_("cancelled"),
    N_("memory"),
    N_("cpu"),
    N_("output"),
    N_("killed"),
    # At which stage the bytes of a neuron were seen.
    N_("made"),
    N_("tested"),
    N_("agreed to"),
    N_("adopted"),
    N_("signed"),
    N_("called"),
    N_("last run"),
    # What is to be done next for a neuron that is wanted.
    N_("direction"),
    N_("spec"),
    N_("draft"),
    N_("analysis"),
    N_("tests"),
    N_("approval"),
    N_("ended"),
    # How it ended, where not as above.
    N_("born"),
    N_("rejected_direction"),
    # Who is measured.
    N_("judge"),
    N_("critic"),
    # How a grant ended.
    N_("over"),
    N_("used up"),
    N_("paused"),
)


def word(state: str) -> str:
    """Return a state in the language of the person; one that is not known stays as it is."""
    return render(state)


def shortened(text: str, limit: int = 160) -> str:
    """Return `text`, cut with a notice where it has more than `limit` characters."""
    plain = text.strip()
    if len(plain) <= limit:
        return plain
    more = len(plain) - limit
    return n_("{start} … ({n} more character)", "{start} … ({n} more characters)", more, start=plain[:limit])
