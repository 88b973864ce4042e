"""The keys that do something with a message that was found, in the list and in its place."""

from __future__ import annotations

from textual.binding import Binding

HIT_KEYS = (
    Binding("f", "screen.do('fork')", "Fork", id="hits.fork", tooltip="A new session from there"),
    Binding("r", "screen.do('restore')", "Restore", id="hits.restore", tooltip="Go back to there"),
    Binding("q", "screen.do('quote')", "Quote", id="hits.quote", tooltip="Into the prompt"),
    Binding("y", "screen.do('copy')", "Copy", id="hits.copy", tooltip="Copy the message"),
    Binding("x", "screen.do('export')", "Export", id="hits.export", tooltip="Into a file"),
)
