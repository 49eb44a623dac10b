"""The sandbox of myclaw, by bubblewrap."""
