"""Looks an installation over and says what to do; it works on a damaged one and changes nothing."""
