"""What is being done to snapshots when the program is killed; see `scenarios`."""

from __future__ import annotations

from msgspec.structs import replace

from ollm_tui.core.snapshot import ContextSnapshot
from ollm_tui.services.snapshots.snapshot_library import SnapshotLibrary
from ollm_tui.storage.store_layout import StoreLayout
from tests.crash.scenarios import BYSTANDER, SUBJECT, Say, Scenario
from tests.snapshot_samples import sample_snapshot

MOST = 3
AUTOMATIC = ("auto-1", "auto-2", "auto-3")
NAMED = "named"
NEW = "new"


def snapshot(snapshot_id: str, session_id: str = SUBJECT) -> ContextSnapshot:
    """A snapshot that is the same in every process but for its time."""
    name = "a name" if snapshot_id == NAMED else ""
    sample = sample_snapshot(session_id, reason="threshold", name=name)
    return replace(sample, id=snapshot_id)


def _some(layout: StoreLayout) -> None:
    library = SnapshotLibrary.at(layout)
    library.create(snapshot("other", BYSTANDER), MOST)
    for snapshot_id in (NAMED, *AUTOMATIC):
        library.create(snapshot(snapshot_id), MOST)
    library.counts()


def _none(layout: StoreLayout) -> None:
    SnapshotLibrary.at(layout).create(snapshot("other", BYSTANDER), MOST)


def _create(layout: StoreLayout, say: Say) -> None:
    SnapshotLibrary.at(layout).create(snapshot(NEW), MOST)
    say("created")


def _delete(layout: StoreLayout, say: Say) -> None:
    SnapshotLibrary.at(layout).delete(SUBJECT, NAMED)
    say("deleted")


def _delete_and_undo(layout: StoreLayout, say: Say) -> None:
    _delete(layout, say)
    SnapshotLibrary.at(layout).undelete(SUBJECT, NAMED)
    say("undeleted")


def _rename(layout: StoreLayout, say: Say) -> None:
    SnapshotLibrary.at(layout).rename(SUBJECT, NAMED, "another name")
    say("renamed")


def _list(layout: StoreLayout, say: Say) -> None:
    for path in layout.snapshots.rglob("snapshots-index.json"):
        path.unlink()
    layout.snapshot_map.unlink()
    library = SnapshotLibrary.at(layout)
    library.list(SUBJECT)
    library.counts()
    say("listed")


ALL = {
    "taking the first snapshot": Scenario(_none, _create),
    "taking one too many": Scenario(_some, _create),
    "deleting": Scenario(_some, _delete),
    "deleting and undoing that": Scenario(_some, _delete_and_undo),
    "renaming": Scenario(_some, _rename),
    "making the caches anew": Scenario(_some, _list),
}
