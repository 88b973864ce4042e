"""`ollm snapshots`: lists, shows, compares, takes, restores and deletes snapshots."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ollm_tui.cli.output import confirm, print_json, print_table, short_time, today
from ollm_tui.cli.store import load, open_library
from ollm_tui.core.counts import counted, short_count
from ollm_tui.core.errors import (
    SessionBusy,
    SessionDamaged,
    SessionNotFound,
    SessionReadOnly,
    UsageError,
)
from ollm_tui.core.intake import clean
from ollm_tui.core.snapshot import ContextSnapshot, SnapshotSummary
from ollm_tui.services.sessions.session_catalogue import only_one
from ollm_tui.services.snapshots.closed_sessions import ClosedSessions, present
from ollm_tui.services.snapshots.snapshot_library import DELETED_DAYS, SnapshotLibrary, one_line

if TYPE_CHECKING:
    from ollm_tui.services.sessions.session_library import SessionLibrary

SHORT_ID = 8
NOW = "now:"
"""The prefix that makes a session's id stand for the session as it is now."""


class _Store(NamedTuple):
    """What the commands work on."""

    sessions: SessionLibrary
    snapshots: SnapshotLibrary
    closed: ClosedSessions

    def get(self, prefix: str) -> ContextSnapshot:
        return self.snapshots.get(*self.snapshots.find(prefix))


def run(arguments: Namespace) -> int:
    """Run one command of the group."""
    loaded = load()
    sessions = open_library(loaded)
    snapshots = SnapshotLibrary.beside(sessions.store)
    closed = ClosedSessions(sessions, snapshots, loaded.settings.snapshots)
    try:
        return _COMMANDS[arguments.command](_Store(sessions, snapshots, closed), arguments)
    finally:
        sessions.close()


def _list(store: _Store, arguments: Namespace) -> int:
    if arguments.session:
        found = store.snapshots.list(_session(store, arguments.session))
    else:
        every = (store.snapshots.list(name) for name in store.snapshots.counts())
        found = sorted(
            (each for some in every for each in some), key=lambda each: each.timestamp, reverse=True
        )
    if arguments.json:
        from msgspec import to_builtins

        print_json([to_builtins(summary) for summary in found])
    elif found:
        _print_summaries(found, with_sessions=not arguments.session)
    else:
        session = arguments.session or "SESSION"
        print(f"No snapshots yet. Take one with: ollm snapshots create {session}")
    return 0


def _show(store: _Store, arguments: Namespace) -> int:
    from ollm_tui.cli.session_text import snapshot_text

    snapshot = store.get(arguments.id)
    if arguments.json:
        from ollm_tui.core.session.encoding import parse_json
        from ollm_tui.core.snapshot_encoding import encode_snapshot

        print_json(parse_json(encode_snapshot(snapshot)))
    else:
        print(snapshot_text(snapshot))
    return 0


def _diff(store: _Store, arguments: Namespace) -> int:
    from ollm_tui.cli.session_text import diff_text, diff_tree
    from ollm_tui.services.snapshots.snapshot_diff import diff

    left, right = _point(store, arguments.a), _point(store, arguments.b)
    found = diff(left, right)
    if arguments.json:
        print_json(diff_tree(found))
    else:
        print(diff_text(left, right, found))
    return 0


def _restore(store: _Store, arguments: Namespace) -> int:
    snapshot = store.get(arguments.id)
    if arguments.fork:
        print(store.closed.fork(snapshot))
        return 0
    copy = f"ollm snapshots restore {arguments.id} --fork restores it into a new session"
    try:
        done = store.closed.restore(snapshot)
    except SessionBusy as error:
        raise SessionBusy(error.message, copy) from error
    except SessionNotFound as error:
        raise SessionNotFound(error.message, copy) from error
    except (SessionDamaged, SessionReadOnly):
        print(f"The session is read-only. Restored into a copy: {store.closed.fork(snapshot)}")
        return 0
    print(f"Restored to: {clean(done.title)}")
    if done.safety:
        print(f"Undo with: ollm snapshots restore {done.safety[:SHORT_ID]}")
    else:
        print("Cannot be undone: snapshots are off")
    return 0


