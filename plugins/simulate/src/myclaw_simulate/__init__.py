"""Months of a household's work, lived through in seconds."""
