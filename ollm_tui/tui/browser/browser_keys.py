"""The words for the keys of the browser: the same key means another thing on another line."""

from __future__ import annotations

from ollm_tui.engine.snapshots.points import Point

FROM_FINDING = "list: fork, diff, rename, pin, export, delete, undo"
"""What waits there: while one types, letters are words to find."""


def keys_for(
    point: Point | None, current: str | None, *, is_marked: bool, is_gone: bool = False
) -> tuple[tuple[str, str], ...]:
    """Ids of bindings, each with what it does to a point; those that are not live are left out."""
    go = "open"
    if is_gone:
        go = "open as a new session" if point and point.snapshot else "its snapshots"
    elif point and point.snapshot:
        go = "restore here"
    elif point and point.message:
        go = "switch to this branch"
    elif point and point.session_id == current:
        go = "go on with it"
    look = "its messages" if is_gone else "go back to a message"
    compare = "diff with the marked" if is_marked else "diff with now"
    return (
        ("sessions.open_found", go),
        ("sessions.look_found", look),
        ("sessions.keep_title", "keep this name"),
        ("sessions.list", FROM_FINDING),
        ("sessions.open", go),
        ("sessions.look", look),
        ("sessions.expand", "its snapshots"),
        ("sessions.fork", "fork"),
        ("sessions.diff", compare),
        ("sessions.mark", "mark"),
        ("sessions.rename", "rename"),
        ("sessions.pin", "pin"),
        ("sessions.export", "export"),
        ("sessions.copy_id", "copy id"),
        ("sessions.tags", "tags"),
        ("sessions.archive", "archive"),
        ("sessions.delete", "delete"),
        ("sessions.undo", "undo"),
        ("sessions.new", "new"),
        ("sessions.find", "find"),
        ("sessions.back_to", "go back to this message"),
        ("sessions.before", "go back to before it"),
        ("sessions.graft", "bring into the prompt"),
        ("sessions.fork_here", "fork from here"),
        ("sessions.message_up", "j move"),
        ("sessions.extend_up", "J mark several"),
        ("sessions.leave", "the list"),
        ("sessions.back", "back"),
        ("sessions.close", "close"),
    )
