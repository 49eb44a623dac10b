"""Which of two answers is the better one, by a model on this machine."""
