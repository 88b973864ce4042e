"""The texts of the help, the palette and the log."""

from __future__ import annotations

# Said in commands

LOG_EMPTY = "The log is empty."
LOG_KEYS = "Esc close"
PALETTE_KEYS = "Enter run   ↑↓ move   Esc close"

# Said in screen

FIND_PLACEHOLDER = "Type to find a key or command"
