"""The smallest plugin of myclaw."""
