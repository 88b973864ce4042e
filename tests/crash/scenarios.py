"""What the store is doing when it is killed: each scenario has a store before and an act."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import NamedTuple

from ollm_tui.core import clock
from ollm_tui.core.events import SaveFailed, StoreEvent
from ollm_tui.core.session.message import Message
from ollm_tui.core.session.record import Created, MessageFinished, TextAppended
from ollm_tui.core.session.session import Session
from ollm_tui.services.sessions.recording import Recorder, Recording
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.settings.user_file import set_user_value
from ollm_tui.storage.store_layout import StoreLayout
from tests.crash.samples import LARGE, NOT_SAVED, added, stored_session, user_message

SUBJECT = "5e551011-0000-4000-8000-000000000001"
BYSTANDER = "5e551011-0000-4000-8000-000000000002"
OLD_SETTINGS = "ui:\n  theme: paper  # mine\n"
IMPORTED = "5e551011-0000-4000-8000-000000000003"

Say = Callable[[str], None]
"""Tells the world that something is done; what was told must hold after a crash."""


class Scenario(NamedTuple):
    """A store before, and what is then done to it."""

    prepare: Callable[[StoreLayout], None]
    act: Callable[[StoreLayout, Say], None]


def _two_sessions(layout: StoreLayout) -> None:
    library = SessionLibrary.at(layout)
    library.add(stored_session(SUBJECT))
    library.add(stored_session(BYSTANDER))
    library.close()


def _only_a_bystander(layout: StoreLayout) -> None:
    library = SessionLibrary.at(layout)
    library.add(stored_session(BYSTANDER))
    library.close()


def _one_with_records_in_its_journal(layout: StoreLayout) -> None:
    _two_sessions(layout)
    writer, loaded = SessionLibrary.at(layout).store.open(SUBJECT)
    seq = loaded.state.header.journal_seq
    for number, (parent, name) in enumerate((("old-2", "old-3"), ("old-3", "old-4")), seq + 1):
        message = user_message(name, parent_id=parent)
        writer.append([(number, added(message))])
    writer.close()


def _one_with_a_torn_end(layout: StoreLayout) -> None:
    _one_with_records_in_its_journal(layout)
    with layout.journal(SUBJECT).open("ab") as journal:
        journal.write(b"0123abcd 3 {broken off")


def _one_of_an_older_program(layout: StoreLayout) -> None:
    _two_sessions(layout)
    message = {"role": "user", "parts": [{"type": "text", "text": "old"}]}
    older = {"sessionId": SUBJECT, "messages": [message]}
    layout.session(SUBJECT).write_text(json.dumps(older))


def _one_in_the_trash(layout: StoreLayout) -> None:
    _one_with_records_in_its_journal(layout)
    SessionLibrary.at(layout).discard(SUBJECT, "a test")


def _in_a_loop(
    work: Callable[[Recording], Coroutine[None, None, None]], at: StoreLayout, say: Say
) -> None:
    def warn(event: StoreEvent) -> None:
        if isinstance(event, SaveFailed):
            say(NOT_SAVED)

    async def run() -> None:
        library = SessionLibrary.at(at)
        recording = Recording(library.store, library.index)
        recording.topic.subscribe(warn)
        await work(recording)
        await recording.close()

    asyncio.run(run())


def _tell(recorder: Recorder, say: Say, words: str) -> None:
    """Tell that something is saved, if it is."""
    if not recorder.unsaved:
        say(words)


async def _add(recorder: Recorder, say: Say, message: Message) -> None:
    await recorder.record(added(message))
    _tell(recorder, say, message.id)


async def _stream(recorder: Recorder, say: Say) -> None:
    reply = Message("reply", "assistant", (), clock.now(), status="streaming")
    await _add(recorder, say, reply)
    for piece in ("one ", "two ", "three"):
        await recorder.record(
            TextAppended(at=clock.now(), message_id="reply", part="text", text=piece)
        )
        _tell(recorder, say, f"text {piece}")
    await recorder.record(
        MessageFinished(at=clock.now(), message_id="reply", status="complete", model="scripted")
    )
    _tell(recorder, say, "finished")


def _record_a_new_session(layout: StoreLayout, say: Say) -> None:
    async def work(recording: Recording) -> None:
        moment = clock.now()
        session = Session(SUBJECT, moment, moment, "scripted", "scripted", title="new")
        recorder = recording.create(session)
        await recorder.record(Created(at=moment, session=session), added(user_message("new-1")))
        _tell(recorder, say, "new-1")
        await _stream(recorder, say)
        await _add(recorder, say, user_message("new-2", LARGE))
        await recorder.save()
        await _add(recorder, say, user_message("new-3"))
        await recorder.close()
        _tell(recorder, say, "closed")

    _in_a_loop(work, layout, say)


def _go_on_recording(layout: StoreLayout, say: Say) -> None:
    async def work(recording: Recording) -> None:
        recorder, _ = await recording.open(SUBJECT)
        await _add(recorder, say, user_message("new-1"))
        await _stream(recorder, say)
        await recorder.close()
        _tell(recorder, say, "closed")

    _in_a_loop(work, layout, say)


def _rename_and_pin(layout: StoreLayout, say: Say) -> None:
    library = SessionLibrary.at(layout)
    library.change(SUBJECT, title="after")
    say("renamed")
    library.change(SUBJECT, pinned=True)
    say("pinned")


def _delete(layout: StoreLayout, say: Say) -> None:
    SessionLibrary.at(layout).delete(SUBJECT)
    say("deleted")


def _discard(layout: StoreLayout, say: Say) -> None:
    SessionLibrary.at(layout).discard(SUBJECT, "a test")
    say("discarded")


def _restore(layout: StoreLayout, say: Say) -> None:
    SessionLibrary.at(layout).restore(SUBJECT)
    say("restored")


def _delete_from_the_trash(layout: StoreLayout, say: Say) -> None:
    SessionLibrary.at(layout).store.trash.delete(SUBJECT)
    say("deleted")


def _fork(layout: StoreLayout, say: Say) -> None:
    say("forked " + SessionLibrary.at(layout).fork(SUBJECT))


def _import(layout: StoreLayout, say: Say) -> None:
    say("imported " + SessionLibrary.at(layout).add(stored_session(IMPORTED)))


def _settings_file(layout: StoreLayout) -> None:
    _two_sessions(layout)
    settings_of(layout).write_text(OLD_SETTINGS)


def settings_of(layout: StoreLayout) -> Path:
    """The user's settings beside a store."""
    return layout.sessions.parent / "config.yaml"


