"""Repeated tool calls: whether the answers and changes of calls bring anything new."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, cast

from ollm_tui.core.loop import LoopFound
from ollm_tui.engine.loops import evidence, waiting
from ollm_tui.engine.loops.answers import Answer
from ollm_tui.engine.loops.canonical import call_digest, shape_digest, without_remarks
from ollm_tui.engine.loops.normalising import words_of
from ollm_tui.engine.loops.novelty import PagesSeen, SameAnswers
from ollm_tui.engine.loops.periods import LONGEST_PERIOD, Periods, Round, Step

PATIENCE = 3
"""Factor of the limit for failures after changes: each change was a new idea, if a small one."""
MOST_TARGETS = 2
"""Files whose changes count as attempts at one thing; more of them are work on many files."""
MOST_SEEN = 256
"""Answers of checks that are remembered."""
_PATH_NAMES = ("path", "file", "file_path", "filename")

MOST_POLLS = 30
"""Unchanged answers in a row that are accepted while something is under way."""
REMEMBERED = 1024
"""Answers, changes and polls that are remembered."""


class Call(NamedTuple):
    """A call that was made, with all that is compared of it."""

    id: str
    name: str
    digest: str
    shape: str
    """A digest that is equal for calls that differ only in numbers."""
    shown: str
    target: str
    words: frozenset[str]
    sleeps: bool
    waits: bool

    @classmethod
    def of(cls, name: str, args: object, call_id: str) -> Call:
        """Read a call once; its arguments are not kept."""
        args = without_remarks(args)
        return cls(
            id=call_id,
            name=name,
            digest=call_digest(name, args),
            shape=shape_digest(name, args),
            shown=evidence.shown_call(name, args),
            target=target_of(args),
            words=words_of(waiting.texts(args)),
            sleeps=waiting.sleeps(name, args),
            waits=waiting.waits(args),
        )


class ToolCalls:
    """The calls since the user last spoke: what they answered, and whether that was new."""

    def __init__(self, *, strict: bool) -> None:
        self._strict = strict
        self._unanswered = Periods()
        self._answered = Periods()
        self._seen: dict[str, None] = {}
        self._changes: dict[str, None] = {}
        self._polls: dict[str, tuple[str, int]] = {}
        self._same = SameAnswers()
        self._pages = PagesSeen()
        self._failing = FailingChecks()
        self._stale = 0
        self._slept = False
        self.progress = False
        """Whether the last answer brought something new."""

    def called(self, call: Call, limit: int) -> LoopFound | None:
        """Take note of a call. Calls alone count while none is answered; in strict mode always."""
        self._unanswered.add(Step(call.digest, call.name, call.shown))
        found = self._unanswered.repeated(limit)
        return _round_found(found, None) if found else None

    def answered(
        self, call: Call, answer: Answer, *, changed: bool, limit: int
    ) -> LoopFound | None:
        """Take note of an answer. Something new in it ends every repetition."""
        if not self._strict:
            self._unanswered = Periods()
        step = Step(call.digest + answer.digest, call.name, call.shown)
        if changed and _added(self._changes, call.digest):
            self._change(step, call.target)
            return None
        if self._is_waiting(call, answer):
            return self._polled(call, answer, limit)
        self._answered.add(step)
        known = not _added(self._seen, step.digest)
        read = self._pages.add(call.shape, call.digest, answer.text)
        same = self._same.add(call.name, call.digest, answer)
        failed = self._failing.add(step.digest, call.target)
        self.progress = not (known or read or same)
        if self.progress:
            self._something_new()
            return self._failed(call, answer, failed, limit)
        self._stale += 1
        return self._judged(call, answer, limit)

    def _failed(self, call: Call, answer: Answer, times: int, limit: int) -> LoopFound | None:
        """Return a loop if the same failure came after change upon change."""
        if times <= PATIENCE * limit or not answer.fails:
            return None
        words = evidence.failed_again(call.shown, times)
        return _tool_found(call, words, times, call.digest + answer.digest)

    def _judged(self, call: Call, answer: Answer, limit: int) -> LoopFound | None:
        """Return the loop that an answer without anything new completes, if it does."""
        patient = 2 * limit if waiting.asks_to_come_later(answer.text) else limit
        if found := self._answered.repeated(patient):
            return _round_found(found, answer.shown)
        same = self._same.times(call.name)
        if same >= (limit if answer.weight == "full" else 2 * limit - 1):
            words = evidence.same_result(call.name, same, answer.shown)
            return _tool_found(call, words, same, f"answers of {call.name}")
        read = self._pages.times(call.shape)
        if read >= limit:
            words = evidence.read_again(call.shown, read)
            return _tool_found(call, words, read, call.shape)
        if self._stale >= LONGEST_PERIOD * limit:
            return LoopFound(
                type="repeated-cycle",
                evidence=evidence.nothing_new(self._stale),
                count=self._stale,
                pattern="nothing-new",
            )
        return None

    def _change(self, step: Step, target: str) -> None:
        """Take note of a new change. What was known of the state no longer holds."""
        self.progress = True
        self._failing.changed(target)
        self._answered.add(step, fresh=True)
        self._stale = 0
        # The failing checks stay: that a check fails again after a change is what they count.
        self._seen.clear()
        self._polls.clear()
        self._same.forget()
        self._pages.forget()

    def _something_new(self) -> None:
        self._stale = 0
        self._polls.clear()
        self._same.something_new()
        self._pages.something_new()

    def _is_waiting(self, call: Call, answer: Answer) -> bool:
        # The call after a bare sleep is the poll that the model slept for.
        slept, self._slept = self._slept, call.sleeps
        if call.sleeps or call.waits or slept:
            return True
        if answer.is_error:
            return False
        if waiting.says_under_way(answer.text):
            return True
        return waiting.is_about_a_job(call.name) and not waiting.says_ended(answer.text)

    def _polled(self, call: Call, answer: Answer, limit: int) -> LoopFound | None:
        """Count a poll. Polls neither begin nor end a repetition of other calls."""
        digest, times = self._polls.get(call.shape, ("", 0))
        times = times + 1 if digest == answer.digest else 1
        self.progress = _added(self._seen, call.shape + answer.digest)
        if self.progress:
            self._something_new()
        if len(self._polls) >= REMEMBERED:
            self._polls.clear()
        self._polls[call.shape] = (answer.digest, times)
        if times <= max(MOST_POLLS, limit - 1):
            return None
        return _tool_found(call, evidence.unchanged(call.shown, times), times, call.shape)


def _added(remembered: dict[str, None], digest: str) -> bool:
    """Add a digest; return False if it was there already. The oldest is dropped when full."""
    if digest in remembered:
        return False
    if len(remembered) >= REMEMBERED:
        del remembered[next(iter(remembered))]
    remembered[digest] = None
    return True


def _round_found(found: Round, result: str | None) -> LoopFound:
    tools = {step.tool for step in found.steps}
    return LoopFound(
        type="repeated-tool" if len(found.steps) == 1 else "repeated-cycle",
        evidence=evidence.went_round(found, result),
        count=found.times,
        pattern=found.pattern,
        tool=tools.pop() if len(tools) == 1 else None,
    )


def _tool_found(call: Call, words: str, times: int, pattern: str) -> LoopFound:
    return LoopFound(
        type="repeated-tool", evidence=words, count=times, pattern=pattern, tool=call.name
    )


def target_of(args: object) -> str:
    """Return the file a call is about; empty if it names none."""
    if not isinstance(args, Mapping):
        return ""
    given = cast("Mapping[object, object]", args)
    return next((path for name in _PATH_NAMES if isinstance(path := given.get(name), str)), "")


class FailingChecks:
    """Counts how often an answer came again although something had been changed.

    Whether the answer reports a failure is left to the caller: finding out takes longer than
    everything here.
    """

    def __init__(self) -> None:
        self._changes = 0
        self._targets: set[str] = set()
        self._seen: dict[str, None] = {}
        self._times: dict[str, tuple[int, int]] = {}
        """For each answer since the last new one: how often it came, and after how many changes."""

    def changed(self, target: str) -> None:
        """Count a change that was never made before."""
        self._changes += 1
        if len(self._targets) <= MOST_TARGETS:
            self._targets.add(target)

    def add(self, step: str, target: str) -> int:
        """Return how often this answer to this call came, each time after another change.

        0 if more than MOST_TARGETS files were changed since the last new answer.
        """
        # To read the file that is being changed is part of the attempt and starts nothing new.
        is_new = step not in self._seen and target not in self._targets
        if is_new or len(self._times) >= MOST_SEEN:
            self._targets.clear()
            self._times.clear()
        if len(self._seen) >= MOST_SEEN:
            del self._seen[next(iter(self._seen))]
        self._seen[step] = None
        times, changes = self._times.get(step, (0, -1))
        times += changes < self._changes
        self._times[step] = (times, self._changes)
        return times if len(self._targets) <= MOST_TARGETS else 0
