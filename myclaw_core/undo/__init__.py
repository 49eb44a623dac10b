"""Taking actions back."""
