"""What happened in a turn, written down as data, and played to a detector."""

from __future__ import annotations

from typing import Any, NamedTuple

from ollm_tui.core.loop import LoopFound
from ollm_tui.engine.loops.detector import LoopDetector
from ollm_tui.settings.schema import LoopDetection

CHUNK = 7
"""Characters of a piece of a streamed reply."""


class User(NamedTuple):
    """The user wrote."""

    text: str


class Say(NamedTuple):
    """The model gave a whole reply."""

    text: str


class Stream(NamedTuple):
    """The model wrote a reply piece by piece."""

    text: str


class Do(NamedTuple):
    """The model called a tool; without a result nobody knows what came of it."""

    name: str
    args: dict[str, Any]
    result: str | None = None
    changed: bool | None = None
    is_error: bool = False


Event = User | Say | Stream | Do


class Trace(NamedTuple):
    """A turn and what a person would call it."""

    name: str
    is_loop: bool
    events: list[Event]


def play(detector: LoopDetector, events: list[Event]) -> LoopFound | None:
    """Tell a detector of everything until it pauses."""
    for event in events:
        if found := _tell(detector, event):
            return found
    return None


def found_in(events: list[Event]) -> LoopFound | None:
    """What a detector with the usual settings finds."""
    return play(LoopDetector(LoopDetection()), events)


def _tell(detector: LoopDetector, event: Event) -> LoopFound | None:
    match event:
        case User(text):
            detector.user_spoke(text)
            return None
        case Say(text):
            return detector.output(text)
        case Stream(text):
            for at in range(0, len(text), CHUNK):
                if found := detector.delta(text[at : at + CHUNK]):
                    return found
            return detector.output(text)
        case Do(name, args, result, changed, is_error):
            found = detector.round() or detector.tool_called(name, args)
            if found or result is None:
                return found
            return detector.tool_answered(name, result, is_error=is_error, changed_state=changed)
