"""What people are shown in the same words whatever the channel."""
