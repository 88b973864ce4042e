"""Three machines with stores of their own and one git remote: random work, order and kills."""

from __future__ import annotations

import itertools
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.errors import SessionNotFound
from ollm_tui.core.session.compression import CompressedContext, Compression
from ollm_tui.core.session.message import new_id
from ollm_tui.core.session.record import Compressed
from ollm_tui.core.session.session import new_session_id, next_number
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.services.sessions.saved_lines import SavedLines
from ollm_tui.services.snapshots.closed_sessions import present
from ollm_tui.services.snapshots.snapshot_library import SnapshotLibrary
from ollm_tui.services.sync.remote import Remote
from ollm_tui.services.sync.remote_key import RemoteKey
from ollm_tui.services.sync.saved_searches import LINES
from ollm_tui.services.sync.session_records import SessionRecords
from ollm_tui.services.sync.syncing import Syncing
from ollm_tui.storage.sessions.session_writer import SessionWriter
from ollm_tui.storage.snapshots.snapshot_store import SnapshotStore, snapshots_beside
from ollm_tui.storage.sync.bare_git import BareGit, SyncError, Update
from ollm_tui.storage.sync.deletions import Deletions
from ollm_tui.storage.sync.sync_state import SyncState
from tests.cases import some
from tests.conftest import LONG, REPOSITORY
from tests.folders import quick_folder
from tests.services.sync.several_machines import OneMachine, content
from tests.snapshot_samples import checkpoint, compression

CUT_LINE = REPOSITORY / "tests" / "stand_ins" / "cut_line.py"
SECRET = "zebrafish"
"""A word that everything said has, and that the remote must not show."""
STEPS = 24
MOST_BYTES = 50_000_000
FAILURES = ("sync", "kill", "away", "race", "vanish", "cut")
"""Ways to sync, all but the first of which go wrong."""
Served = Callable[[BareGit, str], tuple[str, ...]]
KINDS = (
    *("begin", "say", "say", "branch", "edit", "rename", "pin", "snapshot", "label", "search"),
    *("compress", "delete", "trash", "open", "sync", "sync", *FAILURES),
)
"""What a machine may do."""


class SyncedMachine(OneMachine):
    """A machine that syncs through git, in this process or in one that is killed."""

    def __init__(
        self, root: Path, remote: Path, key: RemoteKey, behind: timedelta = timedelta()
    ) -> None:
        super().__init__(root)
        self._root, self._remote, self._key = root / "sync", remote, key
        self._behind = behind
        self._root.mkdir()

    @contextmanager
    def by_its_clock(self) -> Generator[None]:
        """Let this machine tell the time, which may be behind that of the others."""
        now = clock.now
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(clock, "now", lambda: clock.iso(clock.parse(now()) - self._behind))
            yield

    def sync(self) -> list[str]:
        """Sync once; returns what went wrong."""
        state = SyncState(self._root / "state.sqlite")
        try:
            git = BareGit(
                self._root / "repository.git", str(self._remote), os.environ, most_bytes=MOST_BYTES
            )
            remote = Remote(git, self._key, state, self.records)
            deletions = Deletions(self.library.store.layout)
            return Syncing(remote, deletions, lambda: None).once().problems
        finally:
            state.close()

    def sync_and_be_killed(self, step: int) -> bool:
        """Sync in another process, which is killed at a step; returns whether it came so far."""
        child = os.fork()
        if not child:
            try:
                die_at(step)
                self.sync()
            finally:
                os._exit(0)
        _, status = os.waitpid(child, 0)
        return os.WIFSIGNALED(status)

    def lose_a_race(self) -> None:
        """Sync while somebody else moves the branches of this machine."""
        push = BareGit.push

        def too_late(git: BareGit, updates: Sequence[Update]) -> dict[str, str]:
            for each in updates:
                ref = f"refs/heads/ollm/{each.name}"
                subprocess.run(["git", "-C", str(self._remote), "update-ref", "-d", ref])
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(BareGit, "push", push)
                return git.push(updates)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(BareGit, "push", too_late)
            self.sync()

    def sync_while_open(self, session_id: str) -> None:
        """Sync while another program has a session open."""
        writer, _ = self.library.store.open(session_id)
        try:
            self.sync()
        finally:
            writer.close()

    def sync_until_cut_off(self, sent: int, received: int) -> None:
        """Sync with a remote that is gone after so many bytes in each direction."""
        served: Served = vars(BareGit)["_served"]

        def cut(git: BareGit, program: str) -> tuple[str, ...]:
            (whole,) = served(git, program)
            option, _, command = whole.partition("=")
            line = f"{sys.executable} {CUT_LINE} {sent} {received} {command}"
            return (f"{option}={line}",)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(BareGit, "_served", cut)
            with suppress(SyncError):
                self.sync()

    def sync_until_it_vanishes(self, step: int, hidden: Path) -> None:
        """Sync with a remote that is there no more at one of the steps."""
        count, start = itertools.count(), vars(BareGit)["_start"]

        def started(*args: Any, **named: Any) -> Any:
            if next(count) == step:
                self._remote.rename(hidden)
            return start(*args, **named)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(BareGit, "_start", started)
            with suppress(SyncError):
                self.sync()
        if hidden.exists():
            hidden.rename(self._remote)


