"""Snapshots on disk: whole or not there, private, sealed if need be; caches may say anything."""

from __future__ import annotations

import json
import os
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from ollm_tui.core.errors import StoreError
from ollm_tui.core.snapshot import ContextSnapshot, SnapshotSummary, summary_of
from ollm_tui.storage.files.cipher import AesGcm
from ollm_tui.storage.snapshots.snapshot_index import INDEX_NAME
from ollm_tui.storage.snapshots.snapshot_store import SnapshotStore
from ollm_tui.storage.store_layout import StoreLayout
from tests.snapshot_samples import SESSION_ID, sample_snapshot

KEY = bytes(range(32))


@pytest.fixture
def layout(tmp_path: Path) -> StoreLayout:
    return StoreLayout(tmp_path / "store" / "sessions")


@pytest.fixture
def store(layout: StoreLayout) -> SnapshotStore:
    return SnapshotStore(layout)


def folder(layout: StoreLayout) -> Path:
    return layout.root / "context-snapshots" / SESSION_ID / "snapshots"


def put(store: SnapshotStore, snapshot: ContextSnapshot) -> list[SnapshotSummary]:
    store.refresh(snapshot.session_id, store.write(snapshot))
    return store.summaries(snapshot.session_id)


def ids(store: SnapshotStore, session_id: str = SESSION_ID) -> list[str]:
    return [each.id for each in store.summaries(session_id)]


def test_a_snapshot_lies_where_the_seed_says_for_this_user_only(
    store: SnapshotStore, layout: StoreLayout
) -> None:
    snapshot = sample_snapshot()
    put(store, snapshot)
    path = folder(layout) / f"snapshot-{snapshot.id}.json"
    assert json.loads(path.read_bytes())["sessionId"] == SESSION_ID
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert (folder(layout) / INDEX_NAME).stat().st_mode & 0o777 == 0o600
    assert store.read(SESSION_ID, snapshot.id) == (snapshot, False)


def test_a_store_without_snapshots_is_listed_without_being_made(
    store: SnapshotStore, layout: StoreLayout
) -> None:
    assert store.summaries(SESSION_ID) == []
    assert store.owners() == {}
    assert not layout.root.exists()


def test_snapshots_are_listed_newest_first_with_what_is_shown(store: SnapshotStore) -> None:
    first = replace(sample_snapshot(), timestamp="2026-01-01T00:00:00.000000Z")
    second = replace(sample_snapshot(name="mine"), timestamp="2026-01-02T00:00:00.000000Z")
    put(store, second)
    listed = put(store, first)
    assert [each.id for each in listed] == [second.id, first.id]
    assert listed == store.summaries(SESSION_ID)
    assert listed[0] == summary_of(second, listed[0].size)
    assert listed[0].size > 1000


@pytest.mark.parametrize("junk", [None, b"", b"{", b"[1]", b'{"version":"1.0","snapshots":[]}'])
def test_the_index_is_only_a_cache(
    store: SnapshotStore, layout: StoreLayout, junk: bytes | None
) -> None:
    written = put(store, sample_snapshot())
    index = folder(layout) / INDEX_NAME
    if junk is None:
        index.unlink()
    else:
        index.write_bytes(junk)
    assert store.summaries(SESSION_ID) == written
    assert SnapshotStore(layout).summaries(SESSION_ID) == written


def test_an_index_that_is_used_spares_reading_the_files(
    store: SnapshotStore, layout: StoreLayout
) -> None:
    (written,) = put(store, sample_snapshot())
    index = folder(layout) / INDEX_NAME
    tree = json.loads(index.read_bytes())
    tree["snapshots"][0]["summary"] = "as the index has it"
    index.write_bytes(json.dumps(tree).encode())
    assert store.summaries(SESSION_ID) == [
        msgspec.structs.replace(written, summary="as the index has it")
    ]


