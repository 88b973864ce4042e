"""What another model makes of the context, in words: before it is chosen, and after."""

from __future__ import annotations

from ollm_tui.core.counts import short_count
from ollm_tui.engine.context.context_view import ContextView


def effect_words(view: ContextView) -> str:
    """How full the window of a model would be."""
    room = view.budget.room
    if room is None:
        return "its server does not say how large its window is"
    window = f"window {short_count(room.window)}"
    if not view.budget.parts.conversation:
        return window
    used = f"{_about(view)}{short_count(view.count.tokens)}"
    if view.budget.over_limit:
        then = "the next message will be refused until something is folded"
        if not view.refuses:
            then = "it is compressed before the next message"
        fit = short_count(room.limit)
        return f"{window}: the context is too long for it: {used}, {fit} fit: {then}"
    return f"{window}: the context takes {used} of {short_count(room.window)}, {room.percent} %"


def change_words(before: ContextView, after: ContextView) -> str:
    """What is different now: the window, and how much of it is taken."""
    windows = dict.fromkeys(map(_window, (before, after)))
    shares = dict.fromkeys(map(_share, (before, after)))
    return f"window {' → '.join(windows)}, context {' → '.join(shares)}"


def _window(view: ContextView) -> str:
    return f"{view.budget.room.window:,}" if view.budget.room else "unknown"


def _share(view: ContextView) -> str:
    room = view.budget.room
    return f"{_about(view)}{room.percent} %" if room else f"{view.count.total} tokens"


def _about(view: ContextView) -> str:
    return "≈" if view.count.source == "estimated" else ""
