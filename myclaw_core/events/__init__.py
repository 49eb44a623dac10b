"""The chained event log in the one core database."""
