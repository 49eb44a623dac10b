"""Hook implementations; their bodies are imported at first use."""
