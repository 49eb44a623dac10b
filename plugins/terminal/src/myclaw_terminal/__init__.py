"""Chat, spinner and approval card in the terminal."""
