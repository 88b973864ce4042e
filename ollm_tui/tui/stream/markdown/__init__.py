"""Markdown that is drawn while it arrives."""
