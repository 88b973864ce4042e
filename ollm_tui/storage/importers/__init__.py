"""Data of earlier programs, read into today's values and never altered where it lies."""

from ollm_tui.storage.importers.older_sessions import older_session

__all__ = ("older_session",)
