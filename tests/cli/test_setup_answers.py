"""What a person answers to `myclaw setup`."""

from myclaw_core.cli.setup_answers import Answers


def test_no_key_and_no_token_is_in_what_a_log_may_show() -> None:
    """Also where the answers stand in the text of an error."""
    shown = repr(Answers(provider="anthropic", key="sk-of-mine", token="42:OF-MINE"))

    assert "anthropic" in shown
    assert "OF-MINE" not in shown.upper()
