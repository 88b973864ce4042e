"""Bytes on disk: knows formats, decides nothing."""
