"""Repeated tool calls: whether the answers and changes of calls bring anything new.

A round makes progress if it shows lines never seen, changes files to a state never seen, or asks
something that was not asked. Everything else is counted, and how soon it is a loop depends on
how sure it is that the same was done again.
"""

from __future__ import annotations

from typing import NamedTuple

from ollm_tui.core.loop import LoopFound
from ollm_tui.engine.loops import evidence, waiting
from ollm_tui.engine.loops.allowances import unsure
from ollm_tui.engine.loops.answers import Answer
from ollm_tui.engine.loops.calls import Call
from ollm_tui.engine.loops.failures import FailingChecks, Failures
from ollm_tui.engine.loops.novelty import LinesSeen, NothingFound, SameAnswers
from ollm_tui.engine.loops.periods import LONGEST_PERIOD, Periods, Round, Step

PATIENCE = 3
"""Factor of the limit for failures after changes: each change was a new idea, if a small one."""
MOST_POLLS = 30
"""Unchanged answers in a row that are accepted while something is under way."""
MOST_LOOKS = 20
"""The same for a command that looks: what it shows may be a log that nobody writes."""
PATIENT_POLLS = 4
"""Factor of the limit for unchanged answers where nothing says that something is under way, but the
model waits between them by calls of their own."""
MORE_POLLS = 4
"""The same where each call waits longer than the one before: beyond the limit."""
REMEMBERED = 1024
"""Answers, changes and polls that are remembered."""
LAST_ANSWERS = 64
"""Calls whose last answer is kept, to be compared with the next one."""


class _Poll(NamedTuple):
    """The last poll of its shape: the call, its answer, and how often that came in a row."""

    call: str
    answer: str
    times: int


