"""Two neurons, one question, one critic."""
