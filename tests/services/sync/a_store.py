"""A small stand-in for the sessions of a machine, to test the transport of syncing alone."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Sequence
from pathlib import Path
from uuid import uuid4

from ollm_tui.core.errors import SessionBusy
from ollm_tui.services.sync.port import BadItems, Batch, Item, Machine, Mark, Marks
from ollm_tui.services.sync.remote import Remote
from ollm_tui.services.sync.remote_key import RemoteKey
from ollm_tui.services.sync.syncing import Syncing
from ollm_tui.storage.store_layout import StoreLayout
from ollm_tui.storage.sync.bare_git import BareGit
from ollm_tui.storage.sync.deletions import Deletions
from ollm_tui.storage.sync.sync_state import SyncState

MOST = 50_000_000


class Store:
    """Sessions as sets of facts, each with the machine that made it."""

    def __init__(self, name: str) -> None:
        self.machine = Machine(uuid4().hex[:16], name)
        self.facts: dict[str, dict[str, str]] = {}
        """The text of each fact, by session and by machine and number."""
        self.busy: set[str] = set()

    def renew_machine(self) -> Machine:
        self.machine = Machine(uuid4().hex[:16], self.machine.name)
        return self.machine

    def say(self, session_id: str, text: str) -> None:
        facts = self.facts.setdefault(session_id, {})
        facts[f"{self.machine.id}:{len(self._own(session_id)) + 1:06d}"] = text

    def _own(self, session_id: str) -> list[str]:
        mine = f"{self.machine.id}:"
        return sorted(k for k in self.facts.get(session_id, ()) if k.startswith(mine))

    def marks(self) -> Marks:
        marks: dict[str, Mark] = {name: (len(facts),) for name, facts in self.facts.items()}
        return Marks(marks, self._store())

    def names(self) -> Collection[str]:
        return set(self.facts)

    def is_still(self, store: str) -> bool:
        return store == self._store()

    def _store(self) -> str:
        return str({name: len(facts) for name, facts in self.facts.items()})

    def since(self, session_id: str, cursor: str) -> Batch:
        own = self._own(session_id)
        new = [key for key in own if key > cursor or not cursor.startswith(self.machine.id)]
        facts = self.facts[session_id]
        items = [
            Item("2026-11-01T00:00:00.000000Z", json.dumps([key, facts[key]]).encode())
            for key in new
        ]
        return Batch(items, own[-1] if own else "")

    def merge(self, session_id: str, items: Sequence[bytes], machine: Machine) -> None:
        if session_id in self.busy:
            raise SessionBusy("open")
        bad = 0
        for item in items:
            try:
                key, text = json.loads(item)
                self.facts.setdefault(session_id, {}).setdefault(str(key), str(text))
            except (ValueError, TypeError):
                bad += 1
        if bad:
            raise BadItems(bad)

    def delete(self, session_id: str) -> None:
        if session_id in self.busy:
            raise SessionBusy("open")
        del self.facts[session_id]


class Place:
    """A machine: its store, its folder, and syncing with a remote."""

    def __init__(self, folder: Path, remote: Path, key: RemoteKey, name: str = "desk") -> None:
        self.folder = folder
        (folder / "sync").mkdir(parents=True, exist_ok=True)
        self.store = Store(name)
        self.remote = remote
        self.key = key
        self.deletions = Deletions(StoreLayout(folder / "sessions"))
        self.state = SyncState(folder / "sync" / "state.sqlite")
        self.git = BareGit(
            folder / "sync" / "repository.git", str(remote), os.environ, most_bytes=MOST
        )
        self.merges = 0

    def syncing(self) -> Syncing:
        remote = Remote(self.git, self.key, self.state, self.store)
        return Syncing(remote, self.deletions, self._count)

    def _count(self) -> None:
        self.merges += 1

    def delete(self, session_id: str) -> None:
        self.store.delete(session_id)
        self.deletions.note([session_id])
