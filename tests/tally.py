"""Counts what many small steps have done, for tests that tell how often something was tried."""

from __future__ import annotations


class Tally:
    """A number that only grows."""

    def __init__(self) -> None:
        self.count = 0

    def add(self) -> None:
        """Count one more."""
        self.count += 1
