"""Entries for commands the user ran: the command, the end of its output, how it ended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ollm_tui.core.intake import clean
from ollm_tui.core.session.session import ToolCall
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.tui.stream.entries.message_entries import local_time
from ollm_tui.tui.stream.transcript.entry import Entry, Fold

SHORT_LINES = 12
"""Output of up to this many lines is shown whole."""
TAIL_LINES = 8
"""Lines shown of a longer output, and of a running command."""
OPEN_CHARACTERS = 2_000
"""Output with more characters is folded, however few lines it has."""
LONGEST_LINE = 200
"""Characters shown of a line while a command runs; lines are whole when it has ended."""
BEFORE, OUTPUT = "before", "output"
"""The keys of the folds."""


def with_commands(entries: list[Entry], state: SessionState) -> list[Entry]:
    """Return the entries of a branch with the commands run meanwhile, in order of time."""
    calls = [call for call in state.tool_calls if call.is_command]
    return list(_with(entries, calls, state)) if calls else entries


def call_entry(call: ToolCall) -> Entry:
    """Return the entry of a command that has ended, as it is recorded."""
    text, how = output_and_ending(call)
    return command_entry(call.id, str(call.args.get("code", "")), text, how, call.timestamp)


def output_and_ending(call: ToolCall) -> tuple[str, str]:
    """Return what a recorded command printed, and its ending: the last line, in brackets."""
    text, _, last = clean(call.result.llm_content).rstrip("\n").rpartition("\n")
    if last.startswith("[") and last.endswith("]"):
        return text, last[1:-1]
    return f"{text}\n{last}", ""


def command_entry(key: str, code: str, text: str, footer: str, started_at: str) -> Entry:
    """Return the entry of a command: its line, the end of its output, and a fold with the rest."""
    return Entry(
        key,
        "note",
        f"! {clean(code)}",
        footer if text.strip() or not footer else f"no output · {footer}",
        folds=_folds(clean(text).strip("\n")),
        details=local_time(started_at),
    )


def running_entry(key: str, code: str, tail: str, footer: str) -> Entry:
    """Return the entry of a running command with the last lines it printed."""
    lines = clean(tail).strip("\n").split("\n")[-TAIL_LINES:]
    last = "\n".join(line[:LONGEST_LINE] for line in lines)
    fold = Fold(OUTPUT, "tool", "the last lines so far", last, is_open=True)
    return Entry(key, "note", f"! {clean(code)}", footer, folds=[fold] if last else ())


def keep_open(entry: Entry, before: Entry) -> Entry:
    """Return the entry with its folds as open as those of the one before."""
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
        sent_at = state[entry.key].timestamp if entry.key in state else ""
        while waiting and waiting[0].timestamp < sent_at:
            yield call_entry(waiting.pop(0))
        yield entry
    yield from map(call_entry, waiting)
