"""The graph of neurons."""
