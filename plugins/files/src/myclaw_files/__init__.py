"""File tools that can be undone."""
