"""Going back is planned without touching anything; what the session lacks becomes a new branch."""

from __future__ import annotations

import json
from pathlib import Path

from msgspec.structs import replace

from ollm_tui.core.session.compression import CompressedContext
from ollm_tui.core.session.encoding import decode_record, decode_session, encode
from ollm_tui.core.session.message import Text
from ollm_tui.core.session.record import MessageAdded, SessionChanged
from ollm_tui.core.session.session import Session, ToolCall, ToolResult
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.core.snapshot import snapshot_of
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.services.snapshots.restore_plan import forked, restoration
from ollm_tui.storage.importers.older_snapshots import older_snapshot
from ollm_tui.storage.store_layout import StoreLayout
from tests.session_lives import apply, prompt_of
from tests.snapshot_samples import MOMENT, message, rich_session, rich_state, sample_snapshot

GOLDEN = Path(__file__).parents[2] / "storage" / "importers" / "golden" / "snapshots"


def test_going_back_in_the_same_session_adds_no_message() -> None:
    state = rich_state()
    snapshot = snapshot_of(state, 10, reason="manual")
    prompt = prompt_of(state)
    apply(state, MessageAdded(at=MOMENT, message=message("new", "user", parent="b1")))
    plan = restoration(snapshot, state)
    assert plan.missing == ()
    assert plan.head == "a5"
    apply(state, plan.record(MOMENT))
    assert prompt_of(state) == prompt
    assert "new" in state


def test_going_back_is_one_record_so_that_a_crash_leaves_old_or_new() -> None:
    record = restoration(sample_snapshot(), rich_state()).record(MOMENT)
    assert isinstance(record, SessionChanged)


def test_planning_changes_nothing() -> None:
    state = rich_state()
    before = state.session()
    restoration(sample_snapshot("another"), state)
    forked(sample_snapshot(), state)
    assert state.session() == before


def test_an_older_snapshot_comes_as_a_new_branch_with_its_goals_and_nothing_of_today() -> None:
    tree = json.loads((GOLDEN / "before-version-1.json").read_bytes())
    snapshot = older_snapshot(tree, "x", "y", MOMENT)
    assert snapshot is not None
    state = rich_state()
    plan = restoration(snapshot, state)
    assert [each.id for each in plan.missing] == list(snapshot.order)
    apply(state, plan.record(MOMENT))
    assert [each.text for each in state.branch()] == [each.text for each in snapshot.sent()]
    metadata = state.header.metadata
    assert [goal.text for goal in metadata.goals] == ["clean code"]
    assert (metadata.token_count, metadata.compressed) == (950, CompressedContext())
    assert (metadata.pins, metadata.excluded, metadata.folded) == ((), (), {})
    prompt = "\n".join(each.text for each in prompt_of(state))
    assert "clean code" in prompt and "ship it" not in prompt and "no threads" not in prompt
    assert state.header.system_prompt == "You are brief."
    assert "a5" in state


def test_messages_whose_ids_mean_something_else_here_get_other_ones() -> None:
    snapshot = sample_snapshot()
    session = rich_session("other")
    said = tuple(
        replace(each, parts=(Text("not that"),)) if each.id == "u2" else each
        for each in session.messages
    )
    state = SessionState(replace(session, messages=said))
    plan = restoration(snapshot, state)
    assert [each.parent_id for each in plan.missing][:1] == ["a2"]
    assert not {each.id for each in plan.missing} & {each.id for each in said}
    apply(state, plan.record(MOMENT))
    assert prompt_of(state) == prompt_of(rich_state())
    assert state["u2"].text == "not that"


def test_a_fork_can_be_put_into_the_store_and_says_where_it_comes_from(tmp_path: Path) -> None:
    library = SessionLibrary.at(StoreLayout(tmp_path / "sessions"))
    state = rich_state()
    session_id = library.add(forked(sample_snapshot(), state))
    fork = library.load(session_id).state
    assert prompt_of(fork) == prompt_of(state)
    assert fork.header.title == "a sample (fork)"
    assert fork.header.forked_from == state.header.session_id
    assert "b1" not in fork
    library.close()


def test_a_fork_of_a_session_that_is_gone_has_the_title_of_the_snapshot() -> None:
    fork = forked(sample_snapshot())
    assert (fork.title, fork.model, fork.window) == ("look again (fork)", "scripted", 8192)
    assert [each.id for each in fork.messages] == list(sample_snapshot().order)


def test_an_empty_snapshot_empties_the_context_and_keeps_the_words() -> None:
    empty = SessionState(Session("s", MOMENT, MOMENT, "m", "p"))
    snapshot = snapshot_of(empty, 0, reason="manual")
    state = rich_state()
    apply(state, restoration(snapshot, state).record(MOMENT))
    assert state.header.head is None
    assert len(state) == len(rich_state())
    again = SessionState(decode_session(encode(state.session())))
    assert (again.header.head, again.branch()) == (None, [])


def test_a_branch_that_comes_along_is_one_record_and_survives_the_disk() -> None:
    state, snapshot = SessionState(Session("s", MOMENT, MOMENT, "m", "p")), sample_snapshot()
    record = restoration(snapshot, state).record(MOMENT)
    apply(state, decode_record(encode(record)))
    assert prompt_of(state) == prompt_of(rich_state())
    assert state.header.messages == ()


def test_a_fork_has_the_commands_that_were_run_before_the_snapshot() -> None:
    state, snapshot = rich_state(), sample_snapshot()
    times = (MOMENT, "2999-01-01T00:00:00.000000Z")
    state.tool_calls += [
        ToolCall(f"job-{number}", "exec", {}, ToolResult("printed"), moment)
        for number, moment in enumerate(times)
    ]
    assert [call.id for call in forked(snapshot, state).tool_calls] == ["job-0"]
