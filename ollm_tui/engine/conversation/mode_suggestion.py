"""Which mode fits what was just asked, by its form: never by the words somebody uses.

The signs are few. Each is measured as the share of the lines, or of the calls, that show it; that
share is the confidence, and less than half of it suggests nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import takewhile
from typing import NamedTuple

from ollm_tui.core.session.message import Attachment, Message, Text, ToolResultPart
from ollm_tui.engine.conversation.modes import Mode
from ollm_tui.engine.tools.error_lines import is_error

LEAST_CONFIDENCE = 0.5
FEWEST_CALLS = 3
"""With fewer calls a failure is nothing special."""
MOST_CHARACTERS = 100_000
"""How much of a message is looked at."""

_HUNK = re.compile(r"^@@ -\d+(,\d+)? \+\d+(,\d+)? @@", re.MULTILINE)
_OF_DIFF = re.compile(r"[ +\-\\]|@@ |diff |index |(?:new|deleted) file |similarity |rename ")
_FRAME = re.compile(r"\s+.*(?:\.\w{1,5}[:(]\d+|\", line \d+)")
"""An indented line that names a line of a file, as every stack trace has them."""
_STEP = re.compile(r"\s*(?:[-*+]|\d+[.)]) \[[ xX]\] ")


class ModeSuggestion(NamedTuple):
    """A mode that seems to fit, and why."""

    mode: str
    confidence: float
    reason: str
    """A clause about what was sent or done."""


def suggested_mode(messages: Sequence[Message], mode: Mode) -> ModeSuggestion | None:
    """The mode that fits the last turn of a branch best, other than the one it is in."""
    answers = list(takewhile(lambda message: message.role != "user", reversed(messages)))
    if len(answers) == len(messages):
        return None
    question = messages[-len(answers) - 1]
    signs = [*_of_question(question), *_of_calls(answers, mode)]
    fitting = [each for each in signs if each.confidence >= LEAST_CONFIDENCE]
    best = max(fitting, key=lambda each: each.confidence, default=None)
    return best if best and best.mode != mode.name else None


def _of_question(question: Message) -> Iterator[ModeSuggestion]:
    texts = [
        part.text if isinstance(part, Text) else part.content
        for part in question.parts
        if isinstance(part, Text)
        or (isinstance(part, Attachment) and not part.media_type.startswith("image/"))
    ]
    text = "\n".join(texts)[:MOST_CHARACTERS]
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return
    if _HUNK.search(text):
        share = sum(map(bool, map(_OF_DIFF.match, lines))) / len(lines)
        yield ModeSuggestion("reviewer", share, "you sent a diff")
    frames = [index for index, line in enumerate(lines) if _FRAME.match(line)]
    if frames and any(map(is_error, lines)):
        # A line of code may follow each frame; the error and what it is about stand around them.
        share = min(1.0, (frames[-1] - frames[0] + 3) / len(lines))
        yield ModeSuggestion("debugger", share, "you sent a stack trace")
    if (steps := sum(map(bool, map(_STEP.match, lines)))) > 1:
        yield ModeSuggestion("planning", steps / len(lines), "you sent a list of steps")


def _of_calls(answers: Sequence[Message], mode: Mode) -> Iterator[ModeSuggestion]:
    results = [part for each in answers for part in each.parts if isinstance(part, ToolResultPart)]
    if results and mode.tools is not None:
        beyond = [each for each in results if not _is_offered(each.name, mode.tools)]
        reason = f"the model asked for tools not in {mode.name}"
        yield ModeSuggestion("developer", len(beyond) / len(results), reason)
    if len(results) < FEWEST_CALLS:
        return
    # What the user or a rule refused is no fault of what was tried.
    failed = [each for each in results if each.is_error and not each.trusted]
    reason = f"{len(failed)} of {len(results)} calls failed"
    yield ModeSuggestion("debugger", len(failed) / len(results), reason)


def _is_offered(name: str, tools: Sequence[str]) -> bool:
    return any(fnmatchcase(name, each) for each in tools)
