"""A longer context: what a new message, and a word more of a reply, cost in a long session."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

from bench.measure import Outcome, Promise, interleaved
from bench.sample_sessions import sample_messages
from ollm_tui.core import clock
from ollm_tui.core.session.record import MessageAdded
from ollm_tui.core.session.session import Session
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.engine.context.session_context import SessionContext
from ollm_tui.engine.conversation.model_choice import ModelChoice
from ollm_tui.providers.scripted import Scripted
from ollm_tui.services.tokens.counter import TokenCounters
from ollm_tui.settings.schema import Settings
from ollm_tui.tui.gauge.gauge_line import Reading, gauge_line

SHORT, LONG = 1_000, 10_000
WINDOW = 100_000_000
"""All of it fits: what is measured is a context that is never compressed."""
ROUNDS, MESSAGES, WORDS = 21, 20, 500
"""Messages and words of one measurement; so few that a session stays about as long as it is."""
EARLY, LATE = 500, 20_000
"""Words of a reply that are there already."""
GAUGE_CELLS = 118
MESSAGE = Promise(
    f"assembly, count and budget for a message in a session of {LONG:,}", f"of {SHORT:,}", 2
)
WORD = Promise(f"the gauge for a word of a reply in a session of {LONG:,}", f"of {SHORT:,}", 1.5)
LATE_WORD = Promise(f"the gauge for a word at {LATE:,} of a reply", f"at {EARLY}", 1.5)
PROMISES = (MESSAGE, WORD, LATE_WORD)


def main() -> list[Outcome]:
    """Measure a short and a long session, taking turns."""
    short, long = Growing(SHORT), Growing(LONG)
    messages = _seconds({"short": short.add_messages, "long": long.add_messages}, MESSAGES)
    short.begin_reply()
    long.begin_reply()
    early = _seconds({"short": short.add_words, "long": long.add_words}, WORDS)
    long.write(LATE)
    short.begin_reply()
    short.write(EARLY)
    words = _seconds({"early": short.add_words, "late": long.add_words}, WORDS)
    for what, seconds in (("message", messages), ("word", early), ("word", words)):
        times = ", ".join(f"{name} {value * 1e6:.0f} µs" for name, value in seconds.items())
        print(f"a {what}: {times}")
    return [
        Outcome(MESSAGE, messages["long"] / messages["short"]),
        Outcome(WORD, early["long"] / early["short"]),
        Outcome(LATE_WORD, words["late"] / words["early"]),
    ]


class Growing:
    """A session that becomes longer, and its context."""

    def __init__(self, length: int) -> None:
        moment = clock.now()
        self._messages = sample_messages()
        self._state = SessionState(Session("s", moment, moment, "sample", "scripted"))
        choice = ModelChoice(Scripted(), "sample", WINDOW)
        self._context = SessionContext(self._state, choice, TokenCounters(None), Settings())
        for _ in range(length):
            self._say()
        self._reading = Reading.of(self._context.view())

    def add_messages(self) -> float:
        """Some messages more, each with all that the screen shows of the context."""
        start = time.process_time()
        for _ in range(MESSAGES):
            self._say()
            gauge_line(Reading.of(self._context.view()), GAUGE_CELLS)
        return time.process_time() - start

    def begin_reply(self) -> None:
        """The prompt goes out; from now on words arrive."""
        self._context.sent(self._context.count())
        self._reading = Reading.of(self._context.view())

    def write(self, words: int) -> None:
        """That many words arrived without anybody looking."""
        self._context.live.add("word " * words)

    def add_words(self) -> float:
        """Some words more, the gauge drawn after each."""
        start = time.process_time()
        for _ in range(WORDS):
            self._context.live.add("word ")
            count = self._context.live.count or self._context.count()
            gauge_line(self._reading.grown(count.total), GAUGE_CELLS)
        return time.process_time() - start

    def _say(self) -> None:
        added = MessageAdded(at=clock.now(), message=next(self._messages))
        self._state.apply(added, self._state.header.journal_seq + 1)


def _seconds(subjects: dict[str, Callable[[], float]], times: int) -> dict[str, float]:
    """The CPU seconds of one step of each."""
    runs = interleaved(subjects, ROUNDS)
    return {name: median(seconds) / times for name, seconds in runs.items()}
