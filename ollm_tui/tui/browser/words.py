"""The words of the session browser and the sidebar: texts, marks and keys, and functions that
put points, snapshots and sessions into words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ollm_tui.core import clock
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

NO_SESSIONS = "No sessions yet. Type a message to start one."
F3_LISTS_ALL = "F3 lists all"
GONE_HEADING = "Deleted sessions with snapshots"
MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
LIST_KEYS = (
    *(("sessions.open_found", "open"), ("sessions.keep_title", "save")),
    *(("sessions.open", "open"), ("sessions.find", "find"), ("sessions.new", "new")),
    *(("sessions.rename", "rename"), ("sessions.pin", "pin"), ("sessions.fork", "fork")),
    *(("sessions.delete", "delete"), ("sessions.undo", "undo")),
    *(("sessions.list", "list"), ("sessions.back", "back")),
)
"""What may be done in a list, by the ids of bindings; those that are active are shown."""
FROM_FINDING = "more actions"
"""What the list offers; in the find line letters are no keys."""
REASONS: Mapping[Reason, str] = {
    "compression": "before compressing",
    "threshold": "nearly full",
    "overflow": "before a message that was too long",
    "restore": "before a rewind",
    "clear": "before clearing",
    "model": "before a model switch",
    "mode": "before a mode switch",
    "tool": "before a change by the model",
    "fork": "before forking",
    "manual": "manual",
    "older": "from an earlier version",
}

# What is done with a point, and what comes of it

BUSY = "Open in another window · f forks this point into a new session"
MARKED = "Marked · d on another line compares · m here unmarks"
EXPORT = "Export to\nThe extension sets the format: .md, .html or .json"
TAGS = "Tags of this session\nSeparated by spaces; also searched"
UNDO = "u undo"

# The preview and the timeline

GONE_TITLE = "Session deleted"
GONE_FACTS = ("Only its snapshots remain.", "Open one as a new session.")
MARK_WORDS: Mapping[MarkKind, str] = {
    "named": "snapshot",
    "automatic": "automatic",
    "compression": "compressed",
    "restore": "rewound",
    "loop": "loop",
    "model": "model switch",
}
NO_SNAPSHOTS = (
    "No snapshots yet. Ctrl+T takes one; so does every compression.",
    "No snapshots yet. Ctrl+T takes one.",
)
"""The first one that there is room for is shown."""

# The comparison of two points

DIFF_KEYS = "↑↓ PgUp PgDn scroll   n next difference   Esc close"
DIFF_LEGEND = "+ only right   − only left   ≈ sent differently"
FORM_WORDS: Mapping[Form, str] = {
    "": "",
    "sent": "",
    "folded": "folded",
    "elided": "shortened",
    "excluded": "excluded",
}
DIFF_SPEAKERS = {"user": "you", "assistant": "model", "system": "note", "tool": "tool"}
PART_NAMES = {
    "system": "always sent",
    "checkpoints": "checkpoints",
    "user": "yours",
    "assistant": "answers",
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
        go = "continue"
    compare = "diff with marked" if is_marked else "diff with now"
    return (
        ("sessions.open_found", go),
        ("sessions.look_found", "messages"),
        ("sessions.keep_title", "save"),
        ("sessions.list", FROM_FINDING),
        ("sessions.open", go),
        ("sessions.look", "messages"),
        ("sessions.expand", "snapshots"),
        ("sessions.fork", "fork"),
        ("sessions.diff", compare),
        ("sessions.mark", "mark"),
        ("sessions.part_before", "previous part"),
        ("sessions.part_after", "next part"),
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
        ("sessions.back_to", "rewind here"),
        ("sessions.before", "rewind before it"),
        ("sessions.graft", "attach"),
        ("sessions.fork_here", "fork here"),
        ("sessions.message_up sessions.message_down", "move"),
        ("sessions.extend_up sessions.extend_down", "select"),
        ("sessions.leave", "list"),
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
    return f"{words}   current branch" if branch.is_current else f"branch {words}"


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


def went_on(session: SessionSummary) -> str:
    """Say on which other machine a session went on, and how long ago; empty if on none."""
    if not session.went_on:
        return ""
    words = f"continued on {clean(session.went_on)}"
    try:
        seconds = (datetime.now(UTC) - clock.parse(session.went_on_at)).total_seconds()
    except ValueError:
        return words
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{words}, {int(seconds // size)} {unit} ago"
    return f"{words}, just now"


def session_facts(session: SessionSummary) -> Iterable[str]:
    """Return the facts of a session, in at most five lines."""
    elsewhere = [went_on(session)]
    who = [visible(session.model), visible(session.provider)]
    size = [counted(session.message_count, "message")]
    if session.token_count:
        size.append(f"{short_count(session.token_count)} tokens")
    times = [
        f"started {local_time(session.start_time)}",
        f"last {local_time(session.last_activity)}",
    ]
    where = [visible(session.project or ""), *(f"#{visible(tag)}" for tag in session.tags)]
    lines = (" · ".join(filter(None, parts)) for parts in (elsewhere, who, size, times, where))
    return filter(None, lines)


def part_facts(session: Session, titles: Mapping[str, str]) -> Iterator[str]:
    """Yield which sessions a session is linked to, by the titles of those that are there."""
    for words, other in (("continues", session.continues), ("continued in", session.continued_in)):
        if other:
            title = " ".join(clean(titles.get(other, "")).split())
            yield f"{words} “{title}”" if title else f"{words} a deleted session"


# Said in browser_actions

CHOOSE_OR_MARK = "choose a snapshot or branch, or mark another line with m"
IS_CURRENT = "That is the current state"
NO_MESSAGES_HERE_YET = "No messages here yet"
MARK_ANOTHER_LINE_WITH_M = "mark another line with m"

# Said in commands

ASKING_FOR_A_TITLE = "Asking the model for a title …"
TITLE_OF_THIS_SESSION = "Title of this session"
NOTHING_TO_SAVE_YET = "Nothing to save yet"
SEND_FIRST = "send a message first"
IS_EPHEMERAL = "Ephemeral sessions are not saved"
EXPORT_INSTEAD = "/export writes one to a file"
ASK_THE_DOCTOR = "ollm doctor finds out why"
NOTHING_TO_EXPORT_YET = "Nothing to export yet"
NO_MESSAGE_SELECTED = "No message selected"
ALT_UP_SELECTS_ONE = "Alt+↑ selects one"
RESTORE_LISTS_ALL = "/restore lists all"

# Said in session_actions

TAGS_RESTORED = "Tags restored"
OLD_NAME_RESTORED = "Old name restored"
PIN_RESTORED = "Pin restored"
FORK_MOVED_TO_THE_TRASH = "Fork moved to the trash"
FORKED = "Forked into a new session · Enter opens it"
NOTHING_TO_UNDO = "Nothing to undo"
WHERE_THE_TRASH_IS = "ollm sessions trash list shows deleted sessions"

# Said in session_pane

TYPE_TO_FIND = "Type to find"
NEW_TITLE = "New title"
