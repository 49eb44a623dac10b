"""Making a skill out of a failure."""