def test_what_others_changed_is_seen_although_the_index_does_not_know(
    store: SnapshotStore, layout: StoreLayout
) -> None:
    one, two = sample_snapshot(), sample_snapshot()
    put(store, one)
    put(store, two)
    other = SnapshotStore(layout)
    put(other, replace(one, name="renamed elsewhere"))
    assert other.remove(SESSION_ID, [two.id, "unknown"]) == [two.id]
    (left,) = store.summaries(SESSION_ID)
    assert left.name == "renamed elsewhere"


def test_a_damaged_snapshot_hides_no_other_and_is_left_alone(
    store: SnapshotStore, layout: StoreLayout
) -> None:
    good, bad = sample_snapshot(), sample_snapshot()
    put(store, good)
    put(store, bad)
    path = folder(layout) / f"snapshot-{bad.id}.json"
    path.write_bytes(path.read_bytes()[:100])
    listed = {each.id: each for each in store.summaries(SESSION_ID)}
    assert listed[good.id].damage is None
    assert listed[bad.id].damage
    assert path.stat().st_size == 100
    with pytest.raises(StoreError, match="cannot read snapshot"):
        store.read(SESSION_ID, bad.id)
    assert store.read(SESSION_ID, good.id).snapshot == good


def test_what_is_no_file_is_no_snapshot(store: SnapshotStore, layout: StoreLayout) -> None:
    put(store, sample_snapshot())
    os.mkfifo(folder(layout) / "snapshot-fifo.json")
    (folder(layout) / "snapshot-folder.json").mkdir()
    (folder(layout) / "snapshot-..json").write_text("{}")
    assert len(store.summaries(SESSION_ID)) == 1


def test_a_copied_file_is_another_snapshot(store: SnapshotStore, layout: StoreLayout) -> None:
    snapshot = sample_snapshot()
    put(store, snapshot)
    path = folder(layout) / f"snapshot-{snapshot.id}.json"
    (folder(layout) / "snapshot-copy.json").write_bytes(path.read_bytes())
    assert store.read(SESSION_ID, "copy").snapshot == replace(snapshot, id="copy")
    assert set(ids(store)) == {snapshot.id, "copy"}


@pytest.mark.parametrize("wrong", ["", "nothing", "../x", "a/b", ".", "x\0"])
def test_an_id_that_is_none_is_refused(store: SnapshotStore, wrong: str) -> None:
    put(store, sample_snapshot())
    for session_id in (SESSION_ID, wrong):
        with pytest.raises(StoreError, match="no snapshot"):
            store.read(session_id, wrong)
    assert store.summaries(wrong) == []


def test_what_is_put_aside_can_be_put_back(store: SnapshotStore) -> None:
    one, two = sample_snapshot(), sample_snapshot()
    put(store, one)
    put(store, two)
    store.put_aside(SESSION_ID, one.id)
    assert ids(store) == [two.id]
    assert set(store.owners()) == {two.id}
    store.put_back(SESSION_ID, one.id)
    assert set(ids(store)) == set(store.owners()) == {one.id, two.id}
    assert store.read(SESSION_ID, one.id).snapshot == one
    with pytest.raises(StoreError, match="permanently deleted"):
        store.put_back(SESSION_ID, one.id)


def test_what_was_put_aside_long_ago_goes_for_good(store: SnapshotStore) -> None:
    snapshot = sample_snapshot()
    put(store, snapshot)
    store.put_aside(SESSION_ID, snapshot.id)
    store.empty_aside(before_ns=0)
    store.put_back(SESSION_ID, snapshot.id)
    store.put_aside(SESSION_ID, snapshot.id)
    store.empty_aside(before_ns=2**62)
    with pytest.raises(StoreError, match="permanently deleted"):
        store.put_back(SESSION_ID, snapshot.id)


