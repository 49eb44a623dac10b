"""How alike texts are, by a small multilingual model on this machine."""
