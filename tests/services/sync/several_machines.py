"""Machines with a store each, and a remote in memory that keeps what each of them sent."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.session.encoding import to_tree
from ollm_tui.core.session.message import Message, Text
from ollm_tui.core.session.record import AnyRecord, MessageAdded
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.core.session.shared_record import shared_fields
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.services.sync.port import Machine
from ollm_tui.services.sync.session_records import SessionRecords
from ollm_tui.storage.store_layout import StoreLayout
from tests.crash.samples import stored_session

SESSION = "5f0c1a52-0000-4000-8000-000000000001"


class OneMachine:
    """A store, and how far what it made was sent and the rest was taken in."""

    def __init__(self, root: Path) -> None:
        self.library = SessionLibrary.at(StoreLayout(root / "sessions"))
        self.records = SessionRecords(self.library)
        self.id = self.records.machine.id
        self.cursors: dict[str, str] = {}
        self.seen: dict[tuple[str, str], int] = {}

    def begin(self, session_id: str = SESSION) -> None:
        self.library.add(replace(stored_session(session_id), title="Rome"))

    def say(self, key: str, *, session_id: str = SESSION, after: str | None = None) -> None:
        """Go on with a session at its head, or after a message."""

        def said(state: SessionState) -> Sequence[AnyRecord]:
            parent = state.header.head if after is None else after
            moment = clock.now()
            message = Message(key, "user", (Text(f"I am {key}"),), moment, parent_id=parent)
            return [MessageAdded(at=moment, message=message)]

        self.library.record(session_id, said)

    def state(self, session_id: str = SESSION) -> SessionState:
        return self.library.load(session_id).state

    def said(self, session_id: str = SESSION) -> set[str]:
        return {message.id for message in self.state(session_id).messages()}

    def on_branch(self, session_id: str = SESSION) -> list[str]:
        return [message.id for message in self.state(session_id).branch()]


class MemoryRemote:
    """What every machine sent, in its order."""

    def __init__(self) -> None:
        self.sent: dict[str, list[tuple[str, bytes]]] = {}
        self.names: dict[str, str] = {}

    def push(self, here: OneMachine, name: str = "laptop") -> int:
        """Send what is new; returns how many items that were."""
        count = 0
        self.names[here.id] = name
        for session_id in here.records.marks().sessions:
            batch = here.records.since(session_id, here.cursors.get(session_id, ""))
            kept = self.sent.setdefault(here.id, [])
            kept += [(session_id, item.data) for item in batch.items]
            here.cursors[session_id] = batch.cursor
            count += len(batch.items)
        return count

    def pull(self, here: OneMachine) -> None:
        """Take in what the others sent since the last time."""
        for machine, items in self.sent.items():
            if machine == here.id:
                continue
            for session_id in dict.fromkeys(name for name, _ in items):
                new = [data for name, data in items if name == session_id]
                known = here.seen.get((machine, session_id), 0)
                if len(new) > known:
                    origin = Machine(machine, self.names[machine])
                    here.records.merge(session_id, new[known:], origin)
                    here.seen[machine, session_id] = len(new)


def content(state: SessionState, home: str = "") -> dict[str, object]:
    """What all machines have to agree on, whatever was recorded first; `home` is this machine."""

    def placed(value: object) -> str:
        tree = to_tree(value)  # pyright: ignore[reportArgumentType]
        tree.setdefault("machine", home)
        return repr(sorted(tree.items()))

    header = state.header
    return {
        "messages": {placed(message) for message in state.messages()},
        "shared": shared_fields(header),
    }
