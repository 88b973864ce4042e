"""Commands among the entries of a branch: in the order they happened, where they were run."""

from __future__ import annotations

from msgspec.structs import replace

from ollm_tui.core.session.compression import CompressedContext
from ollm_tui.core.session.session import AFTER, ToolCall, ToolResult
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.tui.stream.entries.job_entries import with_commands
from ollm_tui.tui.stream.transcript.entry import Entry
from tests.core.session.test_branches import at, said, session
from tests.snapshot_samples import compression


def talk(*calls: ToolCall) -> SessionState:
    """A question and its answer, compressed at the fifth minute."""
    state = session(said("u1", "user", 0), said("a1", "assistant", 1, "u1"))
    compressed = replace(compression(CompressedContext()), number=1, at=at(5), last="a1")
    metadata = replace(state.header.metadata, compression_history=(compressed,))
    state.header = replace(state.header, metadata=metadata)
    state.tool_calls += calls
    return state


def ran(key: str, minute: int, after: str = "a1") -> ToolCall:
    args = {"code": "ls", AFTER: after}
    return ToolCall(f"job-{key}", "exec", args, ToolResult("[exit 0]"), at(minute))


def shown(state: SessionState) -> list[str]:
    entries = [Entry("u1", "user"), Entry("a1", "assistant"), Entry("compression-1", "note")]
    return [entry.key for entry in with_commands(entries, state)]


def test_a_command_stands_before_or_after_a_compression_as_it_was_run() -> None:
    state = talk(ran("early", 4), ran("late", 6))
    assert shown(state) == ["u1", "a1", "job-early", "compression-1", "job-late"]


def test_a_command_of_another_branch_is_left_out() -> None:
    assert shown(talk(ran("left", 4, "a9"))) == ["u1", "a1", "compression-1"]


def test_a_command_without_a_place_is_on_every_branch() -> None:
    assert "job-old" in shown(talk(ran("old", 4, "")))
