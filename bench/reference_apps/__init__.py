"""The least programs that do a part of the work: what the full one is measured against."""

READY = "Type here"
"""What their empty prompts show."""
