"""Event log and trust store on SQLite."""
