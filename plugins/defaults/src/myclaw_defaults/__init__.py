"""Default trust signals, thresholds and parts of the reward."""
