"""The words about commands that the user or others brought."""

from __future__ import annotations

RUN_FIRST = "/{name} runs this and sends the output. Run it?"
NOTHING_SENT = "Nothing sent"
OF_PROJECT = "project"
"""Stands before the description of a command of the project."""

# Said in commands

TURNED_OFF = "it has been turned off"