def test_the_map_knows_every_snapshot_whatever_happened_to_it(
    store: SnapshotStore, layout: StoreLayout
) -> None:
    one, two = sample_snapshot("session-1"), sample_snapshot("session-2")
    put(store, one)
    assert store.owners() == {one.id: "session-1"}
    put(SnapshotStore(layout), two)
    assert store.owners() == {one.id: "session-1", two.id: "session-2"}
    for junk in (b"", b"{", b"[]", json.dumps({"x": "session-9"}).encode()):
        layout.snapshot_map.write_bytes(junk)
        fresh = SnapshotStore(layout)
        assert fresh.owners() == {one.id: "session-1", two.id: "session-2"}
        fresh.remove("session-2", [two.id])
        assert fresh.owners() == {one.id: "session-1"}
        put(fresh, two)
    layout.snapshot_map.unlink(missing_ok=True)
    assert SnapshotStore(layout).owners() == store.owners()


def test_a_map_that_is_used_spares_looking_into_the_folders(
    store: SnapshotStore, layout: StoreLayout
) -> None:
    snapshot = sample_snapshot()
    put(store, snapshot)
    os.utime(folder(layout), (1_000_000, 1_000_000))
    store.owners()
    tree = json.loads(layout.snapshot_map.read_bytes())
    tree["snapshots"]["from-the-map"] = SESSION_ID
    layout.snapshot_map.write_bytes(json.dumps(tree).encode())
    assert set(SnapshotStore(layout).owners()) == {snapshot.id, "from-the-map"}
    os.utime(folder(layout), (2_000_000, 2_000_000))
    assert set(SnapshotStore(layout).owners()) == {snapshot.id}


def test_sealed_snapshots_tell_nothing_and_open_only_with_the_key(layout: StoreLayout) -> None:
    sealed = SnapshotStore(layout, AesGcm(KEY))
    snapshot = sample_snapshot(name="secret name")
    put(sealed, snapshot)
    assert sealed.read(SESSION_ID, snapshot.id).snapshot == snapshot
    assert [each.name for each in sealed.summaries(SESSION_ID)] == ["secret name"]
    for path in layout.root.rglob("*.json"):
        assert b"secret name" not in path.read_bytes()
        assert b"words" not in path.read_bytes()
    for others in (SnapshotStore(layout), SnapshotStore(layout, AesGcm(KEY[::-1]))):
        (listed,) = others.summaries(SESSION_ID)
        assert listed.damage
        with pytest.raises(StoreError, match="encrypted"):
            others.read(SESSION_ID, snapshot.id)
    assert [each.name for each in sealed.summaries(SESSION_ID)] == ["secret name"]


def test_a_sealed_snapshot_does_not_open_in_another_place(layout: StoreLayout) -> None:
    sealed = SnapshotStore(layout, AesGcm(KEY))
    snapshot = sample_snapshot()
    put(sealed, snapshot)
    path = folder(layout) / f"snapshot-{snapshot.id}.json"
    path.rename(folder(layout) / "snapshot-moved.json")
    with pytest.raises(StoreError, match="encrypted"):
        sealed.read(SESSION_ID, "moved")


def test_an_index_from_before_encryption_is_replaced_when_it_is_looked_at(
    layout: StoreLayout,
) -> None:
    put(SnapshotStore(layout), sample_snapshot(name="secret name"))
    (listed,) = SnapshotStore(layout, AesGcm(KEY)).summaries(SESSION_ID)
    assert listed.name == "secret name"
    assert b"secret name" not in (folder(layout) / INDEX_NAME).read_bytes()


def test_words_no_file_can_hold_as_they_are_do_not_harm_the_list(
    store: SnapshotStore, layout: StoreLayout
) -> None:
    snapshot = replace(sample_snapshot(), summary="half a pair \ud83d")
    put(store, snapshot)
    assert SnapshotStore(layout).read(SESSION_ID, snapshot.id).snapshot == snapshot
    assert ids(SnapshotStore(layout)) == [snapshot.id]
