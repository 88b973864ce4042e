"""Which window a session gets: asked for, allocated, or as large as is sensible here."""

from __future__ import annotations

import os
from typing import Literal

from ollm_tui.core.provider import Capabilities

AUTOMATIC_WINDOW = 8192
"""Local models take memory for their window; this much fits nearly everywhere."""
SMALLEST_WINDOW, LARGEST_WINDOW = 2048, 32_768
"""What is chosen unasked stays within these: longer prompts take minutes to read on a CPU."""
MEMORY_SHARE = 8
"""The window may take one part in so many of the memory; the model needs the most of it."""


def choose_window(
    wanted: int | Literal["auto"] | None, capabilities: Capabilities, memory: int | None = None
) -> int | None:
    """The window to send with every request of a session; None where the server has its own.

    What the user asked for is only ever limited by what the model was made for. What is
    loaded stays: another window would reload the model.
    """
    largest = capabilities.max_window
    if isinstance(wanted, int):
        return min(wanted, largest) if largest else wanted
    if capabilities.window:
        return capabilities.window
    if not largest:
        return None
    return min(largest, _fitting(capabilities.window_bytes_per_token, memory))


def machine_memory() -> int | None:
    """The memory of this machine in bytes, where the system says so."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def _fitting(bytes_per_token: int | None, memory: int | None) -> int:
    """The largest power of two whose cache takes its share of the memory at most."""
    if not bytes_per_token or not memory:
        return AUTOMATIC_WINDOW
    room = memory // MEMORY_SHARE // bytes_per_token
    window = 1 << max(0, room.bit_length() - 1)
    return min(max(window, SMALLEST_WINDOW), LARGEST_WINDOW)
