"""Paths and file handles: what the policy judges is what a tool touches."""
