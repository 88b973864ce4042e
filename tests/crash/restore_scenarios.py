"""What is being gone back to, moved or cleaned up when the program is killed; see `scenarios`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.session.record import MessageAdded
from ollm_tui.core.session.session import Session
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.core.snapshot import ContextSnapshot, snapshot_of
from ollm_tui.services.sessions.recording import Recording
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.services.snapshots.closed_sessions import ClosedSessions
from ollm_tui.services.snapshots.restore_plan import restoration
from ollm_tui.services.snapshots.restore_points import Snapshots
from ollm_tui.services.snapshots.snapshot_library import SnapshotLibrary
from ollm_tui.settings.schema import Settings
from ollm_tui.storage.snapshots.snapshot_store import SnapshotStore
from ollm_tui.storage.store_layout import StoreLayout
from tests.crash.samples import stored_session, user_message
from tests.crash.scenarios import BYSTANDER, SUBJECT, Say, Scenario
from tests.snapshot_samples import MOMENT, rich_session

POINT, ANOTHER, ASIDE = "point", "another", "aside"
"""Snapshots: of the subject, of the bystander, and one that was deleted."""
LATER = "later"
"""What was said since the point."""
LATEST_NS = 2**62


def subject() -> Session:
    """A session that went on since its snapshot was taken."""
    session = rich_session(SUBJECT)
    later = user_message(LATER, parent_id="a5")
    return replace(session, messages=(*session.messages, later), head=LATER)


def point() -> ContextSnapshot:
    """The subject as it was before."""
    return replace(snapshot_of(SessionState(rich_session(SUBJECT)), 9, reason="manual"), id=POINT)


def another() -> ContextSnapshot:
    """A snapshot none of whose messages the subject has, one of them large."""
    session = stored_session(BYSTANDER)
    said = tuple(replace(message, timestamp=MOMENT) for message in session.messages)
    state = SessionState(replace(session, messages=said))
    return replace(snapshot_of(state, 9, reason="manual"), id=ANOTHER)


def _prepare(layout: StoreLayout) -> None:
    sessions, library = SessionLibrary.at(layout), SnapshotLibrary.at(layout)
    sessions.add(subject())
    sessions.add(stored_session(BYSTANDER))
    for snapshot in (point(), another(), replace(point(), id=ASIDE)):
        library.create(snapshot, 5)
    library.delete(SUBJECT, ASIDE)
    sessions.close()


def _after(*actions: Callable[[StoreLayout, Say], None]) -> Callable[[StoreLayout], None]:
    def prepare(layout: StoreLayout) -> None:
        _prepare(layout)
        for action_words in actions:
            action_words(layout, lambda _words: None)

    return prepare


def _closed(layout: StoreLayout) -> ClosedSessions:
    sessions, library = SessionLibrary.at(layout), SnapshotLibrary.at(layout)
    return ClosedSessions(sessions, library, Settings().snapshots)


def _go_back(layout: StoreLayout, say: Say) -> None:
    _closed(layout).restore(SnapshotLibrary.at(layout).get(SUBJECT, POINT))
    say("restored")


def _go_elsewhere(layout: StoreLayout, say: Say) -> None:
    snapshot = SnapshotLibrary.at(layout).get(BYSTANDER, ANOTHER)
    _closed(layout).restore(replace(snapshot, session_id=SUBJECT))
    say("restored")


def _return(layout: StoreLayout, say: Say) -> None:
    restores = SessionLibrary.at(layout).load(SUBJECT).state.header.metadata.restores
    safety = restores[-1].safety or ""
    _closed(layout).restore(SnapshotLibrary.at(layout).get(SUBJECT, safety))
    say("restored")


def _fork(layout: StoreLayout, say: Say) -> None:
    say("forked " + _closed(layout).fork(SnapshotLibrary.at(layout).get(SUBJECT, POINT)))


def _go_back_while_open(layout: StoreLayout, say: Say, *, elsewhere: bool = False) -> None:
    async def go_back() -> None:
        library = SessionLibrary.at(layout)
        recording = Recording(library.store, library.index)
        snapshots = Snapshots.of(recording, Settings())
        recorder, _ = await recording.open(SUBJECT)
        await snapshots.create(snapshot_of(recorder.state, 9, reason="restore"))
        wanted = (BYSTANDER, ANOTHER) if elsewhere else (SUBJECT, POINT)
        plan = restoration(await snapshots.get(*wanted), recorder.state)
        await recorder.record(plan.record(clock.now()))
        say("restored")
        message = user_message("said then", parent_id=recorder.state.header.head)
        await recorder.record(MessageAdded(at=clock.now(), message=message))
        say("said then")
        await recorder.close()
        await recording.close()

    asyncio.run(go_back())


def _go_elsewhere_while_open(layout: StoreLayout, say: Say) -> None:
    _go_back_while_open(layout, say, elsewhere=True)


def _empty(layout: StoreLayout, say: Say) -> None:
    SnapshotStore(layout).empty_aside(LATEST_NS)
    say("emptied")


def _discard(layout: StoreLayout, say: Say) -> None:
    SessionLibrary.at(layout).discard(SUBJECT, "a test")
    say("discarded")


def _bring_back(layout: StoreLayout, say: Say) -> None:
    SessionLibrary.at(layout).restore(SUBJECT)
    say("brought back")


def _delete(layout: StoreLayout, say: Say) -> None:
    SessionLibrary.at(layout).delete(SUBJECT)
    say("deleted")


RESTORING = {
    "going back": Scenario(_prepare, _go_back),
    "going back while it is open": Scenario(_prepare, _go_back_while_open),
    "undoing that": Scenario(_after(_go_back), _return),
}
ELSEWHERE = {
    "going to another session's": Scenario(_prepare, _go_elsewhere),
    "going to another session's while it is open": Scenario(_prepare, _go_elsewhere_while_open),
    "returning from another session's": Scenario(_after(_go_elsewhere), _return),
}
FORKING = {"forking a snapshot": Scenario(_prepare, _fork)}
CLEANING = {"emptying what was deleted": Scenario(_prepare, _empty)}
MOVING = {
    "discarding with snapshots": Scenario(_prepare, _discard),
    "bringing back with snapshots": Scenario(_after(_discard), _bring_back),
    "deleting with snapshots": Scenario(_prepare, _delete),
}
ALL = {**RESTORING, **ELSEWHERE, **FORKING, **CLEANING, **MOVING}
