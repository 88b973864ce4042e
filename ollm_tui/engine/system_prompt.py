"""What the model is told about itself, before anything else. Frozen when a session begins."""

from __future__ import annotations

DEFAULT_PROMPT = "You are a helpful assistant. Answer briefly and to the point."
"""Short on purpose: small local models follow one sentence better than a page."""
