"""The words of a session shown beside another one."""

from __future__ import annotations

HINTS = "q quote   g attach   Tab prompt   Esc close"
READ_ONLY = "read-only"
LIVE = "read-only · live"
NO_ROOM = "Window too small: /beside needs {} columns or {} lines"
NOTHING_HERE = "That is the current session"
HOW = "/beside ID or TITLE; /beside off closes it"
QUOTED = "Quoted into the prompt."
BROUGHT = "Attached to your next message."
CLOSED = "Closed {}."
EMPTY = "No message selected."

# Said in commands

F3_SHOWS_IT = "F3 shows it"
NO_SESSION_BESIDE_THIS_ONE = "No session beside this one"
