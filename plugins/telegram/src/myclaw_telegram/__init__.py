"""Conversations and approvals on Telegram."""
