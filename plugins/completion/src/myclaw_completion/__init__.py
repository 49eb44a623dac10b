"""What a shell reads to complete what can be typed."""
