"""Recording: what is said is on disk, or kept and written as soon as that is possible."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from ollm_tui.core import clock
from ollm_tui.core.errors import SessionBusy, SessionReadOnly
from ollm_tui.core.events import (
    MessageRecorded,
    SaveFailed,
    SaveResumed,
    SessionSaved,
    StoreEvent,
)
from ollm_tui.core.session.message import Message
from ollm_tui.core.session.record import Created, MessageFinished, SessionChanged, TextAppended
from ollm_tui.services.sessions.recording import Recorder, Recording
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.sessions.session_store import SessionStore
from ollm_tui.storage.store_layout import StoreLayout
from tests.crash.samples import (
    LARGE,
    added,
    begin,
    empty_session,
    go_on,
    texts,
    user_message,
)

NAME = "session"


@pytest.fixture
def layout(tmp_path: Path) -> StoreLayout:
    return StoreLayout(tmp_path / "store" / "sessions")


@asynccontextmanager
async def recording_in(
    layout: StoreLayout, *, autosave: bool = True
) -> AsyncGenerator[tuple[Recording, list[StoreEvent]]]:
    library = SessionLibrary.at(layout)
    recording = Recording(library.store, library.index, autosave=autosave)
    events: list[StoreEvent] = []
    recording.topic.subscribe(events.append)
    yield recording, events
    await recording.close()


async def begun(recording: Recording, *messages: Message) -> Recorder:
    session = empty_session(NAME)
    recorder = recording.create(session)
    await recorder.record(Created(at=clock.now(), session=session), *map(added, messages))
    return recorder


def said(layout: StoreLayout) -> list[str]:
    return list(texts(SessionStore(layout).load(NAME).state))


async def test_a_record_is_on_disk_when_recording_it_returns(layout: StoreLayout) -> None:
    async with recording_in(layout) as (recording, _):
        recorder = await begun(recording)
        for number in range(5):
            await recorder.record(added(user_message(f"m{number}")))
            assert said(layout) == [f"m{each}" for each in range(number + 1)]
        await recorder.close()
    assert said(layout) == ["m0", "m1", "m2", "m3", "m4"]
    assert not layout.journal(NAME).exists()


async def test_records_of_many_tasks_keep_their_order(layout: StoreLayout) -> None:
    async with recording_in(layout) as (recording, _):
        recorder = await begun(recording)
        messages = [user_message(f"m{number}") for number in range(50)]
        async with asyncio.TaskGroup() as tasks:
            for number, message in enumerate(messages):
                tasks.create_task(recorder.record(added(message)))
                if number % 10 == 0:
                    tasks.create_task(recorder.save())
        assert said(layout) == [message.id for message in messages]
        assert list(texts(recorder.state)) == said(layout)
        await recorder.close()
    assert said(layout) == [message.id for message in messages]


async def test_what_comes_while_the_disk_is_busy_is_written_next(layout: StoreLayout) -> None:
    async with recording_in(layout) as (recording, events):
        recorder = await begun(recording)
        names = [f"m{number}" for number in range(20)]
        await asyncio.gather(*(recorder.record(added(user_message(name))) for name in names))
        assert said(layout) == names
        assert recorder.unsaved == 0
        recorded = [event.message_id for event in events if isinstance(event, MessageRecorded)]
        assert recorded == names
        await recorder.close()


async def test_a_cancelled_task_does_not_tear_its_record(layout: StoreLayout) -> None:
    async with recording_in(layout) as (recording, _):
        recorder = await begun(recording)
        task = asyncio.create_task(recorder.record(added(user_message("m1", LARGE))))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await recorder.record(added(user_message("m2")))
        assert said(layout) == ["m1", "m2"]
        await recorder.close()


async def test_a_second_recorder_of_a_session_is_refused(layout: StoreLayout) -> None:
    async with recording_in(layout) as (first, _), recording_in(layout) as (second, _):
        recorder = await begun(first, user_message("m1"))
        with pytest.raises(SessionBusy):
            await second.open(NAME)
        await recorder.close()
        again, _ = await second.open(NAME)
        await again.record(added(user_message("m2")))
        await again.close()
    assert said(layout) == ["m1", "m2"]


async def test_without_autosave_everything_is_written_at_the_end(layout: StoreLayout) -> None:
    async with recording_in(layout, autosave=False) as (recording, events):
        recorder = await begun(recording, user_message("m1"))
        assert not layout.sessions.exists()
        assert recorder.unsaved == 2
        await recorder.close()
        assert isinstance(events[-1], SessionSaved)
    assert said(layout) == ["m1"]


async def test_an_ephemeral_session_never_reaches_the_disk(layout: StoreLayout) -> None:
    async with recording_in(layout) as (recording, _):
        session = empty_session(NAME)
        recorder = recording.create(session, ephemeral=True)
        await recorder.record(Created(at=clock.now(), session=session), added(user_message("m1")))
        await recorder.save()
        await recorder.close()
    assert not layout.root.exists()


@pytest.mark.parametrize("how", ["removed", "moved away"])
async def test_files_taken_away_by_hand_are_written_again(layout: StoreLayout, how: str) -> None:
    async with recording_in(layout) as (recording, _):
        recorder = await begun(recording, user_message("m1"), user_message("m2", LARGE))
        await recorder.save()
        await recorder.record(added(user_message("m3")))
        if how == "removed":
            shutil.rmtree(layout.root)
        else:
            layout.root.rename(layout.root.with_name("elsewhere"))
        await recorder.record(added(user_message("m4")))
        assert said(layout) == ["m1", "m2", "m3", "m4"]
        await recorder.record(added(user_message("m5")))
        await recorder.close()
    assert said(layout) == ["m1", "m2", "m3", "m4", "m5"]


async def test_a_session_that_cannot_be_written_yet_is_continued_in_memory(
    layout: StoreLayout, caplog: pytest.LogCaptureFixture
) -> None:
    begin(SessionStore(layout), NAME, user_message("m1"))
    with layout.journal(NAME).open("ab") as journal:
        journal.write(b"0000")  # to be put aside, where there is no room for it
    layout.quarantine(NAME).mkdir()
    async with recording_in(layout) as (recording, events):
        recorder, loaded = await recording.open(NAME)
        assert loaded.problems == ("2 of 3 records kept",)
        await recorder.record(added(user_message("m2")))
        await recorder.record(added(user_message("m3")))
        failures = [each for each in events if isinstance(each, SaveFailed)]
        assert [each.unsaved for each in failures] == [1, 2]
        (logged,) = [each for each in caplog.records if "not saved" in each.message]
        assert logged.message.startswith("1 records not saved: ") and logged.exc_info is None
        layout.quarantine(NAME).rmdir()
        await recorder.record(added(user_message("m4")))
        assert [each for each in events if isinstance(each, SaveResumed)] == [SaveResumed(3)]
        assert said(layout) == ["m1", "m2", "m3", "m4"]
        await recorder.close()
    assert said(layout) == ["m1", "m2", "m3", "m4"]
    assert layout.quarantine(NAME).read_bytes() == b"0000\n"


async def test_what_another_wrote_meanwhile_is_never_overwritten(layout: StoreLayout) -> None:
    begin(SessionStore(layout), NAME, user_message("m1"))
    journal = layout.journal(NAME).read_bytes()
    layout.journal(NAME).write_bytes(journal + b"0000")
    layout.quarantine(NAME).mkdir()
    async with recording_in(layout) as (recording, events):
        recorder, _ = await recording.open(NAME)
        layout.quarantine(NAME).rmdir()
        go_on(SessionStore(layout), NAME, user_message("theirs"))
        await recorder.record(added(user_message("ours")))
        failure = events[-1]
        assert isinstance(failure, SaveFailed)
        assert failure.message == "not saved: another ollm has written this session in the meantime"
        await recorder.close()
        assert recorder.unsaved == 1
    assert said(layout) == ["m1", "theirs"]


async def test_a_session_that_may_only_be_read_is_not_continued_in_memory(
    layout: StoreLayout,
) -> None:
    begin(SessionStore(layout), NAME, user_message("m1"))
    layout.session(NAME).mkdir()
    async with recording_in(layout) as (recording, _):
        with pytest.raises(SessionReadOnly):
            await recording.open(NAME)


async def test_a_reply_cut_off_is_there_as_far_as_it_was_recorded(layout: StoreLayout) -> None:
    async with recording_in(layout) as (recording, _):
        recorder = await begun(recording, user_message("m1"))
        reply = Message("reply", "assistant", (), clock.now(), status="streaming")
        await recorder.record(added(reply))
        for piece in ("one ", "two "):
            await recorder.record(
                TextAppended(at=clock.now(), message_id="reply", part="text", text=piece)
            )
        found = SessionStore(layout).load(NAME).state["reply"]
        assert (found.text, found.status) == ("one two ", "streaming")
        await recorder.record(
            MessageFinished(at=clock.now(), message_id="reply", status="cancelled")
        )
        await recorder.close()
    assert SessionStore(layout).load(NAME).state["reply"].status == "cancelled"


async def test_the_last_activity_never_goes_back(layout: StoreLayout) -> None:
    async with recording_in(layout) as (recording, _):
        recorder = await begun(recording, user_message("m1"))
        before = recorder.state.header.last_activity
        past = "2001-01-01T00:00:00.000000Z"
        await recorder.record(SessionChanged(at=past, fields={"title": "changed"}))
        assert recorder.state.header.last_activity == before
        await recorder.close()
    assert SessionStore(layout).load(NAME).state.header.last_activity == before


async def test_the_journal_is_folded_before_it_outgrows_the_file(layout: StoreLayout) -> None:
    async with recording_in(layout) as (recording, events):
        recorder = await begun(recording)
        text = "x" * 100_000
        for number in range(90):
            await recorder.record(added(user_message(f"m{number}", text)))
        assert any(isinstance(event, SessionSaved) for event in events)
        assert layout.journal(NAME).stat().st_size < 5 * 1024 * 1024
        assert len(said(layout)) == 90
        await recorder.close()
    assert list(layout.sessions.iterdir()) == [layout.session(NAME)]
