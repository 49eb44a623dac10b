"""Tries on the live configuration and plugins what myclaw promises: many random cases, nothing run, nothing written."""
