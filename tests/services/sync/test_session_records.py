"""What several machines made of a session comes together, and nothing of it is lost."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.session.branches import branches_of
from ollm_tui.core.session.message import Message, Text
from ollm_tui.core.session.record import MessageAdded, ToolCallAdded
from ollm_tui.core.session.session import ToolCall, ToolResult
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.services.sessions.following import follow
from ollm_tui.services.sessions.recording import Recording
from ollm_tui.services.sessions.saved_lines import SavedLines
from ollm_tui.services.snapshots.closed_sessions import present
from ollm_tui.services.snapshots.snapshot_library import SnapshotLibrary
from ollm_tui.services.sync import session_records
from ollm_tui.services.sync.port import BadItems, Machine
from ollm_tui.storage.snapshots.snapshot_store import snapshots_beside
from tests.services.sync.several_machines import SESSION, MemoryRemote, OneMachine


@pytest.fixture
def desk(tmp_path: Path) -> OneMachine:
    return OneMachine(tmp_path / "desk")


@pytest.fixture
def laptop(tmp_path: Path) -> OneMachine:
    return OneMachine(tmp_path / "laptop")


@pytest.fixture
def remote() -> MemoryRemote:
    return MemoryRemote()


def exchange(remote: MemoryRemote, *machines: OneMachine) -> None:
    for machine in machines:
        remote.push(machine)
    for machine in machines:
        remote.pull(machine)


def test_a_session_arrives_whole_and_is_read_at_its_end(
    desk: OneMachine, laptop: OneMachine, remote: MemoryRemote
) -> None:
    desk.begin()
    desk.say("m1")
    desk.say("m2")
    exchange(remote, desk, laptop)
    assert laptop.on_branch() == desk.on_branch()
    assert laptop.state().header.title == "Rome"
    desk.say("m3")
    exchange(remote, desk, laptop)
    assert laptop.on_branch()[-1] == "m3"


def test_two_lines_both_stay_and_each_head_is_where_it_was_left(
    desk: OneMachine, laptop: OneMachine, remote: MemoryRemote
) -> None:
    desk.begin()
    exchange(remote, desk, laptop)
    laptop.say("on-laptop")
    desk.say("on-desk")
    exchange(remote, desk, laptop)
    assert desk.said() == laptop.said() >= {"on-laptop", "on-desk"}
    assert (desk.on_branch()[-1], laptop.on_branch()[-1]) == ("on-desk", "on-laptop")
    names = [[each.name for each in branches_of(each.state())] for each in (desk, laptop)]
    assert names == [["main", "on laptop: I am on-laptop"], ["main", "on laptop: I am on-desk"]]


def test_the_list_tells_where_a_session_went_on(
    desk: OneMachine, laptop: OneMachine, remote: MemoryRemote
) -> None:
    desk.begin()
    desk.say("m1")
    exchange(remote, desk, laptop)
    laptop.say("m2")
    exchange(remote, laptop, desk)
    (listed,) = desk.library.catalogue.summaries()
    assert (listed.went_on, listed.went_on_at) == ("laptop", laptop.state()["m2"].timestamp)
    desk.say("m3")
    (listed,) = desk.library.catalogue.summaries()
    assert listed.went_on == ""


def test_what_came_from_elsewhere_is_not_sent_on(
    desk: OneMachine, laptop: OneMachine, remote: MemoryRemote
) -> None:
    desk.begin()
    exchange(remote, desk, laptop)
    assert remote.push(laptop) == 0
    laptop.say("m1")
    assert remote.push(laptop) == 2  # the message, and how the session began
    assert remote.push(laptop) == 0


def test_of_two_names_the_later_one_counts_everywhere(
    desk: OneMachine, laptop: OneMachine, remote: MemoryRemote
) -> None:
    desk.begin()
    exchange(remote, desk, laptop)
    laptop.library.change(SESSION, title="Paris", pinned=True)
    desk.library.change(SESSION, title="Madrid")
    exchange(remote, desk, laptop)
    headers = [machine.state().header for machine in (desk, laptop)]
    assert [(each.title, each.pinned) for each in headers] == [("Madrid", True)] * 2


def test_each_machine_numbers_its_own_jobs_and_compressions(
    desk: OneMachine, laptop: OneMachine, remote: MemoryRemote
) -> None:
    desk.begin()
    exchange(remote, desk, laptop)
    for machine, said in ((desk, "on desk"), (laptop, "on laptop")):
        call = ToolCall(f"job-{SESSION}-1", "exec", {}, ToolResult(said), clock.now())
        machine.library.record(SESSION, lambda _, c=call: [ToolCallAdded(at="", tool_call=c)])
    exchange(remote, desk, laptop)
    exchange(remote, desk, laptop)
    for machine in (desk, laptop):
        calls = {call.id: call.result.llm_content for call in machine.state().tool_calls}
        assert sorted(calls.values())[-2:] == ["on desk", "on laptop"]


def test_snapshots_travel_without_the_messages_that_are_there(
    desk: OneMachine, laptop: OneMachine, remote: MemoryRemote
) -> None:
    desk.begin()
    desk.say("a-message-that-is-sent-once")
    taken = present(desk.state(), name="before")
    snapshots_beside(desk.library.store).write(taken)
    exchange(remote, desk, laptop)
    read = snapshots_beside(laptop.library.store).read(SESSION, taken.id).snapshot
    assert [message.id for message in read.sent()] == [message.id for message in taken.sent()]
    assert read.name == "before"
    texts = b"".join(data for _, data in remote.sent[desk.id])
    assert texts.count(b"I am a-message-that-is-sent-once") == 1 + texts.count(b'"summary":"I am')
    assert remote.push(laptop) == 0


def test_saved_searches_are_kept_and_forgotten_everywhere(
    desk: OneMachine, laptop: OneMachine, remote: MemoryRemote
) -> None:
    here, there = (SavedLines(each.library.memory / "searches.json") for each in (desk, laptop))
    here.keep("rome OR paris")
    there.keep("pinned only")
    exchange(remote, desk, laptop)
    assert set(here.all()) == set(there.all()) == {"rome OR paris", "pinned only"}
    there.forget("rome OR paris")
    exchange(remote, laptop, desk)
    assert here.all() == there.all() == ("pinned only",)


def test_bad_records_are_left_out_one_by_one_and_damage_nothing(
    desk: OneMachine, laptop: OneMachine, remote: MemoryRemote
) -> None:
    desk.begin()
    desk.say("m1")
    remote.push(desk)
    good = [data for name, data in remote.sent[desk.id] if name == SESSION]
    tree = next(each for each in map(json.loads, good) if each["kind"] == "message")
    bad = [
        b"no JSON",
        b"[" * 100_000,
        b"{}",
        json.dumps({**tree, "kind": "hologram"}).encode(),
        json.dumps({**tree, "machine": "0" * 16}).encode(),
        json.dumps({**tree, "machineNumber": -1}).encode(),
        json.dumps({**tree, "message": {**tree["message"], "timestamp": "soon"}}).encode(),
        json.dumps(
            {**tree, "message": {**tree["message"], "file": {"sha256": "../x", "size": 1}}}
        ).encode(),
        json.dumps({**tree, "kind": "changed", "fields": {"head": "m9"}}).encode(),
        json.dumps({**tree, "kind": "changed", "fields": {"tags": 7}}).encode(),
        json.dumps({**tree, "kind": "snapshot", "snapshot": {"id": "../../x"}}).encode(),
    ]
    with pytest.raises(BadItems) as refused:
        laptop.records.merge(SESSION, [*bad, *good], Machine(desk.id, "desk"))
    assert refused.value.count == len(bad)
    assert laptop.said() == desk.said()
    assert laptop.library.load(SESSION).problems == ()
    assert laptop.state().header.tags == desk.state().header.tags
    for name in ("../../etc", "", "a/b", "x.json"):
        with pytest.raises(BadItems):
            laptop.records.merge(name, good, Machine(desk.id, "desk"))


async def test_what_arrives_for_an_open_session_is_seen_by_followers_and_kept(
    desk: OneMachine, laptop: OneMachine, remote: MemoryRemote
) -> None:
    desk.begin()
    exchange(remote, desk, laptop)
    desk.say("m1")
    remote.push(desk)
    recording = Recording(laptop.library.store, laptop.library.index)
    recorder, _ = await recording.open(SESSION)
    followed = follow(laptop.library.store, SESSION, asyncio.to_thread, 0.01)
    assert "m1" not in (await anext(followed)).state
    remote.pull(laptop)
    assert "m1" in (await anext(followed)).state
    await followed.aclose()
    said = Message("here", "user", (Text("still here"),), clock.now(), parent_id="m0")
    await recorder.record(MessageAdded(at=said.timestamp, message=said))
    assert laptop.said() >= {"here", "m1"}
    await recorder.close()
    assert laptop.said() >= {"here", "m1"}
    remote.push(laptop)  # which puts what waited into the file
    assert not list(laptop.library.store.layout.arrived.iterdir())
    assert laptop.said() >= {"here", "m1"}
    remote.pull(desk)
    assert desk.said() == laptop.said()
    await recording.close()


def test_what_waits_beside_a_session_goes_with_it(
    desk: OneMachine, laptop: OneMachine, remote: MemoryRemote
) -> None:
    desk.begin()
    exchange(remote, desk, laptop)
    desk.say("m1")
    remote.push(desk)
    writer, _ = laptop.library.store.open(SESSION)
    remote.pull(laptop)
    assert laptop.library.store.layout.arrivals(SESSION).exists()
    writer.close()
    laptop.library.delete(SESSION)
    assert not laptop.library.store.layout.arrivals(SESSION).exists()


def test_a_session_whose_arrival_was_killed_at_its_beginning_arrives_after_all(
    desk: OneMachine, laptop: OneMachine, remote: MemoryRemote
) -> None:
    desk.begin()
    laptop.library.store.layout.sessions.mkdir(parents=True)
    laptop.library.store.layout.journal(SESSION).touch()
    exchange(remote, desk, laptop)
    assert laptop.said() == desk.said()


def test_a_session_in_the_trash_stays_there_and_comes_back_complete(
    desk: OneMachine, laptop: OneMachine, remote: MemoryRemote
) -> None:
    desk.begin()
    exchange(remote, desk, laptop)
    laptop.library.discard(SESSION, "too many")
    desk.say("m1")
    exchange(remote, desk, laptop)
    assert laptop.library.catalogue.summaries() == []
    laptop.library.restore(SESSION)
    assert "m1" in laptop.said()


def test_records_that_have_not_arrived_are_counted_for_each_machine(
    desk: OneMachine, laptop: OneMachine, remote: MemoryRemote
) -> None:
    desk.begin()
    desk.say("m1")
    desk.say("m2")
    remote.push(desk)
    first, *_, last = (data for name, data in remote.sent[desk.id] if name == SESSION)
    laptop.records.merge(SESSION, [first, last], Machine(desk.id, "desk"))
    problems = laptop.library.load(SESSION).problems
    assert problems == (
        f"{json.loads(last)['machineNumber'] - 2} records of desk have not arrived yet",
    )
    remote.pull(laptop)
    assert laptop.library.load(SESSION).problems == ()


def test_a_copy_of_a_store_takes_another_id_and_goes_on(
    desk: OneMachine, laptop: OneMachine, remote: MemoryRemote
) -> None:
    desk.begin()
    exchange(remote, desk, laptop)
    desk.say("m1")
    before = desk.id
    desk.id = desk.records.renew_machine().id
    assert desk.id != before
    exchange(remote, desk, laptop)
    assert laptop.said() == desk.said()


def test_a_fork_of_what_came_from_elsewhere_is_of_this_machine(
    desk: OneMachine, laptop: OneMachine, remote: MemoryRemote
) -> None:
    desk.begin()
    desk.say("m1")
    exchange(remote, desk, laptop)
    copy = laptop.library.fork(SESSION)
    exchange(remote, laptop, desk)
    assert desk.said(copy) == laptop.said(copy) != set()


def test_the_latest_name_and_pin_of_a_snapshot_count_on_every_machine(
    desk: OneMachine, laptop: OneMachine, remote: MemoryRemote
) -> None:
    desk.begin()
    here, there = (SnapshotLibrary.beside(each.library.store) for each in (desk, laptop))
    taken = present(desk.state(), name="first")
    snapshots_beside(desk.library.store).write(taken)
    exchange(remote, desk, laptop)
    here.rename(SESSION, taken.id, "second")
    exchange(remote, desk, laptop)
    assert [each.name for each in there.list(SESSION)] == ["second"]
    there.rename(SESSION, taken.id, "third")
    there.pin(SESSION, taken.id, True)
    exchange(remote, laptop, desk)
    assert [(each.name, each.pinned) for each in here.list(SESSION)] == [("third", True)]


def test_a_snapshot_brings_along_what_does_not_travel_by_itself(
    desk: OneMachine, laptop: OneMachine, remote: MemoryRemote
) -> None:
    desk.begin()

    def half_said(state: SessionState) -> list[MessageAdded]:
        half = Message("half", "assistant", (Text("I was"),), clock.now(), status="streaming")
        half = replace(half, parent_id=state.header.head)
        return [MessageAdded(at=half.timestamp, message=half)]

    desk.library.record(SESSION, half_said)
    taken = present(desk.state(), name="in the middle")
    snapshots_beside(desk.library.store).write(taken)
    exchange(remote, desk, laptop)
    assert "half" not in laptop.said()
    read = snapshots_beside(laptop.library.store).read(SESSION, taken.id).snapshot
    assert "half" in {message.id for message in read.sent()}


def test_the_store_tells_whether_any_session_has_changed(
    desk: OneMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_records, "SETTLED_AFTER_NS", 0)
    desk.begin()
    other = SESSION.replace("5f", "6f")
    desk.begin(other)
    writer, loaded = desk.library.store.open(other)
    said = MessageAdded(at=clock.now(), message=Message("j1", "user", (Text("a"),), clock.now()))
    writer.append([(loaded.state.header.journal_seq + 1, said)])
    snapshots = SnapshotLibrary.beside(desk.library.store)
    taken = present(desk.state(), name="first")
    snapshots_beside(desk.library.store).write(taken)

    def goes_on() -> None:
        writer.append([(loaded.state.header.journal_seq + 2, said)])

    for change in (
        lambda: desk.say("m1"),
        lambda: desk.library.change(SESSION, title="Paris"),
        lambda: snapshots.rename(SESSION, taken.id, "second"),
        lambda: snapshots.delete(SESSION, taken.id),
        lambda: SavedLines(desk.library.memory / "searches.json").keep("rome"),
        goes_on,
        lambda: desk.library.discard(SESSION, "too many"),
    ):
        mark = desk.records.marks().store
        assert mark and desk.records.is_still(mark)
        change()
        assert not desk.records.is_still(mark)
    writer.close()


def test_a_store_that_changed_just_now_is_looked_at_again(desk: OneMachine) -> None:
    desk.begin()
    assert desk.records.marks().store == ""
