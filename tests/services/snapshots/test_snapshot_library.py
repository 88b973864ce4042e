"""The snapshot service: durable, bounded, told of, and never in the way of the conversation."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ollm_tui.core.errors import AmbiguousId, StoreError, UsageError
from ollm_tui.core.events import (
    AutoSnapshotCreated,
    SnapshotCreated,
    SnapshotDeleted,
    SnapshotEvent,
    SnapshotFailed,
)
from ollm_tui.core.snapshot import Reason
from ollm_tui.services.sessions.recording import Recording
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.services.snapshots.restore_points import Snapshots, Thresholds
from ollm_tui.services.snapshots.snapshot_library import SnapshotLibrary
from ollm_tui.settings.schema import Settings
from ollm_tui.settings.schema import Snapshots as Rules
from ollm_tui.storage.store_layout import StoreLayout
from tests.end_to_end.test_disk_full import full_disk
from tests.folders import quick_folder
from tests.snapshot_samples import SESSION_ID, sample_snapshot

LATE = "2999-01-01T00:00:00.000000Z"


@pytest_asyncio.fixture
async def recording(tmp_path: Path) -> AsyncIterator[Recording]:
    library = SessionLibrary.at(StoreLayout(tmp_path / "store" / "sessions"))
    recording = Recording(library.store, library.index)
    yield recording
    await recording.close()


def service(recording: Recording, **rules: object) -> tuple[Snapshots, list[SnapshotEvent]]:
    snapshots = Snapshots.of(recording, Settings(snapshots=replace(Rules(), **rules)))
    events: list[SnapshotEvent] = []
    snapshots.topic.subscribe(events.append)
    return snapshots, events


async def test_a_snapshot_is_created_listed_and_read(recording: Recording) -> None:
    snapshots, events = service(recording)
    snapshot = sample_snapshot(name="mine")
    summary = await snapshots.create(snapshot)
    assert summary is not None
    assert await snapshots.list(SESSION_ID) == [summary]
    assert await snapshots.get(SESSION_ID, summary.id) == snapshot
    assert events == [SnapshotCreated(SESSION_ID, summary.id)]


async def test_the_oldest_automatic_one_goes_and_that_is_told(recording: Recording) -> None:
    snapshots, events = service(recording, max_count=2)
    made = [sample_snapshot(reason="threshold") for _ in range(3)]
    for snapshot in made:
        await snapshots.create(snapshot)
    assert [each.id for each in await snapshots.list(SESSION_ID)] == [made[2].id, made[1].id]
    assert events == [
        *(AutoSnapshotCreated(SESSION_ID, each.id, "threshold") for each in made),
        SnapshotDeleted(SESSION_ID, made[0].id),
    ]


async def test_a_clock_that_goes_back_does_not_cost_the_newest_one(recording: Recording) -> None:
    snapshots, _ = service(recording, max_count=1)
    await snapshots.create(replace(sample_snapshot(reason="threshold"), timestamp=LATE))
    newest = sample_snapshot(reason="compression")
    summary = await snapshots.create(newest)
    assert summary is not None
    assert summary.timestamp > LATE
    assert [each.id for each in await snapshots.list(SESSION_ID)] == [newest.id]


@pytest.mark.parametrize(
    ("rules", "reason", "taken"),
    [
        ({"enabled": False}, "compression", False),
        ({"auto_create": False}, "threshold", False),
        ({"auto_create": False}, "compression", True),
        ({}, "threshold", True),
    ],
)
async def test_the_settings_say_which_are_taken(
    recording: Recording, rules: dict[str, object], reason: Reason, taken: bool
) -> None:
    snapshots, _ = service(recording, **rules)
    assert (await snapshots.create(sample_snapshot(reason=reason)) is not None) is taken
    assert len(await snapshots.list(SESSION_ID)) == taken


async def test_asking_for_one_where_they_are_switched_off_is_answered(
    recording: Recording,
) -> None:
    snapshots, _ = service(recording, enabled=False)
    with pytest.raises(UsageError, match="snapshots are off"):
        await snapshots.create(sample_snapshot())


async def test_deleting_can_be_undone(recording: Recording) -> None:
    snapshots, events = service(recording)
    snapshot = sample_snapshot()
    await snapshots.create(snapshot)
    await snapshots.delete(SESSION_ID, snapshot.id)
    assert await snapshots.list(SESSION_ID) == []
    await snapshots.empty_old_deleted()
    await snapshots.undelete(SESSION_ID, snapshot.id)
    assert await snapshots.get(SESSION_ID, snapshot.id) == snapshot
    assert events[1] == SnapshotDeleted(SESSION_ID, snapshot.id)


async def test_a_named_or_pinned_one_is_never_removed_by_itself(recording: Recording) -> None:
    snapshots, _ = service(recording, max_count=1)
    named, pinned = (sample_snapshot(reason="threshold") for _ in range(2))
    await snapshots.create(named)
    await snapshots.rename(SESSION_ID, named.id, "  before\x1b[31m\nthe storm ")
    await snapshots.create(pinned)
    await snapshots.pin(SESSION_ID, pinned.id, True)
    for _ in range(3):
        await snapshots.create(sample_snapshot(reason="threshold"))
    listed = {each.id: each for each in await snapshots.list(SESSION_ID)}
    assert len(listed) == 3
    assert listed[named.id].name == "before the storm"
    assert listed[pinned.id].pinned
    await snapshots.pin(SESSION_ID, pinned.id, False)
    await snapshots.create(sample_snapshot(reason="threshold"))
    assert pinned.id not in {each.id for each in await snapshots.list(SESSION_ID)}


async def test_a_snapshot_is_found_in_any_session_by_the_beginning_of_its_id(
    recording: Recording,
) -> None:
    snapshots, _ = service(recording)
    for session_id, snapshot_id in (("s1", "abc1"), ("s2", "abc2"), ("s2", "abc")):
        await snapshots.create(replace(sample_snapshot(session_id), id=snapshot_id))
    assert await snapshots.find("ABC2") == ("s2", "abc2")
    assert await snapshots.find("abc") == ("s2", "abc")
    assert (await snapshots.holdings()).counts == {"s1": 1, "s2": 2}
    with pytest.raises(AmbiguousId, match="3 snapshots"):
        await snapshots.find("ABC")
    for unknown in ("", "x", "abc11"):
        with pytest.raises(StoreError, match="no snapshot"):
            await snapshots.find(unknown)


async def test_an_ephemeral_session_has_snapshots_and_nothing_on_disk(
    recording: Recording,
) -> None:
    snapshots, _ = service(recording, max_count=2)
    snapshots.keep_in_memory(SESSION_ID)
    made = [sample_snapshot(reason="threshold") for _ in range(3)]
    for snapshot in made:
        await snapshots.create(snapshot)
    assert [each.id for each in await snapshots.list(SESSION_ID)] == [made[2].id, made[1].id]
    await snapshots.delete(SESSION_ID, made[1].id)
    await snapshots.undelete(SESSION_ID, made[1].id)
    assert await snapshots.get(SESSION_ID, made[1].id) == made[1]
    assert await snapshots.find(made[2].id[:8]) == (SESSION_ID, made[2].id)
    assert not recording.store.layout.snapshots.exists()


async def test_a_disk_that_refuses_is_told_and_the_program_goes_on(recording: Recording) -> None:
    snapshots, events = service(recording)
    recording.store.layout.root.mkdir(parents=True)
    recording.store.layout.snapshots.write_text("no directory")
    with pytest.raises(StoreError, match="could not save the snapshot"):
        await snapshots.create(sample_snapshot())
    assert isinstance(events[0], SnapshotFailed)
    assert events[0].hint
    recording.store.layout.snapshots.unlink()
    assert await snapshots.create(sample_snapshot())


async def test_a_full_disk_costs_only_the_snapshot_that_did_not_fit(recording: Recording) -> None:
    snapshots, events = service(recording, max_count=1)
    before = sample_snapshot(reason="threshold")
    await snapshots.create(before)
    large = replace(sample_snapshot(reason="threshold"), summary="x" * 50_000)
    with full_disk(20_000), pytest.raises(StoreError, match="could not save the snapshot"):
        await snapshots.create(large)
    assert isinstance(events[-1], SnapshotFailed)
    assert await snapshots.get(SESSION_ID, before.id) == before
    left = recording.store.layout.snapshots.rglob("*.tmp")
    assert list(left) == []
    assert await snapshots.create(large)
    assert [each.id for each in await snapshots.list(SESSION_ID)] == [large.id]


async def test_callbacks_are_called_when_their_share_is_passed(recording: Recording) -> None:
    snapshots, events = service(recording)
    thresholds = Thresholds()
    called: list[str] = []

    async def create() -> None:
        called.append("85")
        await snapshots.create(sample_snapshot(reason="threshold"))

    async def fail() -> None:
        called.append("fails")
        await snapshots.get(SESSION_ID, "nothing")

    stop = thresholds.on_context_threshold(0.85, fail)
    thresholds.on_context_threshold(0.85, create)
    thresholds.on_before_overflow(lambda: called.append("full"))
    for tokens in (100, 849, 850, 900, 960, 990, 100, 980):
        await thresholds.check(tokens, 1000)
        if tokens == 990:
            stop()
    assert called == ["fails", "85", "full", "85", "full"]
    assert len(await snapshots.list(SESSION_ID)) == 2
    assert isinstance(events[0], SnapshotFailed)


@given(st.lists(st.integers(0, 120), max_size=60), st.integers(1, 100))
def test_a_threshold_fires_once_for_every_crossing(uses: list[int], percent: int) -> None:
    fired: list[int] = []
    thresholds = Thresholds()
    seen: list[int] = []
    thresholds.on_context_threshold(percent / 100, lambda: fired.append(len(seen)))
    for use in uses:
        asyncio.run(thresholds.check(use, 100))
        seen.append(use)
    above = [use >= percent / 100 * 100 for use in uses]
    assert fired == [
        place for place, now in enumerate(above) if now and not (place and above[place - 1])
    ]


async def test_without_room_nothing_is_passed() -> None:
    thresholds = Thresholds()
    thresholds.on_before_overflow(lambda: pytest.fail("called"))
    await thresholds.check(5, 0)


async def test_a_message_that_does_not_fit_overflows_once_until_there_is_room_again() -> None:
    thresholds, called = Thresholds(), list[str]()
    thresholds.on_context_threshold(0.85, lambda: called.append("85"))
    thresholds.on_before_overflow(lambda: called.append("full"))
    await thresholds.overflow()
    await thresholds.overflow()
    assert called == ["full"]
    await thresholds.check(10, 100)
    await thresholds.overflow()
    await thresholds.check(99, 100)
    assert called == ["full", "full", "85"]


kinds = st.sampled_from(["auto", "auto", "auto", "named", "manual", "pin", "delete"])


@given(st.lists(kinds, max_size=14), st.integers(1, 4))
def test_exactly_the_newest_automatic_ones_and_all_others_are_kept(
    steps: list[str], most: int
) -> None:
    with quick_folder() as place:
        library = SnapshotLibrary.at(StoreLayout(Path(place) / "sessions"))
        automatic: list[str] = []
        kept: list[str] = []
        for step in steps:
            if step == "pin":
                if automatic:
                    library.pin(SESSION_ID, automatic[-1], True)
                    kept.append(automatic.pop())
                continue
            if step == "delete":
                if kept:
                    library.delete(SESSION_ID, kept.pop())
                continue
            reason: Reason = "manual" if step == "manual" else "threshold"
            snapshot = sample_snapshot(reason=reason, name="x" if step == "named" else "")
            library.create(snapshot, most)
            (automatic if step == "auto" else kept).append(snapshot.id)
            automatic = automatic[-most:]
        assert {each.id for each in library.list(SESSION_ID)} == {*automatic, *kept}


async def test_a_callback_that_raises_stops_neither_the_others_nor_the_turn() -> None:
    thresholds, called = Thresholds(), list[str]()

    def fails() -> None:
        raise ValueError("a callback of somebody else")

    thresholds.on_context_threshold(0.5, fails)
    thresholds.on_context_threshold(0.5, lambda: called.append("other"))
    await thresholds.check(60, 100)
    assert called == ["other"]
