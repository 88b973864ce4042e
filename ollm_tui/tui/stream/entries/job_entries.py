"""Entries for commands the user ran: the command, the end of its output, how it ended."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from rich.ansi import AnsiDecoder
from rich.style import Style
from rich.text import Text

from ollm_tui.core.intake import clean
from ollm_tui.core.session.session import AFTER, ToolCall
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.tui.stream.entries.compression_entries import compression_key
from ollm_tui.tui.stream.entries.message_entries import local_time
from ollm_tui.tui.stream.transcript.entry import Entry, Fold, StyledSpan

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


def with_commands(
    entries: list[Entry],
    state: SessionState,
    known: Callable[[str], Entry | None] = lambda _key: None,
) -> list[Entry]:
    """Return the entries of a branch with the commands run in it, in order of time.

    `known` returns the entry that is shown of a command already: it has its colours.
    """
    calls = [call for call in state.tool_calls if call.is_command]
    if not calls:
        return entries
    branch = {key for entry in entries for key in (entry.key, *entry.covers)}
    # One that was recorded without its place belongs to every branch.
    mine = [call for call in calls if call.args.get(AFTER, "") in ("", *branch)]
    return list(_with(entries, mine, state, known))


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


def command_entry(
    key: str, code: str, text: str, footer: str, started_at: str, *, coloured: str = ""
) -> Entry:
    """Return the entry of a command: its line, the end of its output, and a fold with the rest.

    `coloured` is the same text with sequences for colours, where it has any.
    """
    return Entry(
        key,
        "note",
        f"! {clean(code)}",
        footer if text.strip() or not footer else f"no output · {footer}",
        folds=_folds(clean(text), _spans_of(coloured, text)),
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


def _folds(whole: str, spans: Sequence[StyledSpan]) -> Iterator[Fold]:
    text = whole.strip("\n")
    if not text.strip():
        return
    begins = whole.index(text)
    lines = text.split("\n")
    count = len(lines) if len(lines) <= SHORT_LINES else TAIL_LINES
    first = lines[:-count]
    last = "\n".join(lines[-count:])
    if first:
        title = "1 earlier line" if len(first) == 1 else f"{len(first):,} earlier lines"
        fold = Fold(BEFORE, "tool", title, "\n".join(first))
        fold.spans = _moved(spans, begins)
        yield fold
    title = f"the last {count} lines" if first else "1 line" if count == 1 else f"{count} lines"
    fold = Fold(OUTPUT, "tool", title, last, is_open=len(last) <= OPEN_CHARACTERS)
    fold.spans = _moved(spans, begins + len(text) - len(last))
    yield fold


def _spans_of(coloured: str, text: str) -> list[StyledSpan]:
    """Return the styles of a text; none where it is not all of what is coloured."""
    if not coloured:
        return []
    decoded = Text("\n").join(AnsiDecoder().decode(coloured.rstrip("\n")))
    if decoded.plain.rstrip("\n") != text.rstrip("\n") or "\t" in text:
        return []
    return [(at, end, style) for at, end, style in decoded.spans if isinstance(style, Style)]


def _moved(spans: Iterable[StyledSpan], by: int) -> list[StyledSpan]:
    return [(max(at - by, 0), end - by, style) for at, end, style in spans if end > by]


def _with(
    entries: Iterable[Entry],
    calls: Iterable[ToolCall],
    state: SessionState,
    known: Callable[[str], Entry | None],
) -> Iterator[Entry]:
    def shown(call: ToolCall) -> Entry:
        return known(call.id) or call_entry(call)

    waiting = sorted(calls, key=lambda call: call.timestamp)
    compressed_at = {
        compression_key(each): each.at for each in state.header.metadata.compression_history
    }
    for entry in entries:
        said = state[entry.key].timestamp if entry.key in state else ""
        sent_at = compressed_at.get(entry.key, said)
        while waiting and waiting[0].timestamp < sent_at:
            yield shown(waiting.pop(0))
        yield entry
    yield from map(shown, waiting)
