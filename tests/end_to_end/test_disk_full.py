"""A disk that is full for a while: nothing is lost, the user is told, saving resumes by itself.

A limit on the size of files stands in for a small disk: it needs no privileges, a write beyond
it is cut short and then fails, and it can be lifted in the same process.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from ollm_tui.core import clock
from ollm_tui.core.events import MessageRecorded, SaveFailed, SaveResumed, StoreEvent
from ollm_tui.core.session.record import Created
from ollm_tui.services.sessions.recording import Recorder, Recording
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.store_layout import StoreLayout
from tests.crash.samples import added, empty_session, stored_session, texts, user_message

OLLM = Path(sys.executable).with_name("ollm")
NAME = "session"
FULL_AT_BYTES = 20_000
TEXT = "".join(f"{number:05} " for number in range(5_000))
FITS, TOO_LARGE = TEXT[:5_000], TEXT


@contextmanager
def full_disk(at_bytes: int = FULL_AT_BYTES) -> Generator[None]:
    """No file of this process may grow beyond that."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (at_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def layout(tmp_path: Path) -> StoreLayout:
    return StoreLayout(tmp_path / "store" / "sessions")


@asynccontextmanager
async def recorder_in(
    layout: StoreLayout, *, autosave: bool = True
) -> AsyncGenerator[tuple[Recorder, list[StoreEvent]]]:
    library = SessionLibrary.at(layout)
    recording = Recording(library.store, library.index, autosave=autosave)
    events: list[StoreEvent] = []
    recording.topic.subscribe(events.append)
    session = empty_session(NAME)
    recorder = recording.create(session)
    await recorder.record(Created(at=clock.now(), session=session))
    yield recorder, events
    await recorder.close()
    await recording.close()


async def say(recorder: Recorder, *names: str, text: str = FITS) -> None:
    for name in names:
        await recorder.record(added(user_message(name, text)))


def on_disk(layout: StoreLayout) -> list[str]:
    loaded = SessionLibrary.at(layout).load(NAME)
    assert loaded.problems == ()
    return list(texts(loaded.state))


def saving(events: list[StoreEvent]) -> list[SaveFailed | SaveResumed]:
    return [event for event in events if isinstance(event, SaveFailed | SaveResumed)]


async def test_what_did_not_fit_is_written_in_order_when_there_is_room(
    layout: StoreLayout,
) -> None:
    async with recorder_in(layout) as (recorder, events):
        with full_disk():
            await say(recorder, "m1", "m2", "m3", "m4", "m5")
            assert on_disk(layout) == ["m1", "m2", "m3"]
            assert recorder.unsaved == 2
        await say(recorder, "m6")
        assert on_disk(layout) == ["m1", "m2", "m3", "m4", "m5", "m6"]
        hint = "free disk space or fix the directory; saving is retried automatically"
        assert saving(events) == [
            SaveFailed("not saved: File too large", hint, 1),
            SaveFailed("not saved: File too large", hint, 2),
            SaveResumed(3),
        ]
        recorded = [event.message_id for event in events if isinstance(event, MessageRecorded)]
        assert recorded == ["m1", "m2", "m3", "m4", "m5", "m6"]
    assert on_disk(layout) == ["m1", "m2", "m3", "m4", "m5", "m6"]


async def test_a_batch_that_fits_in_part_leaves_nothing_half_done(layout: StoreLayout) -> None:
    async with recorder_in(layout) as (recorder, events):
        with full_disk():
            batch = [added(user_message(f"m{number}", FITS)) for number in range(1, 7)]
            await recorder.record(*batch)
            assert on_disk(layout) == []
            assert recorder.unsaved == 6
            await say(recorder, "m7")
        await recorder.flush()
        assert isinstance(saving(events)[-1], SaveResumed)
    assert on_disk(layout) == [f"m{number}" for number in range(1, 8)]


async def test_a_file_that_does_not_fit_leaves_the_journal_as_it_is(layout: StoreLayout) -> None:
    async with recorder_in(layout) as (recorder, events):
        await say(recorder, "m1", text=TOO_LARGE)
        with full_disk():
            await recorder.save()
            assert isinstance(saving(events)[-1], SaveFailed)
            assert [path.name for path in layout.sessions.iterdir()] == [f"{NAME}.journal"]
            assert on_disk(layout) == ["m1"]
        await say(recorder, "m2")
        assert on_disk(layout) == ["m1", "m2"]
    assert on_disk(layout) == ["m1", "m2"]
    assert [path.name for path in layout.sessions.iterdir()] == [f"{NAME}.json"]


async def test_a_side_file_that_does_not_fit_is_written_later(layout: StoreLayout) -> None:
    async with recorder_in(layout) as (recorder, events):
        with full_disk():
            await say(recorder, "m1", text="x" * 500_000)
            await say(recorder, "m2")
            assert on_disk(layout) == []
        await say(recorder, "m3")
        assert saving(events)[-1] == SaveResumed(3)
    assert on_disk(layout) == ["m1", "m2", "m3"]


