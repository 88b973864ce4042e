"""The words that several features say alike."""

from __future__ import annotations

STILL_ANSWERING = "Still answering"
STOP_FIRST = "Esc stops it"
