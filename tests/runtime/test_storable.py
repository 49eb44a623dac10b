"""Messages of plugins are kept as messages: one line, bounded, without secrets, and still to be translated."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from myclaw_core import codec
from myclaw_core.errors import MyclawError, ToolFailure
from myclaw_core.messages import N_
from myclaw_core.redact import contains_secret
from myclaw_core.runtime.received import received_error
from myclaw_core.runtime.storable import storable_line
from myclaw_core.types.text import Text

TOKEN = "ghp" + "_" + "16C7e42F292c6912E7710c838347Ae178B4a"
MASK = "«redacted:github-token»"

texts = st.text(st.sampled_from(f"a {{}}%\n\t\udc80=\x00«»{TOKEN[-6:]}"), max_size=30) | st.just(TOKEN)
values = texts | st.integers() | st.floats() | st.booleans() | st.none() | st.binary()
messages = st.recursive(
    st.builds(Text, texts, st.dictionaries(st.sampled_from("abc"), values, max_size=3)),
    lambda inner: st.builds(
        Text, st.sampled_from(["{a}", "no {a}: {b}"]), st.dictionaries(st.sampled_from("ab"), inner)
    ),
    max_leaves=4,
)


def stored(message: Text) -> Text:
    """Return a message as it is read back from the record."""
    return codec.loads(Text, codec.dumps(message), "message")


@given(messages)
def test_any_message_becomes_one_line_that_can_be_stored(message: Text) -> None:
    """It is read back as it was written, shows no secret, and making it storable again changes nothing."""
    line = storable_line(message)

    assert stored(line) == line
    assert not contains_secret(str(line))
    assert not contains_secret(codec.dumps(line).decode())
    assert len(str(line)) <= 2000
    assert "\n" not in str(line)
    assert storable_line(line) == line


def test_a_message_stays_one_that_can_be_translated() -> None:
    """With its values, and so do the messages inside it."""
    message = N_("stopped: {reason}", reason=N_("{n} of {path}", n=3, path="/srv/a.md"))

    assert storable_line(message) == message


def test_a_secret_in_a_value_is_masked_however_deep_it_lies() -> None:
    """The sentence around it stays a message."""
    line = storable_line(N_("stopped: {reason}", reason=N_("{url} is away", url=f"https://{TOKEN}@example.org/a")))

    assert line == N_("stopped: {reason}", reason=N_("{url} is away", url=f"https://{MASK}@example.org/a"))


def test_a_secret_that_only_the_whole_sentence_gives_away_leaves_plain_english() -> None:
    """No part of it looks like one."""
    line = storable_line(N_("the server got Authorization: Bearer {word}", word="hunter2-and-some-more"))

    assert "hunter2" not in str(line)
    assert line.params == {}


def test_lines_are_joined_and_bounded_in_every_part() -> None:
    """So is the sentence as a whole."""
    short = storable_line(N_("it said: {words}", words="a\n  b\r\n\tc" + " " * 5000))
    long = storable_line(N_("it said: {words}", words="x " * 5000))

    assert short == N_("it said: {words}", words="a b c")
    assert long.params == {}
    assert len(str(long)) == 2000


@pytest.mark.parametrize("value", [True, None, math.nan, -math.inf, 2**63, b"\xff", ["a"], "\udc80"])
def test_a_value_that_no_record_can_hold_becomes_text(value: object) -> None:
    """What a plugin puts into a message is its own business."""
    line = storable_line(Text("got {value}", {"value": value}))  # type: ignore[dict-item]

    assert isinstance(line.params["value"], str)
    assert stored(line) == line


def endless() -> Text:
    """Return a message that holds itself."""
    params: dict[str, Text | str] = {}
    params["reason"] = Text("{reason}", params)
    return params["reason"]


class BareError(MyclawError):
    """An error of a plugin that leaves out what its class would have done."""

    def __init__(self) -> None:
        pass


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ToolFailure(N_("there is no {path}", path="a.md")), N_("there is no {path}", path="a.md")),
        (ToolFailure("exit code 3"), Text("exit code 3")),
        (ValueError("not a\nnumber"), Text("ValueError: not a number")),
        (ValueError(), Text("ValueError")),
        (BareError(), Text("BareError")),
        (ToolFailure(Text("{n}", {"n": 10**5000})), Text("ToolFailure")),
        (ToolFailure(endless()), Text("ToolFailure")),
        (ToolFailure(7), Text("ToolFailure")),  # type: ignore[arg-type]
    ],
)
def test_whatever_a_plugin_raises_is_one_line(error: Exception, line: Text) -> None:
    """Our own errors keep their message; others name their type."""
    assert received_error(error) == line
