"""The events of what runs now in a conversation, so that it can be shown when it is looked at."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from ollm_tui.core.events import (
    AnyTurnEvent,
    Prepared,
    Queued,
    ReasoningArrived,
    TextArrived,
    TurnStarted,
)
from ollm_tui.core.session.message import Message
from ollm_tui.core.tool_events import ToolOutputArrived

KEPT_OF_OUTPUT = 20_000
"""Characters kept of what a running call prints; all of it can be read when it is over."""

Growing = TextArrived | ReasoningArrived | ToolOutputArrived


class Moment(NamedTuple):
    """An event, and when it came on the clock of `time.monotonic`."""

    at: float
    event: AnyTurnEvent


class EventsSoFar:
    """Keeps events in order. Words that continue each other are joined, so a long answer takes
    little more room than its text."""

    def __init__(self) -> None:
        self._moments: list[Moment] = []
        self._words: list[str] = []
        """The pieces of the last event, where that one grows."""

    def note(self, event: AnyTurnEvent) -> None:
        """Add an event."""
        last = self._moments[-1].event if self._moments else None
        if isinstance(event, Growing) and isinstance(last, Growing) and _continues(last, event):
            self._words.append(event.text)
            return
        self._join()
        if isinstance(last, Prepared | Queued) and type(last) is type(event):
            self._moments.pop()  # only the last word on what is waited for matters
        self._moments.append(Moment(time.monotonic(), event))
        self._words = [event.text] if isinstance(event, Growing) else []

    @property
    def question(self) -> Message | None:
        """The message that is being answered; None while no turn runs."""
        begun = (each.event for each in self._moments)
        return next((each.user_message for each in begun if isinstance(each, TurnStarted)), None)

    def all(self) -> Sequence[Moment]:
        """Return what was noted, the oldest first."""
        self._join()
        return tuple(self._moments)

    def clear(self) -> None:
        """Forget everything: what ran is over, and the record of the session tells of it."""
        self._moments.clear()
        self._words.clear()

    def _join(self) -> None:
        if len(self._words) < 2:
            return
        at, event = self._moments[-1]
        if isinstance(event, Growing):
            text = "".join(self._words)
            if isinstance(event, ToolOutputArrived):
                text = text[-KEPT_OF_OUTPUT:]
            self._moments[-1] = Moment(at, replace(event, text=text))
            self._words = [text]


def _continues(last: Growing, event: Growing) -> bool:
    """Whether an event only adds words to the one before it."""
    return type(last) is type(event) and _owner(last) == _owner(event)


def _owner(event: Growing) -> str:
    return event.call_id if isinstance(event, ToolOutputArrived) else event.message_id