STEPS_TO_DIE_AT = (
    *((BareGit, name) for name in ("fetch", "push", "set_ref", "write_blob", "write_commit")),
    *((SyncState, name) for name in ("set_branch", "set_sent", "set_entries", "set_fact")),
    *((SyncState, "wait_for"), (SyncState, "set_buckets"), (SyncState, "forget_machine")),
    *((SessionRecords, "merge"), (SessionRecords, "delete"), (Deletions, "forget")),
    *((SessionWriter, "fold"), (SnapshotStore, "write")),
)


def die_at(step: int) -> None:
    """Let this process be killed before or after one of the steps it takes, counted from 0."""
    count = itertools.count()

    def counting(work: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any, **named: Any) -> Any:
            if next(count) == step:
                os.kill(os.getpid(), signal.SIGKILL)
            done = work(*args, **named)
            if next(count) == step:
                os.kill(os.getpid(), signal.SIGKILL)
            return done

        return counted

    for owner, name in STEPS_TO_DIE_AT:
        setattr(owner, name, counting(getattr(owner, name)))


class Life:
    """What happened so far: what has to be everywhere in the end, and what nowhere."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        self.remote = folder / "remote.git"
        self.new_remote()
        key = RemoteKey.new()
        self.machines = [
            SyncedMachine(folder / name, self.remote, key, timedelta(minutes=minutes))
            for minutes, name in enumerate("abc")
        ]
        self.said: dict[str, set[str]] = {}
        self.snapshots: dict[str, set[str]] = {}
        self.compressions: dict[str, int] = {}
        self.deleted: set[str] = set()

    def new_remote(self) -> None:
        shutil.rmtree(self.remote, ignore_errors=True)
        subprocess.run(["git", "init", "-q", "--bare", str(self.remote)], check=True)

    def step(self, number: int) -> None:
        """Let one machine do something."""
        here = self.chance.choice(self.machines)
        with here.by_its_clock():
            self._step(here, number)

    def _step(self, here: SyncedMachine, number: int) -> None:
        kind = self.chance.choice(KINDS)
        known = [key for key in here.library.store.directory.fingerprints() if key in self.said]
        if kind == "begin" or not self.said:
            session_id = new_session_id()
            here.begin(session_id)
            here.say(f"{SECRET}-first-{number}", session_id=session_id)
            self.said[session_id] = {f"{SECRET}-first-{number}"}
        elif kind in FAILURES:
            self._sync(here, kind)
        elif kind == "search":
            self._search(here, number)
        elif known:
            self.work(here, kind, self.chance.choice(known), number)

    def _sync(self, here: SyncedMachine, kind: str) -> None:
        away = self.remote.with_name("hidden")
        match kind:
            case "kill":
                here.sync_and_be_killed(self.chance.randrange(60))
            case "race":
                here.lose_a_race()
            case "away":
                self.remote.rename(away)
                with pytest.raises(SyncError):
                    here.sync()
                away.rename(self.remote)
            case "vanish":
                here.sync_until_it_vanishes(self.chance.randrange(30), away)
            case "cut":
                here.sync_until_cut_off(*(self.chance.randrange(1, 6000) for _ in "io"))
            case _:
                here.sync()

    def _search(self, here: SyncedMachine, number: int) -> None:
        """Keep a search, or forget one that is kept."""
        lines = saved_searches(here)
        if (kept := lines.all()) and self.chance.random() < 0.3:
            lines.forget(self.chance.choice(kept))
        else:
            lines.keep(f"{SECRET} {number}")

    def work(self, here: SyncedMachine, kind: str, session_id: str, number: int) -> None:
        """Let a machine do something in a session."""
        library, state = here.library, here.state(session_id)
        match kind:
            case "rename":
                library.change(session_id, title=f"{SECRET} {number}")
            case "pin":
                library.change(session_id, pinned=not state.header.pinned)
            case "snapshot":
                taken = present(state, name=SECRET)
                snapshots_beside(library.store).write(taken)
                self.snapshots.setdefault(session_id, set()).add(taken.id)
            case "label":
                shelf = SnapshotLibrary.beside(library.store)
                for each in shelf.list(session_id)[:1]:
                    shelf.rename(session_id, each.id, f"{SECRET} {number}")
                    shelf.pin(session_id, each.id, not each.pinned)
            case "compress":
                library.record(session_id, lambda now: [compressing(now)])
                self.compressions[session_id] = self.compressions.get(session_id, 0) + 1
            case "delete":
                library.delete(session_id)
                self.deleted.add(session_id)
            case "trash":
                library.discard(session_id, "the oldest")
            case "open":
                here.sync_while_open(session_id)
            case _:
                self._say(here, kind, session_id, f"{SECRET}-{number}")

    def _say(self, here: SyncedMachine, kind: str, session_id: str, key: str) -> None:
        """Say something at the end, after any message, or in the place of one."""
        messages = list(here.state(session_id).messages())
        after: str | None = None
        if kind == "branch":
            after = self.chance.choice(messages).id
        elif kind == "edit":
            after = self.chance.choice(messages).parent_id
        here.say(key, session_id=session_id, after=after)
        self.said[session_id].add(key)

    def restore_all(self) -> None:
        """Take everything out of the trash of each machine, to look at it."""
        for machine in self.machines:
            for note in machine.library.trashed():
                machine.library.restore(note.session_id)

    def check(self) -> None:
        """Everything said is everywhere and can be read; what was deleted is nowhere."""
        for session_id, ids in self.said.items():
            if session_id in self.deleted:
                for machine in self.machines:
                    with pytest.raises(SessionNotFound):
                        machine.library.load(session_id)
                continue
            states = [machine.library.load(session_id) for machine in self.machines]
            assert [loaded.problems for loaded in states] == [()] * 3
            found = [
                content(each.state, machine.id)
                for each, machine in zip(states, self.machines, strict=True)
            ]
            assert found[0] == found[1] == found[2]
            assert {message.id for message in states[0].state.messages()} >= ids
            for loaded in states:
                made = {(each.number, each.at) for each in compressions(loaded.state)}
                assert len(made) == self.compressions.get(session_id, 0)
            shelves = [SnapshotLibrary.beside(each.library.store) for each in self.machines]
            listed = [
                {(each.id, each.name, each.pinned) for each in shelf.list(session_id)}
                for shelf in shelves
            ]
            assert listed[0] == listed[1] == listed[2]
            assert {each[0] for each in listed[0]} == self.snapshots.get(session_id, set())
        kept = [set(saved_searches(machine).all()) for machine in self.machines]
        assert kept[0] == kept[1] == kept[2]


def saved_searches(machine: SyncedMachine) -> SavedLines:
    """The searches that a machine keeps."""
    return SavedLines(machine.library.memory / LINES)


def compressing(state: SessionState) -> Compressed:
    """Compress a session: a checkpoint takes the place of all that was said."""
    moment = clock.now()
    made = replace(
        checkpoint(new_id(), *(message.id for message in state.branch())),
        summary=f"{SECRET} in short",
    )
    done = compression(CompressedContext(checkpoints=(made.id,)), made)
    number = next_number(state.header.metadata)
    return Compressed(at=moment, compression=replace(done, number=number, at=moment))


def compressions(state: SessionState) -> Iterator[Compression]:
    """All compressions of a session, on whatever machine."""
    yield from state.header.metadata.compression_history
    for line in state.header.machines:
        yield from line.compressions


def words_on(remote: Path) -> bytes:
    """Everything that the host of a remote can read."""
    held = b"".join(
        bytes(path.relative_to(remote)) + path.read_bytes()
        for path in remote.rglob("*")
        if path.is_file()
    )
    objects = subprocess.run(
        ["git", "-C", str(remote), "cat-file", "--batch-all-objects", "--batch"],
        check=True,
        capture_output=True,
    ).stdout
    return held + objects


@pytest.fixture
def scratch() -> Iterator[Path]:
    """Syncing makes everything durable, which takes its time on a disk."""
    with quick_folder() as folder:
        yield Path(folder)


@pytest.mark.slow
def test_a_sync_that_is_killed_at_any_step_loses_nothing(scratch: Path) -> None:
    steps = range(0, 400, 1 if LONG else 11)
    for step in steps:
        folder = scratch / str(step)
        folder.mkdir()
        life = Life(folder, step)
        first, second, third = life.machines
        gone, kept = new_session_id(), new_session_id()
        for session_id in (gone, kept):
            first.begin(session_id)
            life.said[session_id] = set()
        for machine in (first, second):
            machine.sync()
        life.work(second, "snapshot", kept, 1)
        life.work(first, "branch", kept, 2)
        first.sync()
        life.work(second, "say", kept, 3)
        life.work(second, "delete", gone, 4)
        was_killed = second.sync_and_be_killed(step)
        for machine in (second, first, third, second):
            assert machine.sync() == []
        life.check()
        if not was_killed:
            return
    pytest.fail("a sync has more steps than this test knows")


@pytest.mark.slow
@some(1, "seed", range(200 if LONG else 2))
def test_three_machines_come_to_the_same_whatever_happens(
    scratch: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "wolpertinger")
    life = Life(scratch, seed)
    for number in range(STEPS):
        life.step(number)
    life.restore_all()
    for _ in range(2):
        for machine in life.machines:
            machine.sync()
    assert [machine.sync() for machine in life.machines] == [[], [], []]
    life.check()
    held = words_on(life.remote)
    assert SECRET.encode() not in held
    for name in (*life.said, *life.deleted, "wolpertinger"):
        assert name.encode() not in held


def test_a_remote_that_was_emptied_gets_everything_again(scratch: Path) -> None:
    life = Life(scratch, 7)
    first, second, third = life.machines
    first.begin()
    first.say("m1")
    first.sync()
    second.sync()
    second.say("m2")
    life.new_remote()
    for machine in (second, first, third, second):
        machine.sync()
    assert first.said() == second.said() == third.said() >= {"m1", "m2"}