def _delete(store: _Store, arguments: Namespace) -> int:
    # All are looked up before the first is removed, so that a typing error removes none.
    found = dict.fromkeys(store.snapshots.find(prefix) for prefix in arguments.ids)
    if not (arguments.yes or confirm(f"Delete {counted(len(found), 'snapshot')}?")):
        return 1
    for session_id, snapshot_id in found:
        store.snapshots.delete(session_id, snapshot_id)
    print(f"Restore one within {DELETED_DAYS} days with: ollm snapshots trash restore ID")
    return 0


def _trash(store: _Store, arguments: Namespace) -> int:
    if arguments.action == "restore":
        session_id, snapshot_id = store.snapshots.find_deleted(arguments.id)
        store.snapshots.undelete(session_id, snapshot_id)
        print(snapshot_id)
        return 0
    deleted = store.snapshots.deleted()
    if arguments.json:
        from msgspec import to_builtins

        print_json([{**to_builtins(each.summary), "deletedAt": each.at} for each in deleted])
    elif deleted:
        _print_summaries([each.summary for each in deleted], with_sessions=True)
    else:
        print(f"Nothing deleted in the last {DELETED_DAYS} days.")
    return 0


def _create(store: _Store, arguments: Namespace) -> int:
    session_id = store.sessions.catalogue.resolve(arguments.session)
    try:
        taken = store.closed.take(session_id, arguments.name or "")
    except SessionBusy as error:
        raise SessionBusy(error.message, "use /snapshot there") from error
    print(taken.id)
    return 0


def _rename(store: _Store, arguments: Namespace) -> int:
    name = one_line(" ".join(arguments.name))
    if not name:
        raise UsageError("a name needs at least one character", "ollm snapshots rename ID NAME")
    store.snapshots.rename(*store.snapshots.find(arguments.id), name)
    return 0


def _pin(store: _Store, arguments: Namespace) -> int:
    store.snapshots.pin(*store.snapshots.find(arguments.id), not arguments.off)
    return 0


_COMMANDS = {
    "list": _list,
    "show": _show,
    "diff": _diff,
    "restore": _restore,
    "delete": _delete,
    "create": _create,
    "rename": _rename,
    "pin": _pin,
    "trash": _trash,
}


def _session(store: _Store, prefix: str) -> str:
    """Return the id of a session that exists, or of one of which only snapshots are left."""
    try:
        return store.sessions.catalogue.resolve(prefix)
    except SessionNotFound:
        names = [name for name in store.snapshots.counts() if name.startswith(prefix)]
        return only_one(names, prefix, "session", "ollm sessions list")


def _point(store: _Store, word: str) -> ContextSnapshot:
    """Return a snapshot by the start of its id, or a session as it is now."""
    if not word.startswith(NOW):
        return store.get(word)
    session_id = store.sessions.catalogue.resolve(word.removeprefix(NOW))
    return present(store.sessions.load(session_id).state)


def _print_summaries(summaries: Sequence[SnapshotSummary], *, with_sessions: bool) -> None:
    from ollm_tui.cli.session_listing import distinct_length
    from ollm_tui.cli.session_text import WHY

    length = distinct_length([summary.id for summary in summaries])
    owner_length = distinct_length(list({summary.session_id for summary in summaries}))
    day = today()
    rows = [
        (
            summary.id[:length],
            *((summary.session_id[:owner_length],) if with_sessions else ()),
            short_time(summary.timestamp, day),
            f"{summary.message_count} msg",
            f"{short_count(summary.token_count)} tok" if summary.token_count else "",
            WHY[summary.reason],
            ("★ " if summary.pinned else "")
            + clean(_damage(summary) or summary.name or summary.summary),
        )
        for summary in summaries
    ]
    print_table(rows, right=frozenset({3, 4} if with_sessions else {2, 3}))


def _damage(summary: SnapshotSummary) -> str:
    return f"(damaged: {summary.damage})" if summary.damage else ""
