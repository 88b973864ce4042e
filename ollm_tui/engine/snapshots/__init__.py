"""Snapshots of a conversation, and every point one can go back to."""
