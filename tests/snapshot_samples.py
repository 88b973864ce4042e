"""Sessions to take snapshots of: branches, checkpoints, goals, thoughts, pins, modes, notes."""

from __future__ import annotations

from itertools import pairwise

from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.session.compression import Checkpoint, CompressedContext, Compression, Ledger
from ollm_tui.core.session.context_entry import ContextEntry
from ollm_tui.core.session.goals import Decision, Goal, Subtask
from ollm_tui.core.session.message import (
    Message,
    Part,
    Reasoning,
    Role,
    Text,
    ToolCallPart,
    ToolResultPart,
)
from ollm_tui.core.session.session import Metadata, ModeChange, Session
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.core.snapshot import ContextSnapshot, Reason, snapshot_of

SESSION_ID = "5e551011-0000-4000-8000-00000000000a"
MOMENT = "2026-01-27T10:00:00.000000Z"


def message(key: str, role: Role, *parts: Part, parent: str | None = None) -> Message:
    """A message; without parts it says its own name."""
    return Message(key, role, parts or (Text(f"words of {key}"),), MOMENT, parent_id=parent)


def checkpoint(key: str, *covered: str) -> Checkpoint:
    """A checkpoint that stands for some messages."""
    return Checkpoint(
        id=key,
        level=3,
        covers=(covered[0], covered[-1]),
        messages=covered,
        summary=f"what was said in {', '.join(covered)}",
        ledger=Ledger(),
        facts="files: x.py",
        original_tokens=100,
        current_tokens=20,
        compression_number=1,
        created_at=MOMENT,
    )


def compression(after: CompressedContext, *created: Checkpoint) -> Compression:
    """The compression that made them."""
    return Compression(
        number=1,
        at=MOMENT,
        strategy="hybrid",
        trigger="auto",
        before_tokens=500,
        after_tokens=200,
        before=CompressedContext(),
        after=after,
        created=created,
        elisions={"t2": "kept of t2"},
    )


def rich_metadata() -> Metadata:
    """One of everything."""
    made = checkpoint("cp1", "a1", "t1", "a2")
    after = CompressedContext(checkpoints=("cp1",), elided=("t2",))
    goal = Goal(
        "g1",
        "ship it",
        MOMENT,
        subtasks=(Subtask("s1", "test it"),),
        decisions=(Decision("d1", "no threads", MOMENT, locked=True),),
    )
    return Metadata(
        goals=(goal, Goal("g0", "begin", MOMENT, status="done")),
        pins=("a2", "u2"),
        excluded=("a3",),
        folded={"a4": 70},
        context_entries=(ContextEntry("style", "short lines", MOMENT),),
        mode_history=(ModeChange("assistant", "developer", MOMENT, "command"),),
        compressed=after,
        compression_history=(compression(after, made),),
    )


def rich_session(session_id: str = SESSION_ID) -> Session:
    """Two branches; on the current one a part stands behind a checkpoint."""
    said = [
        message("u1", "user"),
        message("a1", "assistant", Text("I look"), ToolCallPart("c1", "look", {"at": "x"})),
        message("t1", "tool", ToolResultPart("c1", "look", "data " * 30)),
        message("a2", "assistant", Reasoning("hm"), Text("found it")),
        message("u2", "user", Text("and then?")),
        message("a3", "assistant", Reasoning("let me see"), Text("then this")),
        message("u3", "user", Text("look again")),
        message("a4", "assistant", Text("words " * 60), ToolCallPart("c2", "look", {"at": "y"})),
        message("t2", "tool", ToolResultPart("c2", "look", "more data " * 30)),
        message("a5", "assistant", Text("done")),
    ]
    chained = [replace(each, parent_id=before.id) for before, each in pairwise(said)]
    other = message("b1", "assistant", Text("another answer"), parent="u1")
    return Session(
        session_id,
        MOMENT,
        MOMENT,
        "scripted",
        "scripted",
        title="a sample",
        messages=(said[0], *chained, other),
        metadata=rich_metadata(),
        head="a5",
        system_prompt="You are brief.",
        window=8192,
    )


def rich_state(session_id: str = SESSION_ID) -> SessionState:
    """The same, in hand."""
    return SessionState(rich_session(session_id))


def sample_snapshot(
    session_id: str = SESSION_ID, *, reason: Reason = "manual", name: str = ""
) -> ContextSnapshot:
    """A snapshot of a rich session."""
    return snapshot_of(rich_state(session_id), 1234, reason=reason, name=name)


def told(snapshot: ContextSnapshot) -> ContextSnapshot:
    """A snapshot without what no two have in common."""
    return replace(snapshot, id="", timestamp=clock.EPOCH)
