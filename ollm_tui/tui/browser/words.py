"""A point in words: what it is called, and the facts one has to know before going there."""

from __future__ import annotations

from collections.abc import Iterator

from ollm_tui.core.counts import counted
from ollm_tui.core.intake import clean, visible
from ollm_tui.core.session.branches import Branch
from ollm_tui.core.session.goals import active_goal
from ollm_tui.core.snapshot import ContextSnapshot, SnapshotSummary
from ollm_tui.tui.browser.snapshot_choices import snapshot_mark, snapshot_name
from ollm_tui.tui.stream.entries.message_entries import local_time


def snapshot_title(snapshot: SnapshotSummary) -> str:
    """A snapshot with its mark and its time."""
    name = " ".join(snapshot_name(snapshot).split())
    return f"{snapshot_mark(snapshot)} {name}   {local_time(snapshot.timestamp)}".rstrip()


def branch_title(branch: Branch) -> str:
    """A branch, and whether it is the one that goes on."""
    words = " ".join(clean(branch.name).split())
    return f"{words}   the present branch" if branch.is_current else f"branch {words}"


def point_facts(context: ContextSnapshot) -> Iterator[str]:
    """What is in a context, in a few lines."""
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