class ToolCalls:
    """The calls since the user last spoke: what they answered, and whether that was new."""

    def __init__(self, *, strict: bool) -> None:
        self._strict = strict
        self._unanswered = Periods()
        self._answered = Periods()
        self._seen: dict[str, None] = {}
        self._changes: dict[str, None] = {}
        self._polls: dict[str, _Poll] = {}
        self._last: dict[str, Answer] = {}
        self._same = SameAnswers()
        self._lines = LinesSeen()
        self._failures = Failures()
        self._failing = FailingChecks()
        self._nothing = NothingFound()
        self._last_change = ""
        self._outcomes: dict[str, int] = {}
        """How often an answer came right after the same change."""
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
        if changed:
            self._last_change = call.digest
            if _added(self._changes, call.digest):
                return self._changed(call, answer, limit)
        if self._is_waiting(call, answer):
            return self._polled(call, answer, limit)
        answer, varies = self._recognised(call, answer)
        step = Step(call.digest + answer.digest, call.name, call.shown)
        self._answered.add(step)
        known = not _added(self._seen, step.digest)
        seen = not answer.is_error and self._lines.add(call, answer.text)
        same = self._same.add(call, answer)
        same |= self._nothing.add(call, answer)
        failed = self._failing.add(step.digest, call.subject)
        failure = self._failures.add(call, answer, limit)
        self.progress = not (known or seen or same)
        found = None
        if self.progress:
            self._something_new()
        else:
            self._stale += 1
            found = self._repeated(answer, unsure(limit) if varies else limit)
        if not found and failure:
            return _tool_found(call, failure.words, failure.times, f"failures of {call.name}")
        if not (found or changed):
            found = self._changed_back(call, step.digest, limit)
        if self.progress:
            return found or self._still_failing(call, answer, failed, limit)
        return found or self._judged(call, answer, limit)

    def _changed(self, call: Call, answer: Answer, limit: int) -> LoopFound | None:
        """Take note of a change never made before.

        One that differs from an earlier change only in the number of a comment changes nothing
        that matters: what was known of the state still holds.
        """
        step = Step(call.program + answer.digest, call.name, call.shown)
        self._failing.changed(call.subject, call.remark)
        counts = not _added(self._changes, f"program {call.program}")
        self._answered.add(step, fresh=not counts)
        if counts:
            self.progress = False
            self._stale += 1
            return self._repeated(answer, unsure(limit))
        self.progress = True
        self._stale = 0
        # The failing checks stay: that a check fails again after a change is what they count.
        self._seen.clear()
        self._polls.clear()
        self._last.clear()
        self._same.forget()
        self._lines.forget()
        self._nothing.forget()
        self._failures.forget()
        return None

    def _changed_back(self, call: Call, step: str, limit: int) -> LoopFound | None:
        """Return a loop if a change was made again and again, and brought the same each time."""
        if not self._last_change:
            return None
        outcome = self._last_change + step
        self._last_change = ""
        if len(self._outcomes) >= REMEMBERED:
            self._outcomes.clear()
        self._outcomes[outcome] = times = self._outcomes.get(outcome, 0) + 1
        if times < limit:
            return None
        return _tool_found(call, evidence.changed_back(call.shown, times), times, outcome)

    def _recognised(self, call: Call, answer: Answer) -> tuple[Answer, bool]:
        """Return the answer as which this one counts, and whether only its numbers differ.

        An answer that differs from the last one to the same call in a few numbers counts as it.
        """
        last = self._last.pop(call.digest, None)
        if len(self._last) >= LAST_ANSWERS:
            del self._last[next(iter(self._last))]
        varies = last is not None and last.digest != answer.digest and answer.is_variant_of(last)
        if last and varies:
            answer = answer._replace(digest=last.digest, plain_digest=last.plain_digest)
        self._last[call.digest] = answer._replace(text="")
        return answer, varies

    def _still_failing(
        self, call: Call, answer: Answer, times: int, limit: int
    ) -> LoopFound | None:
        """Return a loop if the same failure came after change upon change."""
        patience = unsure(limit) if self._failing.only_counts else PATIENCE * limit
        if times <= patience or not answer.fails:
            return None
        words = evidence.failed_again(call.shown, times)
        return _tool_found(call, words, times, call.digest + answer.digest)

    def _repeated(self, answer: Answer, limit: int) -> LoopFound | None:
        """Return the calls that were made in turn too often."""
        patient = 2 * limit if waiting.asks_to_come_later(answer.text) else limit
        found = self._answered.repeated(patient)
        return _round_found(found, answer.shown) if found else None

    def _judged(self, call: Call, answer: Answer, limit: int) -> LoopFound | None:
        """Return the loop that an answer without anything new completes, if it does."""
        same = self._same.times(call.name)
        if same >= (limit if answer.is_full else 2 * limit):
            words = evidence.same_result(call.name, same, answer.shown)
            return _tool_found(call, words, same, f"answers of {call.name}")
        if self._nothing.times >= unsure(limit):
            words = evidence.sought_again(call.shown, self._nothing.times)
            return _tool_found(call, words, self._nothing.times, "nothing found")
        if self._lines.times > limit:
            words = evidence.read_again(call.shown, self._lines.times)
            return _tool_found(call, words, self._lines.times, call.shape)
        if self._stale >= LONGEST_PERIOD * limit:
            return LoopFound(
                type="repeated-cycle",
                evidence=evidence.nothing_new(self._stale),
                count=self._stale,
                pattern="nothing-new",
            )
        return None

    def _something_new(self) -> None:
        self._stale = 0
        self._polls.clear()
        self._same.something_new()
        self._lines.something_new()

    def _is_waiting(self, call: Call, answer: Answer) -> bool:
        # The call after a bare sleep is the poll that the model slept for.
        slept, self._slept = self._slept, call.sleeps
        return call.sleeps or call.waits or slept or _is_under_way(call, answer)

    def _polled(self, call: Call, answer: Answer, limit: int) -> LoopFound | None:
        """Count a poll. Polls neither begin nor end a repetition of other calls."""
        last = self._polls.get(call.shape)
        times = last.times + 1 if last and last.answer == answer.digest else 1
        self.progress = _added(self._seen, call.shape + answer.digest)
        if self.progress:
            self._something_new()
        if len(self._polls) >= REMEMBERED:
            self._polls.clear()
        self._polls[call.shape] = _Poll(call.digest, answer.digest, times)
        if call.runs_code and not call.sleeps and waiting.says_under_way(answer.text):
            most = MOST_LOOKS
        elif call.sleeps or _is_under_way(call, answer):
            most = MOST_POLLS
        elif call.waits and last and last.call == call.digest:
            is_over = answer.is_error and waiting.says_ended(answer.text)
            most = limit + 1 if is_over else unsure(limit)
        elif call.waits:
            most = limit + MORE_POLLS
        else:
            most = PATIENT_POLLS * limit
        if times <= max(most, limit - 1):
            return None
        return _tool_found(call, evidence.unchanged(call.shown, times), times, call.shape)


def _is_under_way(call: Call, answer: Answer) -> bool:
    """Whether something is waited for that has not ended yet, as far as anybody says."""
    if waiting.says_under_way(answer.text):
        return True
    if answer.is_error or waiting.says_ended(answer.text):
        return False
    return waiting.is_about_a_job(call.name) or (call.waits and not call.runs_code)


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
