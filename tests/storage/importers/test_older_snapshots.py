"""Snapshots of earlier versions become today's values; their files stay as they are."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from ollm_tui.core.errors import StoreError
from ollm_tui.core.session.encoding import CannotDecode
from ollm_tui.core.snapshot import ContextSnapshot
from ollm_tui.core.snapshot_encoding import decode_snapshot, encode_snapshot
from ollm_tui.services.snapshots.snapshot_library import SnapshotLibrary
from ollm_tui.storage.importers.older_snapshots import older_snapshot
from ollm_tui.storage.store_layout import StoreLayout
from tests.snapshot_samples import sample_snapshot
from tests.storage.importers.test_older_sessions import json_values, objects

GOLDEN = Path(__file__).parent / "golden" / "snapshots"
MODIFIED = "2026-02-01T00:00:00Z"
PLACES = {
    "users-apart": "context-snapshots",
    "users-repeated": "context-storage",
    "no-user-list": "session-data",
    "other-roles-without-ids": "context-snapshots",
    "before-version-1": "context-storage",
}
ONE_OF_THEM = "550e8400-e29b-41d4-a716-446655440000"


def golden(name: str) -> dict[str, Any]:
    return json.loads((GOLDEN / f"{name}.json").read_bytes())


def imported(tree: dict[str, Any]) -> ContextSnapshot:
    snapshot = older_snapshot(tree, "session-1", "snapshot-1", MODIFIED)
    assert snapshot is not None
    return snapshot


def bytes_below(root: Path) -> dict[str, bytes]:
    files = (path for path in root.rglob("*") if path.is_file())
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in files}


@pytest.fixture
def layout(tmp_path: Path) -> StoreLayout:
    """A store as an earlier version left it."""
    layout = StoreLayout(tmp_path / "store" / "sessions")
    for name, place in PLACES.items():
        tree = golden(name)
        folder = layout.root / place / tree["sessionId"] / "snapshots"
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(GOLDEN / f"{name}.json", folder / f"snapshot-{tree['id']}.json")
    index = layout.snapshot_folders(ONE_OF_THEM)[0] / "snapshots-index.json"
    shutil.copy(GOLDEN / "snapshots-index.json", index)
    shutil.copy(GOLDEN / "snapshot-map.json", layout.snapshot_map)
    return layout


@pytest.mark.parametrize("name", PLACES)
def test_each_older_shape_is_read_as_its_golden_file_says(name: str) -> None:
    tree = golden(name)
    expected = decode_snapshot((GOLDEN / f"{name}.imported.json").read_bytes())
    assert older_snapshot(tree, tree["sessionId"], tree["id"], MODIFIED) == expected
    assert tree == golden(name)


def test_every_place_of_earlier_programs_is_found(layout: StoreLayout) -> None:
    library = SnapshotLibrary.at(layout)
    for name in PLACES:
        tree = golden(name)
        expected = decode_snapshot((GOLDEN / f"{name}.imported.json").read_bytes())
        assert library.find(tree["id"][:-1]) == (tree["sessionId"], tree["id"])
        assert library.get(tree["sessionId"], tree["id"]) == expected
        assert tree["id"] in {each.id for each in library.list(tree["sessionId"])}
    assert sum(library.counts().values()) == len(PLACES)


def test_looking_alters_nothing_of_theirs(layout: StoreLayout) -> None:
    before = bytes_below(layout.root)
    library = SnapshotLibrary.at(layout)
    for name in PLACES:
        tree = golden(name)
        library.find(tree["id"])
        library.get(tree["sessionId"], tree["id"])
        assert not any(each.damage for each in library.list(tree["sessionId"]))
        with pytest.raises(StoreError, match="earlier version"):
            library.rename(tree["sessionId"], tree["id"], "mine")
        library.delete(tree["sessionId"], tree["id"])
        library.undelete(tree["sessionId"], tree["id"])
    after = bytes_below(layout.root)
    originals = ("snapshot-", "snapshot-map.json")
    for path, data in before.items():
        if Path(path).name.startswith(originals):
            assert after[path] == data
        else:
            assert data in after.values(), "kept beside the new one"


def test_only_looking_does_not_even_replace_their_index(layout: StoreLayout) -> None:
    before = bytes_below(layout.root)
    library = SnapshotLibrary.at(layout)
    for name in PLACES:
        library.list(golden(name)["sessionId"])
    library.counts()
    assert before.items() <= bytes_below(layout.root).items()


def test_new_snapshots_beside_them_remove_none_of_them(layout: StoreLayout) -> None:
    library = SnapshotLibrary.at(layout)
    before = bytes_below(layout.root)
    for _ in range(4):
        library.create(sample_snapshot(ONE_OF_THEM, reason="threshold"), 2)
    after = bytes_below(layout.root)
    assert len(library.list(ONE_OF_THEM)) == 3
    for path, data in before.items():
        assert data in after.values(), path


def test_a_snapshot_of_today_is_left_alone() -> None:
    assert older_snapshot({"order": []}, "s", "i", MODIFIED) is None


@pytest.mark.parametrize("tree", [{}, {"messages": None}, {"version": "1.0", "snapshots": []}])
def test_what_has_no_messages_is_no_snapshot(tree: dict[str, Any]) -> None:
    with pytest.raises(CannotDecode):
        older_snapshot(tree, "s", "i", MODIFIED)


def test_an_id_that_is_not_that_of_the_file_is_kept_beside_it() -> None:
    snapshot = imported({"id": "x", "sessionId": "y", "messages": []})
    assert (snapshot.id, snapshot.session_id) == ("snapshot-1", "session-1")
    assert snapshot.extra == {"original": {"id": "x", "sessionId": "y"}}


def test_what_a_checkpoint_said_is_data_and_comes_after_the_system_prompt() -> None:
    snapshot = imported(
        {
            "messages": [
                {"id": "s", "role": "system", "content": "be kind"},
                {"id": "a", "role": "assistant", "content": "hi"},
            ],
            "checkpoints": [{"summary": "they met"}],
        }
    )
    assert [each.text for each in snapshot.sent()] == ["be kind", "they met", "hi"]
    assert [each.parts[0].trusted for each in snapshot.sent()] == [True, False, True]


snapshot_trees = st.fixed_dictionaries(
    {"messages": st.lists(objects | json_values, max_size=4)},
    optional={
        "userMessages": st.lists(objects | json_values, max_size=4) | json_values,
        "archivedUserMessages": st.lists(objects | json_values, max_size=3),
        "checkpoints": st.lists(objects | json_values, max_size=3),
        "metadata": objects | json_values,
        "conversationState": objects | json_values,
        **dict.fromkeys(("timestamp", "id", "version", "goalStack", "name", "files"), json_values),
    },
)


@example({"messages": [{"usage": "\ud800"}]})
@given(snapshot_trees)
def test_whatever_is_there_is_read_the_same_every_time_or_refused(tree: dict[str, Any]) -> None:
    assume("Infinity" not in json.dumps(tree))  # no file can say that
    try:
        snapshot = imported(tree)
    except CannotDecode:
        return
    assert imported(tree) == snapshot
    assert decode_snapshot(encode_snapshot(snapshot)) == snapshot
    assert len(set(snapshot.order)) == len(snapshot.order)
    assert [each.id for each in snapshot.sent()] == list(snapshot.order)


@pytest.mark.parametrize("within", ("", "goalStack", "conversationState"))
def test_goals_of_every_older_shape_are_goals(within: str) -> None:
    goals: list[Any] = [
        {"id": "g1", "title": "ship it", "status": "completed"},
        {"description": "write tests", "createdAt": 1769400000, "blockers": ["time"]},
        "sleep",
        {"id": "nameless"},
        7,
    ]
    held: dict[str, Any] = {"goals": goals}
    tree: dict[str, Any] = {"messages": [], **({within: held} if within else held)}
    found = imported(tree).goal_stack.goals
    assert [(each.text, each.status) for each in found] == [
        ("ship it", "done"),
        ("write tests", "active"),
        ("sleep", "paused"),
    ]
    assert (found[0].id, found[1].blockers) == ("g1", ("time",))
    assert found[1].created_at == "2026-01-26T04:00:00.000000Z"
    assert imported(tree).goal_stack.goals == found
    assert "nameless" in encode_snapshot(imported(tree)).decode(), "nothing is lost"
