"""What is remembered between sessions."""
