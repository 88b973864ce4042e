"""What tools did to files is found, shown exactly, and taken back: those files and no others."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ollm_tui.core.snapshot import ContextSnapshot
from ollm_tui.services.files.file_changes import DEEPEST, LARGEST_FILE, MOST_BYTES, FileWatch, scan
from ollm_tui.storage.files.beneath import Beneath
from ollm_tui.storage.files.cipher import AesGcm
from ollm_tui.storage.store_layout import StoreLayout
from tests.folders import quick_folder
from tests.snapshot_samples import SESSION_ID, sample_snapshot


class Desk:
    """A workspace, a store and what tools do in it."""

    def __init__(self, place: Path, most_bytes: int = MOST_BYTES) -> None:
        self.root = place / "work"
        self.root.mkdir(exist_ok=True)
        self.layout = StoreLayout(place / "store" / "sessions")
        self._most_bytes = most_bytes
        self.watch = self.another()

    def another(self) -> FileWatch:
        """The watch of a program that was started again."""
        return FileWatch(self.root, self.layout, SESSION_ID, most_bytes=self._most_bytes)

    def tool(self, **files: str | None) -> list[str]:
        """A tool writes files, or removes them; answers with what was found to have changed."""
        self.watch.before()
        self.write(**files)
        return [change.path for change in self.watch.after()]

    def write(self, **files: str | None) -> None:
        for name, text in files.items():
            path = self.root / name.replace("__", "/")
            if text is None:
                path.unlink()
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)

    def snapshot(self) -> ContextSnapshot:
        return replace(sample_snapshot(), files=self.watch.versions())

    def steps(self, snapshot: ContextSnapshot) -> dict[str, str]:
        return {step.path: step.how for step in self.watch.preview(snapshot)}

    def texts(self) -> dict[str, str]:
        files = (path for path in self.root.rglob("*") if path.is_file())
        return {path.relative_to(self.root).as_posix(): path.read_text() for path in files}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_whatever_a_tool_did_is_found_and_can_be_taken_back(desk: Desk) -> None:
    desk.write(a="one", b="two", c="three", deep__d="four")
    before = desk.texts()
    snapshot = desk.snapshot()
    assert desk.tool(a="ONE", b=None, new="x", deep__d="FOUR") == ["a", "b", "deep/d", "new"]
    assert desk.steps(snapshot) == {
        "a": "restore",
        "b": "recreate",
        "deep/d": "restore",
        "new": "delete",
    }
    desk.watch.restore(snapshot, ["a", "b", "deep/d", "new"])
    assert desk.texts() == before
    assert desk.steps(snapshot) == {}


def test_only_what_is_chosen_is_touched(desk: Desk) -> None:
    desk.write(a="one", b="two")
    snapshot = desk.snapshot()
    desk.tool(a="ONE", b="TWO")
    (done,) = desk.watch.restore(snapshot, ["a", "never heard of"])
    assert (done.path, done.how, done.now, done.then) == ("a", "restore", 3, 3)
    assert desk.texts() == {"a": "one", "b": "TWO"}


def test_a_snapshot_knows_how_far_the_tools_had_come(desk: Desk) -> None:
    desk.write(a="0")
    first = desk.snapshot()
    desk.tool(a="1")
    second = desk.snapshot()
    desk.tool(a="2", b="x")
    assert desk.steps(first) == {"a": "restore", "b": "delete"}
    desk.watch.restore(second, ["a", "b"])
    assert desk.texts() == {"a": "1"}
    desk.watch.restore(first, ["a"])
    assert desk.texts() == {"a": "0"}


def test_what_the_user_wrote_in_between_is_what_one_goes_back_to(desk: Desk) -> None:
    desk.write(a="0")
    desk.tool(a="1")
    desk.write(a="by hand")
    snapshot = desk.snapshot()
    desk.tool(a="2")
    desk.watch.restore(snapshot, ["a"])
    assert desk.texts() == {"a": "by hand"}


def test_what_somebody_else_changed_since_is_a_conflict(desk: Desk) -> None:
    desk.write(a="0", b="0")
    snapshot = desk.snapshot()
    desk.tool(a="1", b="1")
    desk.write(a="by hand")
    assert desk.steps(snapshot) == {"a": "conflict", "b": "restore"}
    desk.watch.restore(snapshot, ["a"])
    assert desk.texts()["a"] == "0"


def test_a_restore_can_itself_be_undone(desk: Desk) -> None:
    desk.write(a="0")
    first = desk.snapshot()
    desk.tool(a="1", b="x")
    later = desk.snapshot()
    desk.watch.restore(first, ["a", "b"])
    assert desk.texts() == {"a": "0"}
    assert desk.steps(later) == {"a": "restore", "b": "recreate"}
    desk.watch.restore(later, ["a", "b"])
    assert desk.texts() == {"a": "1", "b": "x"}


def test_it_is_all_still_there_after_a_restart(desk: Desk) -> None:
    desk.write(a="0")
    snapshot = desk.snapshot()
    desk.tool(a="1")
    desk.watch = desk.another()
    desk.watch.restore(snapshot, ["a"])
    assert desk.texts() == {"a": "0"}


def test_the_mode_of_a_file_comes_back_too(desk: Desk) -> None:
    desk.write(run="#!/bin/sh")
    (desk.root / "run").chmod(0o755)
    snapshot = desk.snapshot()
    desk.watch.before()
    (desk.root / "run").chmod(0o644)
    assert [change.path for change in desk.watch.after()] == ["run"]
    desk.watch.restore(snapshot, ["run"])
    assert (desk.root / "run").stat().st_mode & 0o777 == 0o755


def test_a_change_that_keeps_size_and_time_is_found(desk: Desk) -> None:
    desk.write(a="one")
    status = (desk.root / "a").stat()
    desk.watch.before()
    desk.write(a="two")
    os.utime(desk.root / "a", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert [change.path for change in desk.watch.after()] == ["a"]


def test_touching_a_file_is_no_change(desk: Desk) -> None:
    desk.write(a="one")
    desk.watch.before()
    os.utime(desk.root / "a", (1, 1))
    assert desk.watch.after() == ()
    assert desk.watch.versions() == ()


def test_neither_the_store_nor_what_is_ignored_is_looked_at(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.layout = StoreLayout(desk.root / ".ollm" / "sessions")
    desk.watch = desk.another()
    desk.write(a="0", node_modules__x="0")
    assert desk.tool(a="1", node_modules__x="1") == ["a"]
    assert desk.tool(a="2") == ["a"]
    assert all(".ollm" not in path for path in scan(desk.root, desk.layout.root).files)


def test_links_are_neither_followed_nor_replaced(desk: Desk, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    desk.write(sub__a="0")
    snapshot = desk.snapshot()
    (desk.root / "link").symlink_to(outside)
    assert desk.tool(sub__a="1") == ["sub/a"]
    (desk.root / "sub" / "a").unlink()
    (desk.root / "sub").rmdir()
    (desk.root / "sub").symlink_to(outside)
    assert desk.steps(snapshot) == {"sub/a": "refused"}
    (done,) = desk.watch.restore(snapshot, ["sub/a"])
    assert done.how == "refused"
    assert [path.name for path in outside.iterdir()] == ["secret"]


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "", "a/../../x", "a\0b"])
def test_a_path_out_of_the_workspace_is_refused(desk: Desk, path: str) -> None:
    from_outside = Beneath(desk.root)
    for act in (
        lambda: from_outside.read(path, 10),
        lambda: from_outside.write(path, b"", 0o600),
        lambda: from_outside.remove(path),
    ):
        with pytest.raises(OSError, match="no path"):
            act()


def test_what_is_too_large_is_told_and_left_alone(desk: Desk) -> None:
    desk.write(big="x" * (LARGEST_FILE + 1), small="0")
    snapshot = desk.snapshot()
    desk.tool(big="y" * (LARGEST_FILE + 1), small="1")
    assert desk.steps(snapshot) == {"big": "no-copy", "small": "restore"}
    done = desk.watch.restore(snapshot, ["big", "small"])
    assert [(step.path, step.how) for step in done] == [("big", "no-copy"), ("small", "restore")]
    assert desk.texts()["big"].startswith("y")


def test_copies_never_take_more_room_than_they_may(tmp_path: Path) -> None:
    most = 10_000
    desk = Desk(tmp_path, most_bytes=most)
    for number in range(12):
        desk.write(**{f"f{number}": f"{number}" * 1500})
        os.utime(desk.root / f"f{number}", (number, number))
    snapshot = desk.snapshot()
    for round_ in range(5):
        desk.tool(f11=f"{round_}" * 1000, f0=f"{round_}" * 1000)
    files = (desk.layout.snapshots / SESSION_ID / "files").iterdir()
    assert sum(path.stat().st_size for path in files if len(path.name) == 64) <= most
    assert desk.steps(snapshot) == {"f0": "no-copy", "f11": "restore"}


def test_a_damaged_copy_is_not_restored(desk: Desk) -> None:
    desk.write(a="original words")
    snapshot = desk.snapshot()
    desk.tool(a="others")
    for path in (desk.layout.snapshots / SESSION_ID / "files").iterdir():
        if path.read_bytes() == b"original words":
            path.write_bytes(b"original wor")
    assert desk.steps(snapshot) == {"a": "no-copy"}


def test_sealed_copies_tell_nothing(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    cipher = AesGcm(bytes(32))
    desk.watch = FileWatch(desk.root, desk.layout, SESSION_ID, cipher)
    desk.write(secret_name="secret words")
    snapshot = desk.snapshot()
    desk.tool(secret_name="others")
    for path in desk.layout.root.rglob("*"):
        if path.is_file():
            assert b"secret" not in path.read_bytes()
    desk.watch = FileWatch(desk.root, desk.layout, SESSION_ID, cipher)
    desk.watch.restore(snapshot, ["secret_name"])
    assert desk.texts() == {"secret_name": "secret words"}


def test_where_not_all_was_looked_at_an_unknown_file_is_not_taken_for_new(desk: Desk) -> None:
    """Going back would otherwise delete it."""
    (desk.root / "/".join("d" * (DEEPEST + 1))).mkdir(parents=True)
    desk.write(a="0")
    assert not scan(desk.root, desk.layout.root).is_whole
    assert desk.tool(a="1", b="0") == ["a"]


def test_a_workspace_that_is_gone_is_no_change(desk: Desk) -> None:
    desk.write(a="0")
    desk.watch.before()
    (desk.root / "a").unlink()
    desk.root.rmdir()
    assert desk.watch.after() == ()


names = st.sampled_from(("a", "b", "dir__c"))
texts = st.none() | st.sampled_from(("", "one", "two", "three"))
rounds = st.lists(st.dictionaries(names, texts), max_size=5)


@given(st.dictionaries(names, st.sampled_from(("one", "two"))), rounds, st.integers(0, 4))
def test_any_point_between_tools_can_be_had_again(
    at_first: dict[str, str], work: list[dict[str, str | None]], wanted: int
) -> None:
    with quick_folder() as place:
        desk = Desk(Path(place))
        desk.write(**at_first)
        snapshot, expected = desk.snapshot(), desk.texts()
        for number, files in enumerate(work):
            if number == wanted:
                snapshot, expected = desk.snapshot(), desk.texts()
            there = {name.replace("/", "__") for name in desk.texts()}
            desk.tool(**{name: text for name, text in files.items() if text or name in there})
        steps = desk.watch.preview(snapshot)
        assert {step.how for step in steps} <= {"restore", "delete", "recreate"}
        desk.watch.restore(snapshot, [step.path for step in steps])
        assert desk.texts() == expected


def test_a_snapshot_that_knows_of_no_files_goes_by_its_time(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.tool(early="one")
    unaware = sample_snapshot()
    assert unaware.files == ()
    desk.tool(late="two")
    assert desk.steps(unaware) == {"late": "delete"}


def test_a_tool_that_says_which_file_it_writes_has_no_other_looked_at(desk: Desk) -> None:
    desk.write(a="0", b="0")
    snapshot = desk.snapshot()
    for path in ("a", "new", "build/made"):
        desk.watch.before(str(desk.root / path) if path == "new" else path)
        desk.write(b=f"by hand, {path}", **{path.replace("/", "__"): "1"})
        (change,) = desk.watch.after()
        assert change.path == path
    assert desk.steps(snapshot) == {"a": "restore", "new": "delete", "build/made": "delete"}
    assert not desk.watch.has_looked


@pytest.mark.parametrize("path", ("../outside", "/etc/hostname", "link/x"))
def test_a_file_that_is_not_of_the_workspace_is_left_alone(desk: Desk, path: str) -> None:
    (desk.root / "link").symlink_to(desk.root.parent)
    desk.watch.before(path)
    desk.write(a="1")
    assert [change.path for change in desk.watch.after()] == ["a"]


def test_what_a_job_does_after_its_call_was_answered_is_found(desk: Desk) -> None:
    desk.write(a="0", b="0")
    snapshot = desk.snapshot()
    desk.watch.before()
    desk.watch.begun("job")
    assert desk.watch.after() == ()
    desk.write(a="1", new="x")
    assert desk.tool(b="1") == ["b"]
    desk.write(new="xx")
    assert desk.watch.ended("job")
    assert [change.path for change in desk.watch.settle()] == ["new"]
    desk.write(b="by hand")
    assert desk.tool() == [], "nothing runs any more"
    assert desk.steps(snapshot) == {"a": "restore", "b": "conflict", "new": "delete"}


def test_a_file_written_while_a_job_runs_is_recorded_once(desk: Desk) -> None:
    desk.write(a="0")
    desk.watch.before()
    desk.watch.begun("job")
    desk.watch.after()
    desk.watch.before("a")
    desk.write(a="1")
    assert [change.path for change in desk.watch.after()] == ["a"]
    assert desk.watch.settle() == ()


def test_a_copy_that_was_cut_off_is_made_again(desk: Desk) -> None:
    desk.write(a="a long text")
    snapshot = desk.snapshot()
    desk.tool()
    (copy,) = (desk.layout.snapshots / SESSION_ID / "files").glob("?" * 64)
    copy.write_text("a lo")
    desk.watch = desk.another()
    assert desk.tool(a="b") == ["a"]
    assert desk.steps(snapshot) == {"a": "restore"}
