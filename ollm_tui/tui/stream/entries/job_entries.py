"""Commands in the stream: what was run, the end of what it printed, how it ended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ollm_tui.core.intake import clean
from ollm_tui.core.session.session import ToolCall
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.tui.stream.entries.message_entries import local_time
from ollm_tui.tui.stream.transcript.entry import Entry, Fold

SHORT_LINES = 12
"""Output of no more lines is shown whole."""
TAIL_LINES = 8
OPEN_CHARACTERS = 2_000
"""More is folded, however few lines it has."""
LONGEST_LINE = 200
"""Of a command that runs: what it prints is seen whole when it is over."""
BEFORE, OUTPUT = "before", "output"


def with_commands(entries: list[Entry], state: SessionState) -> list[Entry]:
    """The entries of a branch and the commands that were run meanwhile, by their times."""
    calls = [call for call in state.tool_calls if call.is_command]
    return list(_with(entries, calls, state)) if calls else entries


def call_entry(call: ToolCall) -> Entry:
    """A command that is over, as it is recorded."""
    text, how = output_and_ending(call)
    return command_entry(call.id, str(call.args.get("code", "")), text, how, call.timestamp)


def output_and_ending(call: ToolCall) -> tuple[str, str]:
    """What a recorded command printed; and its ending, which is the last line in brackets."""
    text, _, last = clean(call.result.llm_content).rstrip("\n").rpartition("\n")
    if last.startswith("[") and last.endswith("]"):
        return text, last[1:-1]
    return f"{text}\n{last}", ""


def command_entry(key: str, code: str, text: str, footer: str, started_at: str) -> Entry:
    """A command: its line, the end of its output, and all before that folded away."""
    return Entry(
        key,
        "note",
        f"! {clean(code)}",
        footer if text.strip() or not footer else f"no output · {footer}",
        folds=_folds(clean(text).strip("\n")),
        details=local_time(started_at),
    )


def running_entry(key: str, code: str, tail: str, footer: str) -> Entry:
    """A command that runs, and the last lines it printed."""
    lines = clean(tail).strip("\n").split("\n")[-TAIL_LINES:]
    last = "\n".join(line[:LONGEST_LINE] for line in lines)
    fold = Fold(OUTPUT, "tool", "the last lines so far", last, is_open=True)
    return Entry(key, "note", f"! {clean(code)}", footer, folds=[fold] if last else ())


def keep_open(entry: Entry, before: Entry) -> Entry:
    """The entry with its folds as open as they were."""
    for fold in entry.folds:
        if known := before.fold(fold.key):
            fold.is_open = known.is_open
    return entry


def _folds(text: str) -> Iterator[Fold]:
    if not text.strip():
        return
    lines = text.split("\n")
    count = len(lines) if len(lines) <= SHORT_LINES else TAIL_LINES
    first = lines[:-count]
    last = "\n".join(lines[-count:])
    if first:
        title = "1 line before" if len(first) == 1 else f"{len(first):,} lines before"
        yield Fold(BEFORE, "tool", title, "\n".join(first))
    title = f"the last {count} lines" if first else "1 line" if count == 1 else f"{count} lines"
    yield Fold(OUTPUT, "tool", title, last, is_open=len(last) <= OPEN_CHARACTERS)


def _with(
    entries: Iterable[Entry], calls: Iterable[ToolCall], state: SessionState
) -> Iterator[Entry]:
    waiting = sorted(calls, key=lambda call: call.timestamp)
    for entry in entries:
        said = state[entry.key].timestamp if entry.key in state else ""
        while waiting and waiting[0].timestamp < said:
            yield call_entry(waiting.pop(0))
        yield entry
    yield from map(call_entry, waiting)
