"""Questions put to a person and their answers."""
