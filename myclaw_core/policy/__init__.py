"""The only door to an action."""
