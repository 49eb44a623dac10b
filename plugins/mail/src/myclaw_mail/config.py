"""What may stand in `[mail]`; the password comes from the environment or a file of its own."""

from myclaw_core.config import ConfigKey, ConfigSchema
from myclaw_core.messages import N_

__all__ = ["SCHEMA"]

SCHEMA = ConfigSchema(
    section="mail",
    keys=(
        ConfigKey(
            name="host",
            kind="str",
            default="",
            help=N_("Mail server that takes what is sent."),
        ),
        ConfigKey(
            name="port",
            kind="int",
            default=None,
            help=N_("Its port; unset it is the usual one of `security`: 587, 465 or 25."),
            minimum=1,
            maximum=65535,
        ),
        ConfigKey(
            name="security",
            kind="str",
            default="starttls",
            help=N_("How the connection is encrypted; `none` only for a server on this machine."),
            choices=("starttls", "tls", "none"),
        ),
        ConfigKey(name="user", kind="str", default="", help=N_("User to log in as; empty logs in as nobody.")),
        ConfigKey(name="from_address", kind="str", default="", help=N_("Address that mail is sent from.")),
        ConfigKey(
            name="ca_file",
            kind="str",
            default="",
            help=N_("File of the certificates to trust in place of the system's, for a server of your own."),
        ),
        ConfigKey(
            name="timeout_s",
            kind="float",
            default=30.0,
            help=N_("Longest silence of the mail server, in seconds."),
            minimum=1,
            maximum=600,
        ),
    ),
)
