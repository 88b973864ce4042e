"""The words of the session browser and the sidebar: texts, marks and keys, and functions that
put points, snapshots and sessions into words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from ollm_tui.core.counts import counted, short_count
from ollm_tui.core.intake import clean, visible
from ollm_tui.core.session.branches import Branch
from ollm_tui.core.session.goals import active_goal
from ollm_tui.core.session.session import Session, SessionSummary
from ollm_tui.core.session.timeline import MarkKind
from ollm_tui.core.snapshot import ContextSnapshot, Reason, SnapshotSummary
from ollm_tui.engine.snapshots.points import Point
from ollm_tui.tui.stream.entries.message_entries import local_time

if TYPE_CHECKING:
    from ollm_tui.services.snapshots.snapshot_diff import Form

# The lists of sessions

NO_SESSIONS = "No sessions yet. Type a message to begin one."
GONE_HEADING = "Gone sessions: only snapshots are left"
MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
LIST_KEYS = (
    *(("sessions.open_found", "open"), ("sessions.keep_title", "keep this title")),
    *(("sessions.open", "open"), ("sessions.find", "find"), ("sessions.new", "new")),
    *(("sessions.rename", "rename"), ("sessions.pin", "pin"), ("sessions.fork", "fork")),
    *(("sessions.delete", "delete"), ("sessions.undo", "undo")),
    *(("sessions.list", "list"), ("sessions.back", "back")),
)
"""What may be done in a list, by the ids of bindings; those that are active are shown."""
FROM_FINDING = "list: fork, diff, rename, pin, export, delete, undo"
"""What the list offers; it has to be named, since in the find line letters are no keys."""
REASONS: Mapping[Reason, str] = {
    "compression": "before compressing",
    "threshold": "nearly full",
    "overflow": "before a message that did not fit",
    "restore": "before going back",
    "clear": "before clearing",
    "model": "before another model",
    "mode": "before another mode",
    "tool": "before the model changed something",
    "fork": "before forking",
    "manual": "by hand",
    "older": "of an earlier program",
}

# What is done with a point, and what comes of it

BUSY = "another window has that session open: f forks this point into a new session instead"
MARKED = "marked · d on another line compares the two · m here again takes the mark off"
EXPORT = "Export to\nThe ending says in which form: .md, .html or .json"
TAGS = "Tags of this session\nWords; finding looks at them too"
UNDO = "u undo"

# The preview and the timeline

GONE_TITLE = "The session is gone"
GONE_FACTS = ("Only its snapshots are left.", "Each can be opened as a new session.")
MARK_WORDS: Mapping[MarkKind, str] = {
    "named": "snapshot",
    "automatic": "automatic",
    "compression": "compressed",
    "restore": "went back",
    "loop": "repeated itself",
    "model": "other model",
}
NO_SNAPSHOTS = (
    "No snapshots yet. Ctrl+T takes one; every compression takes one by itself.",
    "No snapshots yet. Ctrl+T takes one, compressing does too.",
    "No snapshots yet. Ctrl+T takes one.",
)
"""The first one that there is room for is shown."""

# The comparison of two points

DIFF_KEYS = "j k PgUp PgDn g G read   n next difference   Esc close"
DIFF_LEGEND = "+ only right   − only left   ≈ sent in another form"
FORM_WORDS: Mapping[Form, str] = {
    "": "",
    "sent": "",
    "folded": "folded",
    "elided": "cut short",
    "excluded": "left out",
}
DIFF_SPEAKERS = {"user": "you", "assistant": "model", "system": "note", "tool": "tool"}
PART_NAMES = {
    "system": "always sent",
    "checkpoints": "checkpoints",
    "user": "yours",
    "assistant": "the model's",
    "tools": "tools",
}

# Marks before the names of sessions, snapshots and branches

PINNED, OPENED, DAMAGED = "★", "▸", "!"
"""`OPENED` is the session in the chat; in a tree it has `CURRENT`, as `FOLDED` looks the same."""
FOLDED, UNFOLDED = "▸", "▾"
NAMED, AUTOMATIC, CURRENT = "◆", "◇", "●"


def keys_for(
    point: Point | None, current: str | None, *, is_marked: bool, is_gone: bool = False
) -> tuple[tuple[str, str], ...]:
    """Return what can be done with a point, by the ids of bindings; the active ones are shown.

    `is_marked`: another point is marked to be compared with. `is_gone`: only snapshots are left.
    """
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
        ("sessions.part_before", "part before"),
        ("sessions.part_after", "part after"),
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


def snapshot_mark(snapshot: SnapshotSummary) -> str:
    """Return the mark of a snapshot in lists and titles."""
    if snapshot.damage:
        return DAMAGED
    return AUTOMATIC if snapshot.is_automatic else NAMED


def snapshot_name(snapshot: SnapshotSummary) -> str:
    """Return the name of a snapshot, or why it was taken."""
    return clean(snapshot.name) or REASONS[snapshot.reason]


def snapshot_title(snapshot: SnapshotSummary) -> str:
    """Return the title of a snapshot: its mark, its name and its time."""
    name = " ".join(snapshot_name(snapshot).split())
    return f"{snapshot_mark(snapshot)} {name}   {local_time(snapshot.timestamp)}".rstrip()


def branch_title(branch: Branch) -> str:
    """Return the title of a branch, which says whether it is the present one."""
    words = " ".join(clean(branch.name).split())
    return f"{words}   the present branch" if branch.is_current else f"branch {words}"


def point_facts(context: ContextSnapshot) -> Iterator[str]:
    """Yield what is in a context, in at most three lines."""
    yours = len(context.user_messages)
    counts = [counted(len(context.order), "message"), f"{yours:,} yours"]
    if context.checkpoints:
        counts.append(counted(len(context.checkpoints), "checkpoint"))
    if context.pins:
        counts.append(f"{len(context.pins):,} pinned")
    if context.files:
        counts.append(f"{counted(len(context.files), 'file')} changed")
    yield " · ".join(counts)
    if goal := active_goal(context.goal_stack.goals):
        yield f"goal “{visible(goal.text)}”"
    names = (visible(context.metadata.model), visible(context.provider))
    who = [name for name in names if name != "unknown"]
    if context.mode != "assistant":
        who.append(f"mode {visible(context.mode)}")
    if who:
        yield " · ".join(who)


def session_facts(session: SessionSummary) -> Iterable[str]:
    """Return the facts of a session, in at most four lines."""
    who = [visible(session.model), visible(session.provider)]
    size = [counted(session.message_count, "message")]
    if session.token_count:
        size.append(f"{short_count(session.token_count)} tokens")
    times = [f"begun {local_time(session.start_time)}", f"last {local_time(session.last_activity)}"]
    where = [visible(session.project or ""), *(f"#{visible(tag)}" for tag in session.tags)]
    lines = (" · ".join(filter(None, parts)) for parts in (who, size, times, where))
    return filter(None, lines)


def part_facts(session: Session, titles: Mapping[str, str]) -> Iterator[str]:
    """Yield which sessions a session is linked to, by the titles of those that are there."""
    for words, other in (("continues", session.continues), ("continued in", session.continued_in)):
        if other:
            title = " ".join(clean(titles.get(other, "")).split())
            yield f"{words} “{title}”" if title else f"{words} a session that is gone"
