"""Bundles: a session and its snapshots come out of the file as they went in."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ollm_tui.core.session.encoding import CannotDecode
from ollm_tui.core.session.message import Text
from ollm_tui.core.session.session import Restore
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.core.snapshot import ContextSnapshot, snapshot_of
from ollm_tui.services.sessions.session_bundle import (
    Bundle,
    add_bundle,
    bundle_document,
    bundle_of,
    read_bundle,
)
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.services.snapshots.restore_plan import restoration
from ollm_tui.services.snapshots.snapshot_library import SnapshotLibrary
from ollm_tui.storage.store_layout import StoreLayout
from tests.folders import quick_folder
from tests.session_lives import apply, prompt_of, states
from tests.snapshot_samples import MOMENT, SESSION_ID, message, rich_session, sample_snapshot

TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3


@pytest.fixture
def library(tmp_path: Path) -> SessionLibrary:
    return SessionLibrary.at(StoreLayout(tmp_path / "sessions"))


def snapshots_of(library: SessionLibrary, session_id: str) -> list[ContextSnapshot]:
    shelf = SnapshotLibrary.at(library.store.layout)
    return [shelf.get(session_id, each.id) for each in shelf.list(session_id)]


def handed_over(bundle: Bundle) -> Bundle:
    read = read_bundle(bundle_document(bundle).encode())
    assert read is not None
    return read


def test_a_bundle_is_the_same_after_it_was_a_file(library: SessionLibrary) -> None:
    bundle = Bundle(rich_session(), (sample_snapshot(name="second"), sample_snapshot()))
    assert handed_over(bundle) == bundle
    name = add_bundle(library, bundle)
    assert name == SESSION_ID
    assert library.load(name).state.session() == bundle.session
    assert sorted(snapshots_of(library, name), key=lambda each: each.id) == sorted(
        bundle.snapshots, key=lambda each: each.id
    )
    again = bundle_of(library, name)
    assert (again.session, set(map(id_of, again.snapshots)), again.problems) == (
        bundle.session,
        set(map(id_of, bundle.snapshots)),
        (),
    )


def id_of(snapshot: ContextSnapshot) -> str:
    return snapshot.id


@given(states(), st.data())
def test_prompts_are_the_same_on_the_other_side(state: SessionState, data: st.DataObject) -> None:
    snapshot = snapshot_of(state, 100, reason="manual")
    if len(state):
        head = data.draw(st.sampled_from([each.id for each in state.messages()]))
        state = SessionState(replace(state.session(), head=head))
    with quick_folder() as folder:
        library = SessionLibrary.at(StoreLayout(Path(folder) / "sessions"))
        name = add_bundle(library, handed_over(Bundle(state.session(), (snapshot,))))
        there = library.load(name).state
        [copy] = snapshots_of(library, name)
        library.close()
    assert prompt_of(there) == prompt_of(state)
    assert copy == snapshot
    for one, point in ((state, snapshot), (there, copy)):
        apply(one, restoration(point, one).record(MOMENT))
    assert prompt_of(there) == prompt_of(state)


def test_taken_ids_are_replaced_and_what_refers_to_them_follows(library: SessionLibrary) -> None:
    snapshot = sample_snapshot()
    session = rich_session()
    [entry] = session.metadata.compression_history
    restore = Restore(at=MOMENT, snapshot=snapshot.id, safety=snapshot.id)
    metadata = replace(
        session.metadata,
        compression_history=(replace(entry, snapshot=snapshot.id),),
        restores=(restore, replace(restore, snapshot="", safety=None)),
    )
    bundle = Bundle(replace(session, metadata=metadata), (snapshot,))
    add_bundle(library, bundle)
    name = add_bundle(library, bundle)
    assert name != SESSION_ID
    [copy] = snapshots_of(library, name)
    assert copy.id != snapshot.id
    assert copy == replace(snapshot, id=copy.id, session_id=name)
    found = library.load(name).state.header.metadata
    assert found.compression_history[0].snapshot == copy.id
    assert [(each.snapshot, each.safety) for each in found.restores] == [
        (copy.id, copy.id),
        ("", None),
    ]
    assert snapshots_of(library, SESSION_ID) == [snapshot]


def test_an_id_that_is_a_path_is_not_obeyed(library: SessionLibrary, tmp_path: Path) -> None:
    hostile = replace(sample_snapshot(), id="../../../evil", session_id="../x")
    name = add_bundle(library, Bundle(replace(rich_session(), session_id="../../y"), (hostile,)))
    assert len(snapshots_of(library, name)) == 1
    assert list(tmp_path.rglob("*evil*")) == []


def test_secrets_stay_here_and_the_snapshot_still_fits_its_session(
    library: SessionLibrary,
) -> None:
    session = rich_session()
    said = replace(message("u1", "user"), parts=(Text(f"my key is {TOKEN}"),))
    session = replace(session, messages=(said, *session.messages[1:]))
    snapshot = snapshot_of(SessionState(session), 10, reason="manual")
    text = bundle_document(Bundle(session, (snapshot,)))
    assert TOKEN not in text and text.count("[REDACTED:") == 2
    read = read_bundle(text.encode())
    assert read is not None
    plan = restoration(read.snapshots[0], SessionState(read.session))
    assert plan.missing == ()


def test_a_damaged_snapshot_is_told_and_left_out(library: SessionLibrary) -> None:
    add_bundle(library, Bundle(rich_session(), (sample_snapshot(), sample_snapshot())))
    folder = library.store.layout.snapshot_folders(SESSION_ID)[0]
    next(folder.glob("snapshot-*.json")).write_text("{")
    bundle = bundle_of(library, SESSION_ID)
    assert len(bundle.snapshots) == 1
    assert len(bundle.problems) == 1 and "cannot read snapshot" in bundle.problems[0]


@pytest.mark.parametrize("data", (b"{}", b"[]", b'{"format": "other"}', b'"ollm-bundle"'))
def test_something_else_is_no_bundle(data: bytes) -> None:
    assert read_bundle(data) is None


def test_a_newer_bundle_is_refused() -> None:
    text = bundle_document(Bundle(rich_session())).replace('"version": 1,', '"version": 2,', 1)
    with pytest.raises(CannotDecode, match="newer version"):
        read_bundle(text.encode())
