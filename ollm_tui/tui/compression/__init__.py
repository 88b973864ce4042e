"""Compression on the screen: watched, previewed, edited, undone."""
