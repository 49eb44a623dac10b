"""What may stand in `[telegram]`; the bot's token comes from the environment or a file of its own."""

from myclaw_core.config import ConfigKey, ConfigSchema
from myclaw_core.messages import N_

__all__ = ["SCHEMA"]

SCHEMA = ConfigSchema(
    section="telegram",
    keys=(
        ConfigKey(
            name="groups",
            kind="list[str]",
            default=(),
            help=N_("Ids of groups in which messages of paired people are read; none by default."),
        ),
        ConfigKey(
            name="poll_timeout_s",
            kind="int",
            default=30,
            help=N_("How long Telegram holds a question for new messages open."),
            minimum=1,
            maximum=50,
        ),
        ConfigKey(
            name="api_url",
            kind="str",
            default="",
            help=N_("Address of a Bot API server of your own; empty takes Telegram's."),
        ),
    ),
)
"""Conversations and approvals on Telegram."""
