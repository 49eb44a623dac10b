"""Models in GGUF files on this machine, in a process of their own."""
