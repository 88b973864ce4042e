"""Properties 1 to 9 of the seeds: what recording promises, for any session."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.session.message import Message, Text
from ollm_tui.core.session.record import AnyRecord, Created, MessageAdded, ToolCallAdded
from ollm_tui.core.session.session import Metadata, Session, ToolCall, new_session_id
from ollm_tui.services.sessions.recording import Recording
from ollm_tui.services.sessions.retention import enforce_retention
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.store_layout import StoreLayout
from tests.conftest import promised
from tests.folders import quick_folder
from tests.generators import counts, messages, names, session_ids, sessions, tool_calls

ISO_8601 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
UUID_4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")

zones = st.integers(-12 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
moments = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=zones)


def written(moment: datetime) -> str:
    """A moment as session files have it, without asking the program how."""
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def read(text: str) -> datetime:
    """The moment that a session file tells, which has to say its zone."""
    assert ISO_8601.fullmatch(text), text
    return datetime.fromisoformat(text)


@st.composite
def short_sessions(draw: st.DrawFn) -> Session:
    """A session of few words: what a list tells of it varies, not what was said."""
    at = draw(moments)
    said = tuple(
        Message(f"m{number}", "user", (Text("hello"),), written(at))
        for number in range(draw(st.integers(0, 4)))
    )
    return Session(
        session_id=draw(session_ids),
        start_time=written(at),
        last_activity=written(draw(st.sampled_from((at, at + timedelta(hours=1))))),
        model=draw(names),
        provider=draw(names),
        messages=said,
        metadata=Metadata(token_count=draw(counts)),
        pinned=draw(st.booleans()),
        tags=tuple(draw(st.lists(names, max_size=2))),
    )


several_sessions = st.lists(
    short_sessions(), max_size=6, unique_by=lambda session: session.session_id
)


def library_in(folder: str) -> SessionLibrary:
    return SessionLibrary.at(StoreLayout(Path(folder) / "sessions"))


def file_of(library: SessionLibrary, session_id: str) -> Any:
    return json.loads(library.store.layout.session(session_id).read_bytes())


def filled(folder: str, stored: list[Session]) -> SessionLibrary:
    library = library_in(folder)
    for session in stored:
        library.add(session)
    return library


def write(library: SessionLibrary, session_id: str, record: AnyRecord) -> None:
    """Record something as another process does, of which the index hears nothing."""
    writer, loaded = library.store.open(session_id)
    writer.append([(loaded.state.header.journal_seq + 1, record)])
    writer.close()


def listed(library: SessionLibrary) -> set[str]:
    return {summary.session_id for summary in library.catalogue.summaries()}


@promised
@given(sessions)
def test_property_1_a_saved_session_loads_as_it_was(session: Session) -> None:
    """Feature: services-sessions, Property 1: Session persistence round-trip."""
    with quick_folder() as folder:
        library_in(folder).add(session)
        assert library_in(folder).load(session.session_id).state.session() == session


@promised
@given(sessions)
def test_property_2_a_session_file_has_every_required_field(session: Session) -> None:
    """Feature: services-sessions, Property 2: Session file format completeness."""
    with quick_folder() as folder:
        library = library_in(folder)
        library.add(session)
        tree = file_of(library, session.session_id)
    required = "sessionId startTime lastActivity model provider messages toolCalls metadata"
    assert set(required.split()) <= set(tree)
    assert {"tokenCount", "compressionCount", "modeHistory"} <= set(tree["metadata"])
    assert len(tree["messages"]) == len(session.messages)
    for message in tree["messages"]:
        assert {"role", "parts", "timestamp"} <= set(message)
        assert all("type" in part for part in message["parts"])
    assert len(tree["toolCalls"]) == len(session.tool_calls)
    for call in tree["toolCalls"]:
        assert {"id", "name", "args", "result", "timestamp"} <= set(call)
        assert "llmContent" in call["result"]


TIMES = ("timestamp", "startTime", "lastActivity", "at")


def times_in(tree: Any) -> Iterator[str]:
    """Every time in a session file; arguments and parts hold what others wrote."""
    if isinstance(tree, list):
        for item in cast("list[Any]", tree):
            yield from times_in(item)
    elif isinstance(tree, dict):
        for key, value in cast("dict[str, Any]", tree).items():
            if key in TIMES:
                yield value
            elif key not in ("args", "parts", "result"):
                yield from times_in(value)


@promised
@given(sessions, moments)
def test_property_3_every_time_is_iso_8601_with_its_zone(
    session: Session, moment: datetime
) -> None:
    """Feature: services-sessions, Property 3: Timestamp format validity."""
    said = Message("said", "user", (Text("hello"),), clock.iso(moment))
    with quick_folder() as folder:
        library = library_in(folder)
        library.add(session)
        library.record(
            session.session_id, lambda _: [MessageAdded(at=said.timestamp, message=said)]
        )
        forked = library.fork(session.session_id)
        trees = [file_of(library, key) for key in (session.session_id, forked)]
    for tree in trees:
        found = [read(text) for text in times_in(tree)]
        assert len(found) >= 2 + len(tree["messages"]) + len(tree["toolCalls"])
        assert read(tree["messages"][-1]["timestamp"]) == moment


@pytest.fixture(scope="module")
def ids_so_far() -> set[str]:
    """The ids of all sessions that were made, over all examples."""
    return set()


@promised
@given(session=short_sessions(), count=st.integers(0, 1000))
def test_property_4_session_ids_are_unique_uuids(
    ids_so_far: set[str], session: Session, count: int
) -> None:
    """Feature: services-sessions, Property 4: Session ID uniqueness and format."""
    with quick_folder() as folder:
        library = library_in(folder)
        library.add(session)
        # A fork, a session whose own id is taken, and as many new ones.
        made = [library.fork(session.session_id), library.add(session)]
        assert listed(library) == {session.session_id, *made}
    made += [new_session_id() for _ in range(count)]
    assert all(UUID_4.fullmatch(name) for name in made)
    assert len(set(made)) == len(made)
    assert not ids_so_far.intersection(made)
    ids_so_far.update(made)


@promised
@given(several_sessions, st.lists(st.integers(0, 5), max_size=3))
def test_property_5_a_list_has_every_session_with_its_counts(
    stored: list[Session], said_again: list[int]
) -> None:
    """Feature: services-sessions, Property 5: Session listing completeness."""
    more = dict.fromkeys((session.session_id for session in stored), 0)
    with quick_folder() as folder:
        library = filled(folder, stored)
        assert listed(library) == set(more)
        for place in said_again if stored else ():
            # A listing before must not hide what was said after it.
            session = stored[place % len(stored)]
            key = session.session_id
            more[key] += 1
            said = Message(f"more{more[key]}", "user", (Text("and"),), session.start_time)
            write(library, key, MessageAdded(at=said.timestamp, message=said))
        summaries = library_in(folder).catalogue.summaries()
        assert library.catalogue.summaries() == summaries
    assert sorted(summary.session_id for summary in summaries) == sorted(more)
    for session in stored:
        (summary,) = (s for s in summaries if s.session_id == session.session_id)
        assert summary.message_count == len(session.messages) + more[session.session_id]
        assert summary.token_count == session.metadata.token_count
        for field in ("start_time", "last_activity", "model", "provider", "pinned", "tags"):
            assert getattr(summary, field) == getattr(session, field)


@promised
@given(several_sessions.filter(bool))
def test_property_6_a_deleted_session_is_gone_from_disk_and_list(stored: list[Session]) -> None:
    """Feature: services-sessions, Property 6: Session deletion removes file."""
    with quick_folder() as folder:
        library = filled(folder, stored)
        gone = stored[0].session_id
        library.delete(gone)
        left = {session.session_id for session in stored} - {gone}
        assert listed(library) == listed(library_in(folder)) == left
        found = [path.name for path in Path(folder).rglob("*")]
        assert not [name for name in found if gone in name], "folders of the trash have its name"
        assert all(f"{name}.json" in found for name in left)


@promised
@given(st.lists(messages, min_size=1, max_size=5, unique_by=lambda m: m.id), st.lists(tool_calls))
def test_property_7_what_was_recorded_survives_a_kill(said: list[Any], calls: list[Any]) -> None:
    """Feature: services-sessions, Property 7: Session auto-save durability."""
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


@promised
@given(several_sessions, st.integers(1, 5))
def test_property_8_only_the_newest_sessions_stay(stored: list[Session], keep: int) -> None:
    """Feature: services-sessions, Property 8: Session count limit enforcement."""
    with quick_folder() as folder:
        library = filled(folder, stored)
        moved = {summary.session_id for summary in enforce_retention(library, keep=keep)}
        left = listed(library_in(folder))
        on_disk = {path.stem for path in library.store.layout.sessions.glob("*.json")}
    assert left == on_disk
    assert left | moved == {session.session_id for session in stored}
    pinned = {session.session_id for session in stored if session.pinned}
    assert pinned <= left
    assert len(left) == min(len(stored), max(keep, len(pinned)))
    activity = {session.session_id: read(session.last_activity) for session in stored}
    assert all(activity[old] <= activity[new] for old in moved for new in left - pinned)


recorded = st.lists(st.tuples(messages | tool_calls, moments), max_size=8)


@promised
@given(recorded, moments)
def test_property_9_last_activity_is_the_latest_and_never_goes_back(
    happened: list[tuple[Message | ToolCall, datetime]], begun: datetime
) -> None:
    """Feature: services-sessions, Property 9: Last activity timestamp updates."""
    asyncio.run(_last_activity_follows(happened, begun))


async def _last_activity_follows(
    happened: list[tuple[Message | ToolCall, datetime]], latest: datetime
) -> None:
    session = Session(new_session_id(), written(latest), written(latest), "m", "p")
    with quick_folder() as folder:
        library = library_in(folder)
        recording = Recording(library.store, library.index)
        recorder = recording.create(session)
        await recorder.record(Created(at=session.start_time, session=session))
        for number, (thing, moment) in enumerate(happened):
            await recorder.record(_record_of(thing, number, written(moment)))
            latest = max(latest, moment)
            assert read(recorder.state.header.last_activity) == latest
        stored = library_in(folder).load(session.session_id).state.header
        assert read(stored.last_activity) == latest
        # The index hears of a session in the background: nothing may write when the folder goes.
        await recorder.close()
        await recording.close()


def _record_of(thing: Message | ToolCall, number: int, at: str) -> AnyRecord:
    if isinstance(thing, Message):
        return MessageAdded(at=at, message=replace(thing, id=f"m{number}"))
    return ToolCallAdded(at=at, tool_call=thing)
