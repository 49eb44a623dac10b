"""Shell commands in the sandbox."""