def _change_a_setting(layout: StoreLayout, say: Say) -> None:
    set_user_value(settings_of(layout), ("ui", "theme"), "nord")
    say("changed")


RECORDING = {
    "recording a new session": Scenario(_only_a_bystander, _record_a_new_session),
    "going on with a session": Scenario(_two_sessions, _go_on_recording),
    "going on with a journal": Scenario(_one_with_records_in_its_journal, _go_on_recording),
    "going on with a torn journal": Scenario(_one_with_a_torn_end, _go_on_recording),
    "going on with an older session": Scenario(_one_of_an_older_program, _go_on_recording),
}
CHANGING = Scenario(_one_with_records_in_its_journal, _rename_and_pin)
MOVING = {
    "deleting": Scenario(_one_with_records_in_its_journal, _delete),
    "discarding": Scenario(_one_with_records_in_its_journal, _discard),
    "restoring": Scenario(_one_in_the_trash, _restore),
    "deleting from the trash": Scenario(_one_in_the_trash, _delete_from_the_trash),
}
COPYING = {
    "forking": Scenario(_one_with_records_in_its_journal, _fork),
    "importing": Scenario(_only_a_bystander, _import),
}
SETTINGS = {"changing a setting": Scenario(_settings_file, _change_a_setting)}
ALL = {**RECORDING, "changing": CHANGING, **MOVING, **COPYING, **SETTINGS}
