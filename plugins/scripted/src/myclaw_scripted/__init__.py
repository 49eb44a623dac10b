"""A model that plays recorded turns from a file."""