async def test_a_session_that_begins_on_a_full_disk_is_there_when_it_is_not(
    layout: StoreLayout,
) -> None:
    with full_disk(50):
        async with recorder_in(layout) as (recorder, events):
            await say(recorder, "m1")
            assert recorder.unsaved == 2
            assert SessionLibrary.at(layout).catalogue.summaries() == []
            with full_disk(resource.RLIM_INFINITY):  # somebody made room
                await say(recorder, "m2")
                assert saving(events)[-1] == SaveResumed(3)
    assert on_disk(layout) == ["m1", "m2"]


async def test_closing_writes_the_journal_where_the_file_has_no_room(layout: StoreLayout) -> None:
    async with recorder_in(layout, autosave=False) as (recorder, events):
        await say(recorder, "m1", "m2", "m3")
        layout.session(NAME).mkdir(parents=True)  # of the two, only the file has none
    assert isinstance(saving(events)[-1], SaveFailed)
    layout.session(NAME).rmdir()
    assert on_disk(layout) == ["m1", "m2", "m3"]


async def test_closing_on_a_full_disk_loses_only_what_was_told_to_be_unsaved(
    layout: StoreLayout,
) -> None:
    with full_disk():
        async with recorder_in(layout) as (recorder, events):
            await say(recorder, "m1", "m2", "m3", "m4")
        assert isinstance(saving(events)[-1], SaveFailed)
        assert recorder.unsaved == 1
    assert on_disk(layout) == ["m1", "m2", "m3"]


def test_listing_on_a_full_disk_shows_everything(layout: StoreLayout) -> None:
    library = SessionLibrary.at(layout)
    for number in range(30):
        library.add(stored_session(f"session-{number}"))
    library.close()
    layout.index.unlink()
    with full_disk(1_000):
        for _ in range(2):
            library = SessionLibrary.at(layout)
            assert len(library.catalogue.summaries()) == 30
            assert len(library.catalogue.summaries()) == 30
            library.close()
    assert len(SessionLibrary.at(layout).catalogue.summaries()) == 30


def test_moving_and_deleting_on_a_full_disk_lose_nothing(layout: StoreLayout) -> None:
    library = SessionLibrary.at(layout)
    library.add(stored_session("one"))
    library.add(stored_session("two"))
    with full_disk(0):
        with pytest.raises(OSError, match="File too large"):
            library.discard("one", "a test")
        with pytest.raises(OSError, match="File too large"):
            library.change("one", title="other")
        with pytest.raises(OSError, match="File too large"):
            library.fork("one")
        library.delete("two")
        assert [each.session_id for each in library.catalogue.summaries()] == ["one"]
    assert library.load("one").problems == ()
    assert [path.name for path in layout.trash.iterdir()] == [".lock"]
    library.discard("one", "a test")
    assert sorted(path.name for path in layout.trash.iterdir()) == [".lock", "one"]


class Command:
    """The real command, answering a prompt in pieces, its events read one by one."""

    def __init__(self, folder: Path, pieces: int) -> None:
        script = [[step for _ in range(pieces) for step in ({"text": FITS}, {"wait": 0.3})]]
        (folder / "script.json").write_text(json.dumps(script))
        self.home = folder / "home"
        self.process = subprocess.Popen(
            [OLLM, "-p", "Hello", "--output", "stream-json"],
            env={
                **os.environ,
                "OLLM_HOME": str(self.home),
                "OLLM_TEST_SCRIPT": str(folder / "script.json"),
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def until(self, event_name: str) -> dict[str, Any]:
        """The next event of that name."""
        assert self.process.stdout
        for line in self.process.stdout:
            event: dict[str, Any] = json.loads(line)
            if event["event"] == event_name:
                return event
        raise AssertionError(f"no event {event_name}")

    def limit(self, at_bytes: int) -> None:
        """Make its disk full, or give it room again."""
        resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, (at_bytes, -1))


def test_the_command_tells_of_a_full_disk_and_saves_all_when_there_is_room(tmp_path: Path) -> None:
    command = Command(tmp_path, pieces=8)
    started = command.until("turn-started")
    command.limit(5_000)
    failed = command.until("save-failed")
    assert failed["message"] == "not saved: File too large"
    command.limit(resource.RLIM_INFINITY)
    command.until("save-resumed")
    finished = command.until("turn-finished")
    _, errors = command.process.communicate()
    assert command.process.returncode == 0
    assert "ollm: not saved: File too large (free disk space" in errors
    assert "ollm: saved again" in errors
    library = SessionLibrary.at(StoreLayout(command.home / "sessions"))
    state = library.load(started["sessionId"]).state
    assert state[finished["message"]["id"]].text == 8 * FITS
    assert len(state) == 2


def test_the_command_fails_when_not_all_could_be_saved(tmp_path: Path) -> None:
    command = Command(tmp_path, pieces=1)
    started = command.until("turn-started")
    command.limit(3_000)
    command.until("turn-finished")
    _, errors = command.process.communicate()
    assert command.process.returncode == 1
    assert "not saved" in errors and "Traceback" not in errors
    library = SessionLibrary.at(StoreLayout(command.home / "sessions"))
    assert started["userMessage"]["id"] in library.load(started["sessionId"]).state
