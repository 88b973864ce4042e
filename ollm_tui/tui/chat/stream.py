"""The chat stream with its keys: the transcript as the chat screen shows it."""

from __future__ import annotations

from ollm_tui.tui.commands import bindings
from ollm_tui.tui.stream.transcript.transcript import Transcript


class Stream(Transcript):
    """While it has the focus, letters are commands."""

    BINDINGS = bindings("stream")
