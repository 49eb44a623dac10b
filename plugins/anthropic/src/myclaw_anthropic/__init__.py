"""Claude models through the official SDK."""
