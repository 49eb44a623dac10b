"""What model calls may cost."""
