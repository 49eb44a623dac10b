"""Default trust signals and thresholds."""
