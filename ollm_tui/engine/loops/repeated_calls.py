"""The tools the model calls, and whether their answers and changes bring it any further."""

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
"""Times as many failures as repetitions: each change was a new idea, if a small one."""
MOST_TARGETS = 2
"""Files that are changed again and again; changes of more are work on many files."""
MOST_SEEN = 256
_PATH_NAMES = ("path", "file", "file_path", "filename")


def target_of(args: object) -> str:
    """The file a call is about; empty if it names none."""
    if not isinstance(args, Mapping):
        return ""
    given = cast("Mapping[object, object]", args)
    return next((path for name in _PATH_NAMES if isinstance(path := given.get(name), str)), "")


class FailingChecks:
    """Counts how often an answer came again although something had been changed.

    Whether it tells of a failure is for others to see: that takes longer than all the rest.
    """

    def __init__(self) -> None:
        self._changes = 0
        self._targets: set[str] = set()
        self._seen: dict[str, None] = {}
        self._times: dict[str, tuple[int, int]] = {}
        """Of each answer since the last new one: how often, and after how many changes."""

    def changed(self, target: str) -> None:
        """A change never made before."""
        self._changes += 1
        if len(self._targets) <= MOST_TARGETS:
            self._targets.add(target)

    def add(self, step: str, target: str) -> int:
        """How often this answer to this call came after changes of hardly more than one file."""
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


MOST_POLLS = 30
"""Unchanged answers while something is under way."""
REMEMBERED = 1024
"""Answers, changes and polls; then the oldest are forgotten."""


class Call(NamedTuple):
    """A call that was made."""

    id: str
    name: str
    digest: str
    shape: str
    """The same for calls that differ in numbers only."""
    shown: str
    target: str
    words: frozenset[str]
    sleeps: bool
    waits: bool

    @classmethod
    def of(cls, name: str, args: object, call_id: str) -> Call:
        """Look at a call once; its arguments are not kept."""
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
    """Since the user last spoke: what was called, what came of it, and what is new about it."""

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
        """Calls alone count where no answer is known; in strict mode always."""
        self._unanswered.add(Step(call.digest, call.name, call.shown))
        found = self._unanswered.repeated(limit)
        return _round_found(found, None) if found else None

    def answered(
        self, call: Call, answer: Answer, *, changed: bool, limit: int
    ) -> LoopFound | None:
        """Judge a call by its answer. Something new ends every repetition."""
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
        """The same failure after change upon change is not new, although each change is."""
        if times <= PATIENCE * limit or not answer.fails:
            return None
        words = evidence.failed_again(call.shown, times)
        return _tool_found(call, words, times, call.digest + answer.digest)

    def _judged(self, call: Call, answer: Answer, limit: int) -> LoopFound | None:
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
        """A change never made before. What was known of the state holds no longer."""
        self.progress = True
        self._failing.changed(target)
        self._answered.add(step, fresh=True)
        self._stale = 0
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
        slept, self._slept = self._slept, call.sleeps
        if call.sleeps or call.waits or slept:
            return True
        if answer.is_error:
            return False
        if waiting.says_under_way(answer.text):
            return True
        return waiting.is_about_a_job(call.name) and not waiting.says_ended(answer.text)

    def _polled(self, call: Call, answer: Answer, limit: int) -> LoopFound | None:
        """Polls are counted by themselves: they neither begin nor end another repetition."""
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
    """Whether it was not there yet. The oldest make way."""
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
