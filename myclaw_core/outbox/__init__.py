"""What goes out waits here first, so that it can be recalled, and is sent at most once."""
