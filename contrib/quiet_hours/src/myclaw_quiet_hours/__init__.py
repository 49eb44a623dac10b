"""Between two hours nothing is changed without a question."""
