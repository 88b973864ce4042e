"""The loop detector of one conversation: it is told every event and says when to pause."""

from __future__ import annotations

from collections import deque

from msgspec.structs import replace

from ollm_tui.core.loop import LoopFound
from ollm_tui.engine.loops import evidence
from ollm_tui.engine.loops.allowances import ALL_ROUNDS, STALE_ROUNDS, Allowances
from ollm_tui.engine.loops.answers import Answer
from ollm_tui.engine.loops.calls import Call
from ollm_tui.engine.loops.chanting import Chant, Chanting
from ollm_tui.engine.loops.repeated_calls import ToolCalls
from ollm_tui.engine.loops.replies import Replies
from ollm_tui.settings.schema import LoopDetection

MOST_PENDING = 256
"""Calls without an answer that are remembered."""
LONGEST_QUESTION = 100_000
"""Characters of the user's message that are searched for what a reply repeats."""


class LoopDetector:
    """Detects loops: repetition without new information and without a change of state.

    Once a loop is found, every method returns it and `paused` holds it until the user speaks,
    goes on or allows it, so that no caller can miss it.
    """

    def __init__(self, settings: LoopDetection) -> None:
        self._settings = settings
        self._allowances = Allowances(settings)
        self._nudged = False
        """Whether a loop was found in this turn: the model is told of the first one only."""
        self._question = ""
        self.paused: LoopFound | None = None
        """The loop that waits for an answer of the user."""
        self._forget()

    def user_spoke(self, text: str) -> None:
        """Begin a new turn: only what is allowed for the session still counts."""
        self._allowances.user_spoke(text)
        self._question = " ".join(text[:LONGEST_QUESTION].split())
        self._nudged = False
        self.paused = None
        self._forget()

    def round(self) -> LoopFound | None:
        """Begin one more round of this turn, which is stale until it brings something new."""
        self._chanting, self._streamed = Chanting(), False
        self._rounds += 1
        self._stale_rounds += 1
        self._is_stale = True
        allowed = self._allowances
        if self._stale_rounds > allowed.stale_rounds:
            return self._pause_for(self._too_long(STALE_ROUNDS, self._stale_rounds))
        if self._rounds > allowed.rounds:
            return self._pause_for(self._too_long(ALL_ROUNDS, self._rounds))
        return self.paused

    def _too_long(self, pattern: str, rounds: int) -> LoopFound:
        stale = pattern == STALE_ROUNDS and not self._settings.strict
        words = evidence.stale_rounds(rounds) if stale else evidence.rounds(rounds)
        return LoopFound(type="turn-limit", evidence=words, count=rounds, pattern=pattern)

    def tool_called(self, name: str, args: object, call_id: str = "") -> LoopFound | None:
        """Take note of a call, before the tool runs."""
        if not self._settings.enabled:
            return None
        call = Call.of(name, args, call_id)
        self._pending.append(call)
        self._called_since_reply = True
        return self._pause_for(self._tools.called(call, self._allowances.limit))

    def tool_answered(
        self,
        call: str,
        result: str,
        *,
        is_error: bool = False,
        changed_state: bool | None = None,
    ) -> LoopFound | None:
        """Take note of the answer to a call, which is given by its id or else its name.

        `changed_state` is None where it is not known what the tool did.
        """
        pending = self._take(call)
        if pending is None:
            return self.paused
        answer = Answer.of(result, is_error=is_error, asked=pending.words)
        found = self._tools.answered(
            pending, answer, changed=bool(changed_state), limit=self._allowances.limit
        )
        if self._tools.progress:
            self._allowances.something_new()
            if not self._settings.strict:
                self._replies = Replies()
                self._stale_rounds -= self._is_stale
                self._is_stale = False
        return self._pause_for(found)

    def delta(self, text: str) -> LoopFound | None:
        """Take a piece of the reply as it streams."""
        self._streamed = True
        return self._pause_for(self._chanted(self._chanting.feed(text, self._allowances.limit)))

    def output(self, text: str) -> LoopFound | None:
        """Take note of a complete reply; one without words does not count beside tool calls."""
        limit = self._allowances.limit
        chant = None if self._streamed else self._chanting.feed(text, limit)
        chant = chant or self._chanting.finish(limit)
        self._chanting, self._streamed = Chanting(), False
        silent = self._called_since_reply and not text.strip()
        found = None if silent else self._replies.add(text, limit)
        self._called_since_reply = False
        return self._pause_for(self._chanted(chant) or found)

    def allow(self, pattern: str) -> None:
        """Never pause for this again in this session: a tool's name or a loop's `pattern`."""
        self._allowances.allow(pattern)
        self.paused = None

    def go_on_once(self) -> None:
        """End the pause; the next repetition pauses again."""
        if self.paused:
            self._allowances.go_on(self.paused)
            self.paused = None

    def _pause_for(self, found: LoopFound | None) -> LoopFound | None:
        """Pause for a loop, unless it is allowed or another one is waiting; return the pause."""
        counts = self._settings.enabled and found and not self._allowances.covers(found)
        if self.paused is None and counts and found:
            nudge = self._settings.nudge and not self._nudged and found.type != "turn-limit"
            self._nudged = True
            self.paused = replace(found, nudge=nudge)
        return self.paused

    def _chanted(self, chant: Chant | None) -> LoopFound | None:
        """Return a chant as a loop, unless the user's own message repeats the same words."""
        if chant is None or self._question.count(" ".join(chant.unit.split())) > 1:
            return None
        return LoopFound(
            type="chanting",
            evidence=evidence.chanted(chant.unit, chant.times),
            count=chant.times,
            pattern="chanting",
        )

    def _take(self, call: str) -> Call | None:
        """Remove and return the pending call of this id, or else the oldest of this name."""
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
        self._rounds = self._stale_rounds = 0
        self._is_stale = False
