"""Tool calls in the stream: a fold each, which opens to what was asked, decided and answered;
and notes for the loops that were met."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

from ollm_tui.core.counts import counted
from ollm_tui.core.cut_output import cut_words
from ollm_tui.core.intake import clean, visible
from ollm_tui.core.loop import LoopRecord
from ollm_tui.core.session.message import Approval, Message, ToolCallPart, ToolResultPart
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.core.tool import Decision
from ollm_tui.tui.kit.diff_lines import TonedLine, argument_lines, diff_lines, exact_lines, joined
from ollm_tui.tui.stream.transcript.entry import Entry, Fold, Tone

ToolState = Literal["asked", "waiting", "running", "done", "failed", "refused", "cancelled"]

CANCELLED = "cancelled by the user"
"""What the engine records as the answer of a call that was stopped."""
NOT_ALLOWED = "not allowed: "
"""How the answer begins that the engine records for a call that the rules refuse."""
CUT = "cut for the model · o full output"
LONGEST_SUBJECT = 60
LONGEST_BESIDE_CUT = 24
"""Characters of it where the line also says how much of the output was cut."""
LONGEST_REASON = 70
MOST_READ = 2_000
"""Characters that are looked at to get a few words; the first of them may be blanks."""
TAIL_LINES = 12
"""How many lines of the output of a running call are shown."""
_SUBJECTS = ("path", "file", "code", "command", "pattern", "query", "url", "name")
"""The arguments that say best what a call is about, the best first."""
_TONES: Mapping[ToolState, Tone] = {
    "waiting": "running",
    "running": "running",
    "failed": "failed",
    "refused": "stopped",
    "cancelled": "stopped",
}
_ANSWERS: Mapping[str, str] = {
    "stop": "stopped",
    "once": "continued once",
    "allow": "allowed for this session",
    "tell": "you sent a note",
    "back": "you rewound to before it",
}
NUDGED = "nudge"
"""The recorded answer of the program itself; its message to the model is in the stream already."""


class ToolBlock(NamedTuple):
    """A tool call with all that is known of it so far."""

    call: ToolCallPart
    state: ToolState = "asked"
    summary: str = ""
    seconds: float | None = None
    decision: str = ""
    """The decision of the user, in words."""
    diff: str = ""
    """The change that the call makes, as a diff."""
    output: str = ""

    def finished(
        self, result: ToolResultPart, summary: str = "", seconds: float | None = None
    ) -> ToolBlock:
        """Return the block with the result of the call."""
        state = _ending(result, summary, self.decision)
        return self._replace(state=state, summary=summary, seconds=seconds, output=result.content)


class ToolFold(Fold):
    """A block as a fold; its text is put together when it is first asked for."""

    def __init__(self, block: ToolBlock, *, is_open: bool = False) -> None:
        tone: Tone = _TONES.get(block.state, "")
        # Its length serves to estimate the height until the real text is made.
        text = block.output or block.diff or block.call.name
        super().__init__(
            fold_key(block.call.call_id),
            "tool",
            block_title(block),
            text,
            is_open,
            tone=tone,
            read=self._whole,
        )
        self.block = block

    def _whole(self, _text: str) -> str:
        text, self.tones = joined(block_lines(self.block))
        return text


def fold_key(call_id: str) -> str:
    """Return the key of the fold of a call within its entry."""
    return f"call-{call_id}"


def answered(calls: Mapping[str, ToolFold], message: Message) -> dict[str, ToolFold]:
    """Return the folds of the calls that a message of results answers, by key, with the results."""
    decisions = {part.call_id: part for part in message.parts if isinstance(part, Approval)}
    found: dict[str, ToolFold] = {}
    for part in message.parts:
        if isinstance(part, ToolResultPart) and part.call_id in calls:
            fold = calls[part.call_id]
            block = fold.block
            if approval := decisions.get(part.call_id):
                block = block._replace(decision=_decision_phrase(approval.decision, approval.scope))
            found[fold.key] = ToolFold(block.finished(part))
    return found


def decision_words(decision: Decision) -> str:
    """Return the decision of the user as it stands in the block."""
    said = _decision_phrase(decision.answer, decision.scope)
    return f"{said}: {decision.words}" if decision.words else said


def subject_of(call: ToolCallPart) -> str:
    """Return what a call is about, in a few words."""
    texts = {name: value for name, value in call.args.items() if isinstance(value, str)}
    chosen = next((texts[name] for name in _SUBJECTS if name in texts), "")
    return _short(chosen or next(iter(texts.values()), ""), LONGEST_SUBJECT)


def duration(seconds: float) -> str:
    """Return a time in a short form: 8 ms, 3.2 s, 2 min 5 s."""
    if seconds < 1:
        return f"{max(round(seconds * 1000), 1)} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds // 60)} min {int(seconds % 60)} s"


def block_title(block: ToolBlock) -> str:
    """Return the title of a call."""
    subject = subject_of(block.call)
    if cut_words(block.output):
        subject = _short(subject, LONGEST_BESIDE_CUT)
    name = f"{visible(block.call.name)} {subject}".rstrip()
    if block.state == "asked":
        return f"asks for {name}"
    return " · ".join(fact for fact in (name, *_facts(block)) if fact)


def block_lines(block: ToolBlock) -> Iterator[TonedLine]:
    """Yield all lines of a call: its arguments, the decision, the diff, the result."""
    if block.call.raw_arguments is not None:
        yield from exact_lines(block.call.raw_arguments)
    else:
        yield from argument_lines(block.call.args, without_texts=bool(block.diff))
    if block.decision:
        yield TonedLine(visible(block.decision), "quiet")
    if block.diff:
        yield TonedLine("")
        yield from diff_lines(block.diff)
    output = clean(block.output).strip("\n")
    if output:
        yield TonedLine("")
        yield from map(TonedLine, output.split("\n"))
        if cut_words(output):
            yield TonedLine(CUT, "quiet")


def tail(output: str) -> str:
    """Return the last lines of what a running call printed."""
    return "\n".join(output.rstrip("\n").split("\n")[-TAIL_LINES:])


def _facts(block: ToolBlock) -> Iterable[str]:
    took = "" if block.seconds is None else duration(block.seconds)
    first = _short(block.output, LONGEST_REASON)
    match block.state:
        case "waiting":
            return ("waiting for your answer",)
        case "running":
            return ("" if block.seconds is None else f"{block.seconds:.0f} s",)
        case "failed":
            how = block.summary if block.summary != "failed" else f"failed: {first}"
            return (visible(how) or _size(block.output), cut_words(block.output), took)
        case "refused":
            words = first.partition(": ")[2]
            return (f"denied: {words}" if words else "denied",)
        case "cancelled":
            return ("cancelled",)
        case _:
            cut = cut_words(block.output) if block.state == "done" else ""
            return (visible(block.summary) or _size(block.output), cut, took)


def _size(output: str) -> str:
    """Return what came of a call where only its result is on record."""
    text = output.strip("\n")
    before, _, last = text.rpartition("\n")
    # A last line in brackets says how a command ended, as "[exit 1]".
    if last.startswith("[") and last.endswith("]"):
        return _short(last[1:-1], LONGEST_REASON)
    if not before and len(last) <= LONGEST_REASON:
        return _short(last, LONGEST_REASON) or "no output"
    return counted(text.count("\n") + 1, "line")


def _ending(result: ToolResultPart, summary: str, decision: str) -> ToolState:
    if not result.is_error:
        return "done"
    is_refused = summary == "refused" or result.content.startswith(NOT_ALLOWED)
    if is_refused or decision.startswith("denied"):
        return "refused"
    if summary == "cancelled" or result.content == CANCELLED:
        return "cancelled"
    return "failed"


def _decision_phrase(answer: str, scope: str) -> str:
    """Return a decision in words; the answer may come from a file and be unknown."""
    said = {"yes": "allowed", "always": "allowed", "no": "denied", "never": "denied"}
    where = {"session": " for this session", "project": " for this project"}.get(scope, "")
    return f"{said.get(answer, visible(answer))}{where} by you"


def _short(text: str, most: int) -> str:
    words = " ".join(visible(text[:MOST_READ]).split())
    return words if len(words) <= most else f"{words[: most - 1].rstrip()}…"


def with_loops(entries: list[Entry], state: SessionState) -> list[Entry]:
    """Return the entries of a branch with notes for the loops met meanwhile, in order of time."""
    loops = [each for each in state.header.metadata.loops if each.answer != NUDGED]
    return list(_with(entries, loops, state)) if loops else entries


def loop_entry(key: str, evidence: str, answer: str) -> Entry:
    """Return the note for a loop and the answer to it."""
    outcome = _ANSWERS.get(answer, visible(answer))
    return Entry(key, "note", f"↻ The model {visible(evidence)} · {outcome}")


def _with(
    entries: Iterable[Entry], loops: Iterable[LoopRecord], state: SessionState
) -> Iterator[Entry]:
    waiting = sorted(loops, key=lambda each: each.at)
    for entry in entries:
        sent_at = state[entry.key].timestamp if entry.key in state else ""
        while waiting and waiting[0].at < sent_at:
            yield _recorded(waiting.pop(0))
        yield entry
    yield from map(_recorded, waiting)


def _recorded(loop: LoopRecord) -> Entry:
    return loop_entry(f"loop-{loop.at}", loop.evidence, loop.answer)
