"""The transcript: one widget for all messages, which draws only the lines in view."""
