"""The size of a window as people type it: 16k, 8192 or auto."""

from __future__ import annotations

import re

from ollm_tui.core.errors import UsageError
from ollm_tui.core.intake import visible
from ollm_tui.engine.conversation.model_choice import ModelChoice, ModelChooser

SMALLEST = 1024
"""Tokens: in less there is no room for an answer."""
HOW_TO_RESIZE = "/window 4k or auto"
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(k?)", re.IGNORECASE)


async def window_size(text: str, choice: ModelChoice, models: ModelChooser) -> int:
    """Return the size that is meant, within what the model was made for. UsageError if that is no
    size, or if the server alone decides."""
    if not choice.resizable:
        raise UsageError(f"{visible(choice.provider.name)} sets the window itself", "")
    if text == "auto":
        again = await models.choose(choice.provider.name, choice.model)
        return again.window or choice.window or SMALLEST
    found = _SIZE.fullmatch(text)
    if not found:
        raise UsageError(f"{visible(text)!r} is not a window size", HOW_TO_RESIZE)
    tokens = round(float(found[1]) * (1024 if found[2] else 1))
    if tokens < SMALLEST:
        raise UsageError(f"The smallest window is {SMALLEST:,} tokens", HOW_TO_RESIZE)
    return min(tokens, choice.largest_window) if choice.largest_window else tokens
