"""Work that is done once a night: what it changes is in the event log, what it has to tell goes into the digest."""
