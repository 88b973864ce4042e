"""Properties 1 to 9 of the design: what recording promises, for any session."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.session.record import Created, MessageAdded, ToolCallAdded
from ollm_tui.core.session.session import Session, is_session_id, new_session_id
from ollm_tui.services.sessions.recording import Recording
from ollm_tui.services.sessions.retention import enforce_retention
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.store_layout import StoreLayout
from tests.folders import quick_folder
from tests.generators import messages, names, sessions, times, tool_calls

unique_sessions = st.lists(sessions, max_size=6, unique_by=lambda session: session.session_id)


def library_in(folder: str) -> SessionLibrary:
    return SessionLibrary.at(StoreLayout(Path(folder) / "sessions"))


def file_of(library: SessionLibrary, session: Session) -> Any:
    return json.loads(library.store.layout.session(session.session_id).read_bytes())


@given(sessions)
def test_property_1_a_saved_session_loads_as_it_was(session: Session) -> None:
    with quick_folder() as folder:
        library = library_in(folder)
        library.add(session)
        assert library_in(folder).load(session.session_id).state.session() == session


@given(sessions)
def test_property_2_a_session_file_has_every_required_field(session: Session) -> None:
    with quick_folder() as folder:
        library = library_in(folder)
        library.add(session)
        tree = file_of(library, session)
    required = "sessionId startTime lastActivity model provider messages toolCalls metadata"
    assert set(required.split()) <= set(tree)
    assert {"tokenCount", "compressionCount"} <= set(tree["metadata"])
    for message in tree["messages"]:
        assert {"role", "parts", "timestamp"} <= set(message)
    for call in tree["toolCalls"]:
        assert {"id", "name", "args", "result", "timestamp"} <= set(call)


def timestamps_in(tree: Any) -> list[str]:
    own = ("timestamp", "startTime", "lastActivity")
    return [
        *(tree[key] for key in own if key in tree),
        *(item["timestamp"] for item in (*tree.get("messages", ()), *tree.get("toolCalls", ()))),
        *(change["timestamp"] for change in tree.get("metadata", {}).get("modeHistory", ())),
    ]


@given(sessions)
def test_property_3_every_timestamp_is_iso_8601(session: Session) -> None:
    with quick_folder() as folder:
        library = library_in(folder)
        library.add(session)
        for text in timestamps_in(file_of(library, session)):
            assert clock.parse(text).tzinfo is not None


@given(st.integers(1, 50))
def test_property_4_session_ids_are_unique_uuids(count: int) -> None:
    made = [new_session_id() for _ in range(count)]
    assert len(set(made)) == count
    assert all(is_session_id(name) for name in made)


@given(unique_sessions)
def test_property_5_a_list_has_every_session_with_its_counts(stored: list[Session]) -> None:
    with quick_folder() as folder:
        library = library_in(folder)
        for session in stored:
            library.add(session)
        listed = {s.session_id: s for s in library_in(folder).catalogue.summaries()}
    assert set(listed) == {session.session_id for session in stored}
    for session in stored:
        summary = listed[session.session_id]
        assert summary.message_count == len(session.messages)
        assert summary.token_count == session.metadata.token_count
        assert summary.last_activity == session.last_activity
        assert summary.pinned == session.pinned
        assert summary.tags == session.tags


@given(unique_sessions.filter(bool))
def test_property_6_a_deleted_session_is_gone_from_disk_and_list(stored: list[Session]) -> None:
    with quick_folder() as folder:
        library = library_in(folder)
        for session in stored:
            library.add(session)
        gone = stored[0].session_id
        library.delete(gone)
        left = {summary.session_id for summary in library.catalogue.summaries()}
        assert left == {session.session_id for session in stored} - {gone}
        assert not [path for path in Path(folder).rglob("*") if gone in path.name]


@given(st.lists(messages, min_size=1, max_size=5, unique_by=lambda m: m.id), st.lists(tool_calls))
def test_property_7_what_was_recorded_survives_a_kill(said: list[Any], calls: list[Any]) -> None:
    session = Session(new_session_id(), clock.now(), clock.now(), "m", "p")
    with quick_folder() as folder:
        child = os.fork()
        if child == 0:
            asyncio.run(_record_and_die(folder, session, said, calls))
        _, status = os.waitpid(child, 0)
        assert os.WTERMSIG(status) == signal.SIGKILL
        found = library_in(folder).load(session.session_id).state.session()
    assert list(found.messages) == said
    assert list(found.tool_calls) == calls


async def _record_and_die(folder: str, session: Session, said: list[Any], calls: list[Any]) -> None:
    library = library_in(folder)
    recorder = Recording(library.store, library.index).create(session)
    await recorder.record(Created(at=clock.now(), session=session))
    for message in said:
        await recorder.record(MessageAdded(at=clock.now(), message=message))
    for call in calls:
        await recorder.record(ToolCallAdded(at=clock.now(), tool_call=call))
    sys.stdout.flush()
    os.kill(os.getpid(), signal.SIGKILL)


@given(unique_sessions, st.integers(1, 5))
def test_property_8_only_the_newest_sessions_stay(stored: list[Session], keep: int) -> None:
    with quick_folder() as folder:
        library = library_in(folder)
        for session in stored:
            library.add(replace(session, pinned=False))
        moved = {summary.session_id for summary in enforce_retention(library, keep=keep)}
        left = {summary.session_id for summary in library.catalogue.summaries()}
    assert len(left) == min(keep, len(stored))
    assert left | moved == {session.session_id for session in stored}
    activity = {session.session_id: session.last_activity for session in stored}
    assert all(activity[old] <= activity[new] for old in moved for new in left)


@given(st.lists(st.tuples(messages, times), max_size=8, unique_by=lambda pair: pair[0].id), names)
def test_property_9_last_activity_never_goes_back(said: list[tuple[Any, str]], model: str) -> None:
    async def record() -> list[datetime]:
        with quick_folder() as folder:
            library = library_in(folder)
            session = Session(new_session_id(), clock.now(), clock.now(), model, "p")
            recorder = Recording(library.store, library.index).create(session)
            seen = [clock.parse(session.last_activity)]
            for message, moment in said:
                await recorder.record(MessageAdded(at=moment, message=message))
                seen.append(clock.parse(recorder.state.header.last_activity))
            return seen

    moments = asyncio.run(record())
    assert moments == sorted(moments)
    assert all(moment.tzinfo == UTC for moment in moments)
