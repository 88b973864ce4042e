"""Which window a session gets: asked for, allocated, or as large as is sensible here."""

from __future__ import annotations

from typing import Literal

from ollm_tui.core.provider import Capabilities

AUTOMATIC_WINDOW = 8192
"""Local models take memory for their window; this much fits nearly everywhere."""


def choose_window(wanted: int | Literal["auto"] | None, capabilities: Capabilities) -> int | None:
    """The window to send with every request of a session; None where the server has its own.

    What the user asked for is only ever limited by what the model was made for.
    """
    largest = capabilities.max_window
    if isinstance(wanted, int):
        return min(wanted, largest) if largest else wanted
    if capabilities.window:
        return capabilities.window
    return min(largest, AUTOMATIC_WINDOW) if largest else None
