"""Watches one conversation for loops: told everything that happens, it says when to pause."""

from __future__ import annotations

from collections import deque

from msgspec.structs import replace

from ollm_tui.core.loop import LoopFound
from ollm_tui.engine.loops import evidence
from ollm_tui.engine.loops.allowances import Allowances
from ollm_tui.engine.loops.answers import Answer
from ollm_tui.engine.loops.chanting import Chant, Chanting
from ollm_tui.engine.loops.repeated_calls import Call, ToolCalls
from ollm_tui.engine.loops.replies import Replies
from ollm_tui.settings.schema import LoopDetection

MOST_PENDING = 256
"""Calls without an answer that are remembered."""
LONGEST_QUESTION = 100_000
"""Characters of the user's message that are looked at."""


class LoopDetector:
    """A loop is repetition without new information and without change of state.

    Once one is found every call returns it, and `paused` holds it, until the user speaks,
    goes on or allows it: whoever asks cannot miss it.
    """

    def __init__(self, settings: LoopDetection) -> None:
        self._settings = settings
        self._allowances = Allowances(settings.repeat_threshold, settings.max_turns)
        self._nudged = False
        self._question = ""
        self.paused: LoopFound | None = None
        """The loop that waits for an answer."""
        self._forget()

    def user_spoke(self, text: str) -> None:
        """A new turn: nothing counts any more but what is allowed for the session."""
        self._allowances.user_spoke(text)
        self._question = " ".join(text[:LONGEST_QUESTION].split())
        self._nudged = False
        self.paused = None
        self._forget()

    def round(self) -> LoopFound | None:
        """The model is asked once more in this turn."""
        self._rounds += 1
        self._chanting, self._streamed = Chanting(), False
        limit = self._allowances.rounds
        if self._rounds <= limit:
            return self.paused
        return self._told(
            LoopFound(
                type="turn-limit",
                evidence=evidence.too_many_rounds(self._rounds, limit),
                count=self._rounds,
                pattern="turn-limit",
            )
        )

    def tool_called(self, name: str, args: object, call_id: str = "") -> LoopFound | None:
        """The model wants a tool; to be told before it runs."""
        if not self._settings.enabled:
            return None
        call = Call.of(name, args, call_id)
        self._pending.append(call)
        self._called_since_reply = True
        return self._told(self._tools.called(call, self._allowances.limit))

    def tool_answered(
        self,
        call: str,
        result: str,
        *,
        is_error: bool = False,
        changed_state: bool | None = None,
    ) -> LoopFound | None:
        """A call, by its id or else its name, was answered; None: nobody knows what it did."""
        pending = self._take(call)
        if pending is None:
            return self.paused
        # To look for the same in another file is another question, unless that file is missing.
        asked = pending.words if is_error else pending.words - {pending.target}
        answer = Answer.of(result, is_error=is_error, asked=asked)
        found = self._tools.answered(
            pending, answer, changed=bool(changed_state), limit=self._allowances.limit
        )
        if self._tools.progress:
            self._allowances.something_new()
            if not self._settings.strict:
                self._replies = Replies()
        return self._told(found)

    def delta(self, text: str) -> LoopFound | None:
        """A piece of the reply as it streams."""
        self._streamed = True
        return self._told(self._chanted(self._chanting.feed(text, self._allowances.limit)))

    def output(self, text: str) -> LoopFound | None:
        """A reply is complete. One without words is none while the model works with tools."""
        limit = self._allowances.limit
        chant = None if self._streamed else self._chanting.feed(text, limit)
        chant = chant or self._chanting.finish(limit)
        self._chanting, self._streamed = Chanting(), False
        silent = self._called_since_reply and not text.strip()
        found = None if silent else self._replies.add(text, limit)
        self._called_since_reply = False
        return self._told(self._chanted(chant) or found)

    def allow(self, pattern: str) -> None:
        """Do not pause for this again in this session: a tool's name, or a loop's `pattern`."""
        self._allowances.allow(pattern)
        self.paused = None

    def go_on_once(self) -> None:
        """Go on; the next repetition pauses again."""
        if self.paused:
            self._allowances.go_on(self.paused)
            self.paused = None

    def _told(self, found: LoopFound | None) -> LoopFound | None:
        """The first loop stays until it is answered."""
        wanted = self._settings.enabled and found and not self._allowances.covers(found)
        if self.paused is None and wanted and found:
            nudge = self._settings.nudge and not self._nudged and found.type != "turn-limit"
            self._nudged = True
            self.paused = replace(found, nudge=nudge)
        return self.paused

    def _chanted(self, chant: Chant | None) -> LoopFound | None:
        """What the user's own message repeats may be repeated back."""
        if chant is None or self._question.count(" ".join(chant.unit.split())) > 1:
            return None
        return LoopFound(
            type="chanting",
            evidence=evidence.chanted(chant.unit, chant.times),
            count=chant.times,
            pattern="chanting",
        )

    def _take(self, call: str) -> Call | None:
        """The pending call of this id, or the oldest of this name."""
        by_id = (pending for pending in self._pending if pending.id and pending.id == call)
        by_name = (pending for pending in self._pending if pending.name == call)
        taken = next(by_id, None) or next(by_name, None)
        if taken:
            self._pending.remove(taken)
        return taken

    def _forget(self) -> None:
        self._tools = ToolCalls(strict=self._settings.strict)
        self._replies = Replies()
        self._chanting = Chanting()
        self._streamed = False
        self._called_since_reply = False
        self._pending: deque[Call] = deque(maxlen=MOST_PENDING)
        self._rounds = 0
