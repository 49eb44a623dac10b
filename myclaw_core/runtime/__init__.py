"""The loop of one turn."""
