"""Conversations with people who are elsewhere: who is served, what they wrote, and what is remembered of it."""
