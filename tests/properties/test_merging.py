"""A session is the set of what all machines recorded: how it came together does not matter."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from ollm_tui.core.session.encoding import decode_session, encode, to_tree
from ollm_tui.core.session.message import Text
from ollm_tui.core.session.record import AnyRecord, MessageAdded, SessionChanged
from ollm_tui.core.session.session import Session
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.services.sync.foreign_records import checked_record
from ollm_tui.services.sync.own_records import batch_of, own_records
from tests.services.sync.several_machines import SESSION, MemoryRemote, OneMachine, content
from tests.session_lives import MOMENT, Draw, apply, lives, states

MACHINES = ("a" * 16, "b" * 16, "c" * 16)
EMPTY = Session(SESSION, MOMENT, MOMENT, "scripted", "scripted", visiting=True)


@st.composite
def sent(draw: Draw) -> list[AnyRecord]:
    """What three machines send of one session, some of it said on two of them."""
    records: list[AnyRecord] = []
    for machine in MACHINES:
        state = draw(states(draw(st.sampled_from(("m", machine[0])))))
        apply(state, *draw(lives(state)))
        moment = f"2026-01-0{draw(st.integers(1, 3))}T00:00:00.000000Z"
        fields = {"title": draw(st.sampled_from(("Rome", "Paris"))), "pinned": draw(st.booleans())}
        apply(state, SessionChanged(at=moment, fields=fields))
        state.header = replace(state.header, session_id=SESSION)
        items = batch_of(own_records(state, ()), "", machine).items
        records += [checked_record(item.data, machine, SESSION) for item in items]
    return records


def merged(*parts: list[AnyRecord]) -> SessionState:
    """A session that took in records part by part, stored and read after each."""
    session = EMPTY
    for part in parts:
        state = SessionState(session)
        apply(state, *part)
        session = decode_session(encode(state.session()))
    return SessionState(session)


def whole(state: SessionState) -> dict[str, object]:
    header = state.header
    lines = [to_tree(line) for line in header.machines]
    changes = sorted((each.name, each.at) for each in header.changes)
    compressed = to_tree(header.metadata.compressed)
    return {**content(state), "lines": lines, "changes": changes, "compressed": compressed}


@given(sent(), st.randoms(use_true_random=False))
def test_records_may_come_in_any_order_in_any_parts_and_twice(
    records: list[AnyRecord], chance: random.Random
) -> None:
    shuffled = [*records, *chance.sample(records, len(records) // 2)]
    chance.shuffle(shuffled)
    first, second = sorted(chance.choices(range(len(shuffled) + 1), k=2))
    parts = (shuffled[:first], shuffled[first:second], shuffled[second:])
    assert whole(merged(*parts)) == whole(merged(records))
    assert whole(merged(records, records)) == whole(merged(records))


@given(sent(), st.randoms(use_true_random=False))
def test_nothing_that_was_said_is_lost_and_every_branch_can_be_read(
    records: list[AnyRecord], chance: random.Random
) -> None:
    said = {each.message.id for each in records if isinstance(each, MessageAdded)}
    chance.shuffle(records)
    state = merged(records[: len(records) // 2], records[len(records) // 2 :])
    assert {message.id for message in state.messages()} == said
    for message in state.messages():
        assert state.branch(message.id)[-1] == message
        assert state.branch(message.id)[0].parent_id is None
        assert any(isinstance(part, Text) for part in message.parts)
    assert all(line.missing == 0 for line in state.header.machines)


@given(states(), st.lists(sent(), max_size=1))
def test_the_head_and_the_context_here_stay_as_they_were_left(
    state: SessionState, others: list[list[AnyRecord]]
) -> None:
    state.header = replace(state.header, visiting=False)
    before, branch = state.header, [message.id for message in state.branch()]
    for records in others:
        apply(state, *records)
    shared = {"pins": before.metadata.pins, "goals": before.metadata.goals}
    assert (state.header.head, replace(state.header.metadata, **shared)) == (
        before.head,
        before.metadata,
    )
    if len(branch) and not others:
        assert [message.id for message in state.branch()] == branch


STEPS = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.sampled_from(("begin", "say", "branch", "rename", "pin", "trash", "push", "pull")),
        st.integers(0, 1),
    ),
    max_size=14,
)


@settings(max_examples=25)
@given(STEPS)
def test_three_machines_with_random_work_come_to_the_same(
    steps: list[tuple[int, str, int]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        machines = [OneMachine(Path(folder, str(number))) for number in range(3)]
        remote = MemoryRemote()
        said: dict[str, set[str]] = {}
        for number, (which, work, session) in enumerate(steps):
            _work(machines[which], remote, work, f"{SESSION[:-1]}{session}", number, said)
        for _ in range(2):
            for machine in machines:
                _bring_back(machine)
                remote.push(machine)
                remote.pull(machine)
        for machine in machines:
            remote.pull(machine)
        for session_id, ids in said.items():
            found = [content(each.state(session_id), each.id) for each in machines]
            assert found[0] == found[1] == found[2]
            assert machines[0].said(session_id) >= ids


def _work(
    here: OneMachine,
    remote: MemoryRemote,
    work: str,
    session_id: str,
    number: int,
    said: dict[str, set[str]],
) -> None:
    """Let one machine do something, if it can."""
    is_here = here.library.store.directory.has(session_id)
    match work:
        case "begin" if session_id not in said:
            here.begin(session_id)
            said[session_id] = set()
        case "say" | "branch" if is_here:
            root = next(iter(here.state(session_id).messages())).id if work == "branch" else None
            here.say(f"n{number}", session_id=session_id, after=root)
            said[session_id].add(f"n{number}")
        case "rename" if is_here:
            here.library.change(session_id, title=f"title {number}")
        case "pin" if is_here:
            here.library.change(session_id, pinned=bool(number % 2))
        case "trash" if is_here:
            here.library.discard(session_id, "too many")
        case "push":
            remote.push(here)
        case "pull":
            remote.pull(here)
        case _:
            pass


def _bring_back(here: OneMachine) -> None:
    for note in here.library.trashed():
        here.library.restore(note.session_id)
