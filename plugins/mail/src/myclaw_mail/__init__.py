"""Mail by way of the outbox."""
