"""How alike two short texts are: what turns them into vectors, the core's own way to do so, and what is kept."""
