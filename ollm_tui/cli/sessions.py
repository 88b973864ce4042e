"""`ollm sessions`: what was said, as lists, texts and files."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import TYPE_CHECKING

from ollm_tui.cli.output import confirm, print_json, print_table, short_time, today
from ollm_tui.cli.store import open_catalogue, open_library
from ollm_tui.core.counts import counted, short_count
from ollm_tui.core.errors import UsageError
from ollm_tui.core.intake import clean, visible
from ollm_tui.core.session import SessionSummary

if TYPE_CHECKING:
    from ollm_tui.services.session_library import SessionLibrary

SHORT_ID = 8


def run(arguments: Namespace) -> int:
    """Run one of the commands."""
    if arguments.command == "list":
        return list_sessions(arguments)
    library = open_library()
    try:
        return _COMMANDS[arguments.command](library, arguments)
    finally:
        library.close()


def list_sessions(arguments: Namespace) -> int:
    """Every session, the latest first."""
    summaries = open_catalogue().summaries(_show_progress if sys.stderr.isatty() else None)
    wanted = summaries[: getattr(arguments, "limit", None)]
    if arguments.json:
        print_json([_summary_tree(summary) for summary in wanted])
    elif summaries:
        _print_summaries(wanted)
    else:
        print('No sessions yet. Begin one with: ollm -p "Hello"')
    return 0


def _view(library: SessionLibrary, arguments: Namespace) -> int:
    from ollm_tui.cli.transcript import transcript
    from ollm_tui.core.encoding import to_tree

    loaded = library.load(library.catalogue.resolve(arguments.id))
    for problem in loaded.problems:
        sys.stderr.write(f"ollm: warning: {visible(problem)}\n")
    if arguments.json:
        print_json(to_tree(loaded.state.session()))
    else:
        print(transcript(loaded.state))
    return 0


def _export(library: SessionLibrary, arguments: Namespace) -> int:
    from ollm_tui.cli.files import format_for, write_file
    from ollm_tui.services.export import export_session

    state = library.load(library.catalogue.resolve(arguments.id)).state
    kind = arguments.format or format_for(arguments.output)
    text = export_session(state.session(), state.branch(), kind)
    if arguments.output:
        write_file(arguments.output, text)
    else:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
    return 0


def _import(library: SessionLibrary, arguments: Namespace) -> int:
    from ollm_tui.cli.files import read_session

    session = read_session(arguments.file)
    session_id = library.add(session)
    print(session_id)
    return 0


def _rename(library: SessionLibrary, arguments: Namespace) -> int:
    title = " ".join(clean(" ".join(arguments.title)).split())
    if not title:
        raise UsageError("a title needs at least one character", "ollm sessions rename ID TITLE")
    library.change(library.catalogue.resolve(arguments.id), title=title)
    return 0


def _pin(library: SessionLibrary, arguments: Namespace) -> int:
    library.change(library.catalogue.resolve(arguments.id), pinned=not arguments.off)
    return 0


def _fork(library: SessionLibrary, arguments: Namespace) -> int:
    print(library.fork(library.catalogue.resolve(arguments.id), arguments.at))
    return 0


def _delete(library: SessionLibrary, arguments: Namespace) -> int:
    # All are looked up before the first is removed: a typing error must not do half of it.
    names = list(dict.fromkeys(library.catalogue.resolve(prefix) for prefix in arguments.ids))
    question = f"Delete {counted(len(names), 'session')} for good?"
    if not (arguments.yes or confirm(question)):
        return 1
    for name in names:
        library.delete(name)
    return 0


def _clear(library: SessionLibrary, arguments: Namespace) -> int:
    names = list(library.store.directory.fingerprints())
    if not names:
        print("There is nothing to delete.")
        return 0
    if not (arguments.yes or confirm(f"Delete all {counted(len(names), 'session')} for good?")):
        return 1
    for name in names:
        library.delete(name)
    print(f"{len(names)} deleted.")
    return 0


def _cleanup(library: SessionLibrary, arguments: Namespace) -> int:
    from ollm_tui.services.retention import enforce_retention, surplus

    if arguments.keep == 0:  # which in the settings means: keep all
        raise UsageError("cleanup keeps at least one session", "ollm sessions clear --all")
    over = surplus(library, keep=arguments.keep)
    if arguments.dry_run:
        _print_summaries(over)
        print(f"{len(over)} would be moved to the trash.")
        return 0
    moved = enforce_retention(library, keep=arguments.keep)
    print(f"{len(moved)} moved to the trash. Bring one back with: ollm sessions trash restore ID")
    if left := len(over) - len(moved):
        sys.stderr.write(f"ollm: {left} could not be moved (open elsewhere? ollm doctor)\n")
    return 1 if left else 0


def _trash(library: SessionLibrary, arguments: Namespace) -> int:
    if arguments.action == "restore":
        print(library.restore(arguments.id))
        return 0
    notes = library.trashed()
    if arguments.json:
        keys = ("sessionId", "title", "reason", "trashedAt")
        print_json(
            [
                dict(zip(keys, (n.session_id, n.title, n.reason, n.trashed_at), strict=True))
                for n in notes
            ]
        )
    elif notes:
        print_table(
            [
                (
                    note.session_id[:SHORT_ID],
                    short_time(note.trashed_at),
                    note.reason,
                    clean(note.title),
                )
                for note in notes
            ]
        )
    else:
        print("The trash is empty.")
    return 0


_COMMANDS = {
    "view": _view,
    "export": _export,
    "import": _import,
    "rename": _rename,
    "pin": _pin,
    "fork": _fork,
    "delete": _delete,
    "clear": _clear,
    "cleanup": _cleanup,
    "trash": _trash,
}


def _print_summaries(summaries: list[SessionSummary]) -> None:
    length = _distinct_length([summary.session_id for summary in summaries])
    day = today()
    models = {model: clean(model) for model in {summary.model for summary in summaries}}
    rows = [
        (
            summary.session_id[:length],
            short_time(summary.last_activity, day),
            f"{summary.message_count} msg",
            f"{short_count(summary.token_count)} tok" if summary.token_count else "",
            models[summary.model],
            ("★ " if summary.pinned else "") + clean(summary.damage or summary.title),
        )
        for summary in summaries
    ]
    print_table(rows, right=frozenset({2, 3}))


def _summary_tree(summary: SessionSummary) -> object:
    from msgspec import to_builtins

    return to_builtins(summary)


def _distinct_length(names: list[str]) -> int:
    """How much of each id has to be shown so that what is shown can be typed."""
    longest = max(map(len, names), default=SHORT_ID)
    for length in range(SHORT_ID, longest):
        if len({name[:length] for name in names}) == len(names):
            return length
    return longest


def _show_progress(number: int, total: int) -> None:
    if total > 200 and (number % 100 == 0 or number == total):
        sys.stderr.write(f"\r\x1b[Kreading sessions {number:,} of {total:,}")
        if number == total:
            sys.stderr.write("\r\x1b[K")
