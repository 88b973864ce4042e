"""`ollm sessions`: lists, shows, exports, imports, changes and deletes sessions."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import TYPE_CHECKING

from ollm_tui.cli.output import confirm, print_json, print_table, short_time, today
from ollm_tui.cli.session_listing import SHORT_ID, distinct_length, list_sessions
from ollm_tui.cli.store import open_library, read_settings
from ollm_tui.core.counts import counted
from ollm_tui.core.errors import UsageError
from ollm_tui.core.intake import clean, visible

if TYPE_CHECKING:
    from datetime import timedelta

    from ollm_tui.services.sessions.retention import Surplus
    from ollm_tui.services.sessions.session_library import SessionLibrary

LONGEST_TAG = 40
"""In characters; the rest of a longer word is cut off."""


def run(arguments: Namespace) -> int:
    """Run one command of the group."""
    if arguments.command == "list":
        return list_sessions(arguments)
    if arguments.command == "compact":
        from ollm_tui.cli.compact_command import run as compact

        return compact(arguments)
    if arguments.command == "search":
        from ollm_tui.cli.search_command import run as search

        return search(arguments)
    library = open_library()
    try:
        return _COMMANDS[arguments.command](library, arguments)
    finally:
        library.close()


def _view(library: SessionLibrary, arguments: Namespace) -> int:
    from ollm_tui.cli.session_text import transcript
    from ollm_tui.core.session.encoding import to_tree

    loaded = library.load(library.catalogue.resolve(arguments.id))
    for problem in loaded.problems:
        sys.stderr.write(f"ollm: warning: {visible(problem)}\n")
    if arguments.json:
        print_json(to_tree(loaded.state.session()))
    else:
        print(transcript(loaded.state))
    return 0


def _export(library: SessionLibrary, arguments: Namespace) -> int:
    from ollm_tui.cli.named_files import format_for, write_file
    from ollm_tui.services.export.exporting import export_session

    session_id = library.catalogue.resolve(arguments.id)
    if arguments.bundle:
        text = _bundle(library, session_id, arguments.format)
    else:
        state = library.load(session_id).state
        kind = arguments.format or format_for(arguments.output)
        text = export_session(state.session(), state.branch(), kind)
    if arguments.output:
        write_file(arguments.output, text)
    else:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
    return 0


def _bundle(library: SessionLibrary, session_id: str, kind: str | None) -> str:
    from ollm_tui.services.sessions.session_bundle import bundle_document, bundle_of

    if kind not in (None, "json"):
        raise UsageError("bundles are always JSON", "leave out --format")
    bundle = bundle_of(library, session_id)
    for problem in bundle.problems:
        sys.stderr.write(f"ollm: warning: {visible(problem)}\n")
    return bundle_document(bundle)


def _import(library: SessionLibrary, arguments: Namespace) -> int:
    from ollm_tui.cli.named_files import read_session
    from ollm_tui.services.sessions.session_bundle import add_bundle

    if arguments.program:
        from ollm_tui.cli.others.foreign_command import take_in

        return take_in(library, arguments)
    if not arguments.file or arguments.project:
        raise UsageError("import needs a file or --from PROGRAM", "ollm sessions import F")
    for name in arguments.file:
        print(add_bundle(library, read_session(name)))
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


def _tag(library: SessionLibrary, arguments: Namespace) -> int:
    words = [word.lstrip("#")[:LONGEST_TAG] for word in clean(" ".join(arguments.words)).split()]
    words = [word for word in words if word]
    if not words:
        raise UsageError("a tag needs at least one character", "ollm sessions tag ID WORD")
    session_id = library.catalogue.resolve(arguments.id)
    tags = library.load(session_id).state.header.tags
    kept = [tag for tag in tags if tag not in words] if arguments.remove else [*tags, *words]
    library.change(session_id, tags=list(dict.fromkeys(kept)))
    return 0


def _archive(library: SessionLibrary, arguments: Namespace) -> int:
    library.change(library.catalogue.resolve(arguments.id), archived=not arguments.off)
    return 0


def _fork(library: SessionLibrary, arguments: Namespace) -> int:
    print(library.fork(library.catalogue.resolve(arguments.id), arguments.at))
    return 0


def _delete(library: SessionLibrary, arguments: Namespace) -> int:
    # All are looked up before the first is removed, so that a typing error removes none.
    names = list(dict.fromkeys(library.resolve_anywhere(prefix) for prefix in arguments.ids))
    question = f"Delete {counted(len(names), 'session')} permanently{_where(library)}?"
    if not (arguments.yes or confirm(question)):
        return 1
    library.delete(*names)
    return 0


def _clear(library: SessionLibrary, arguments: Namespace) -> int:
    names, trashed = library.all_own(), len(library.trashed())
    if not names:
        print("Nothing to delete.")
        return 0
    which = f"all {counted(len(names), 'session')}"
    which += f", {trashed} of them in the trash," if trashed else ""
    if not (arguments.yes or confirm(f"Delete {which} permanently{_where(library)}?")):
        return 1
    print(f"{library.clear()} deleted.")
    return 0


def _where(library: SessionLibrary) -> str:
    return ", on all your machines" if library.deletes_everywhere else ""


def _cleanup(library: SessionLibrary, arguments: Namespace) -> int:
    from ollm_tui.services.sessions.retention import enforce_retention, surplus

    keep, max_age = _limits(arguments.keep)
    if not (keep or max_age):
        print("Settings keep every session (sessions.maxSessions: 0, no retention.maxAge).")
        return 0
    over = surplus(library, keep=keep, max_age=max_age)
    _print_surplus(over)
    if arguments.dry_run:
        print(f"{len(over)} would be moved to the trash.")
        return 0
    moved = enforce_retention(library, keep=keep, max_age=max_age)
    print(f"{len(moved)} moved to the trash. Restore one with: ollm sessions trash restore ID")
    if left := len(over) - len(moved):
        sys.stderr.write(f"ollm: {left} could not be moved (open elsewhere? ollm doctor)\n")
    return 1 if left else 0


def _limits(keep: int | None) -> tuple[int, timedelta | None]:
    """Return how many sessions and how old ones are kept: from the option, else from the settings.
    UsageError if `keep` is 0."""
    from datetime import timedelta

    if keep == 0:  # in the settings 0 means to keep all
        raise UsageError("cleanup must keep at least one session", "ollm sessions clear --all")
    if keep:
        return keep, None
    settings = read_settings().settings
    seconds = settings.retention.max_age_seconds
    return settings.sessions.max_sessions, timedelta(seconds=seconds) if seconds else None


def _print_surplus(over: list[Surplus]) -> None:
    """Print which sessions go, and why."""
    length, day = distinct_length([each.summary.session_id for each in over]), today()
    print_table(
        [
            (
                summary.session_id[:length],
                short_time(summary.last_activity, day),
                reason,
                clean(summary.title),
            )
            for summary, reason in over
        ]
    )


def _trash(library: SessionLibrary, arguments: Namespace) -> int:
    if arguments.action == "restore":
        print(library.restore(arguments.id))
        return 0
    notes = library.trashed()
    if arguments.action == "empty":
        return _empty_trash(library, len(notes), arguments)
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


def _empty_trash(library: SessionLibrary, count: int, arguments: Namespace) -> int:
    if not count:
        print("The trash is empty.")
        return 0
    question = f"Delete {counted(count, 'session')} in the trash permanently?"
    if not (arguments.yes or confirm(question)):
        return 1
    print(f"{library.empty_trash()} deleted.")
    return 0


_COMMANDS = {
    "view": _view,
    "export": _export,
    "import": _import,
    "rename": _rename,
    "pin": _pin,
    "tag": _tag,
    "archive": _archive,
    "fork": _fork,
    "delete": _delete,
    "clear": _clear,
    "cleanup": _cleanup,
    "trash": _trash,
}
