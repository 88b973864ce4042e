"""The browser in a real terminal, key by key: every action does on disk what the screen says."""

from __future__ import annotations

import base64
import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ollm_tui.services.snapshots.snapshot_library import SnapshotLibrary
from ollm_tui.storage.store_layout import StoreLayout
from tests.end_to_end.terminal import Terminal
from tests.tui.browser_samples import fill_with_snapshots, full_id

F3, DELETE, ESC, TAB = "\x1bOR", "\x1b[3~", "\x1b", "\t"
UP, DOWN = "\x1b[A", "\x1b[B"
CTRL_Q = "\x11"
NAMED = "snap0028"
"""The snapshot called “before the log”."""
SIZES = ((120, 36), pytest.param((60, 20), marks=pytest.mark.long))


@contextmanager
def browser(home: Path, size: tuple[int, int]) -> Generator[Terminal]:
    """The chat on the rich session, with the browser open; left by its keys in the end."""
    fill_with_snapshots(home)
    with Terminal(home, [], "chat", "--resume", full_id(0), size=size) as terminal:
        terminal.wait_for("Skip part 17.")
        terminal.type(F3)
        terminal.wait_for("3 sessions · 4 snapshots", "before the log")
        yield terminal
        terminal.type(CTRL_Q)
        assert terminal.ended() == 0
        assert terminal.is_as_before()


def to_the_named_one(terminal: Terminal) -> None:
    """Down to it, as quickly as a held key goes."""
    terminal.type(DOWN * 4)
    terminal.wait_for("Enter restore here")


def close(terminal: Terminal) -> None:
    """A key that came with the Esc would be read as one with Alt."""
    terminal.type(ESC)
    terminal.wait_for("Ctrl+P commands")


def close_comparison(terminal: Terminal) -> None:
    """The same, back in the browser."""
    terminal.type(ESC)
    terminal.wait_until_gone("Differences")
    terminal.wait_for("Enter restore here")


def session(home: Path, number: int = 0) -> dict[str, Any]:
    return json.loads((home / "sessions" / f"{full_id(number)}.json").read_bytes())


def sessions(home: Path) -> set[str]:
    return {path.stem for path in (home / "sessions").glob("*.json")}


def snapshots(home: Path) -> dict[str, tuple[str, bool]]:
    """Names and pins by their ids."""
    library = SnapshotLibrary.at(StoreLayout(home / "sessions"))
    return {each.id: (each.name, each.pinned) for each in library.list(full_id(0))}


@pytest.mark.parametrize("size", SIZES)
def test_restore_and_its_undo(home: Path, size: tuple[int, int]) -> None:
    with browser(home, size) as terminal:
        to_the_named_one(terminal)
        terminal.type("\r")
        terminal.wait_for("Keep the counter with the job.", "Back at “before the log”")
        terminal.wait_until_gone("Skip part 17.")
        terminal.type("/undo\r")
        terminal.wait_for("Skip part 17.")
    stored = session(home)
    assert stored["head"] == "a4" and len(stored["messages"]) == 11
    assert [each["snapshot"] for each in stored["metadata"]["restores"]][1] == NAMED


@pytest.mark.parametrize("size", SIZES)
def test_fork_of_a_snapshot_and_undoing_it(home: Path, size: tuple[int, int]) -> None:
    with browser(home, size) as terminal:
        to_the_named_one(terminal)
        before = sessions(home)
        terminal.type("f")
        terminal.wait_for("Forked into a new session")
        (copy,) = sessions(home) - before
        forked = json.loads((home / "sessions" / f"{copy}.json").read_bytes())
        assert [message["id"] for message in forked["messages"]][-1] == "a2"
        terminal.type("u")
        terminal.wait_for("Fork moved to the trash")
        assert sessions(home) == before
        close(terminal)
    assert session(home)["head"] == "a4"


@pytest.mark.more
@pytest.mark.parametrize("size", SIZES)
def test_rename_pin_delete_and_all_of_it_undone(home: Path, size: tuple[int, int]) -> None:
    with browser(home, size) as terminal:
        to_the_named_one(terminal)
        terminal.type("r")
        terminal.wait_for("Name ", "Enter save")
        terminal.type("the good one\r")
        terminal.wait_for("Renamed · u undo", "the good one")
        terminal.type("p")
        terminal.wait_for("Pinned: never cleaned up")
        assert snapshots(home)[NAMED] == ("the good one", True)
        terminal.type(DELETE)
        terminal.wait_for("Deleted “the good one” · u undo")
        assert NAMED not in snapshots(home)
        terminal.type("u")
        terminal.wait_for("Restored “the good one”")
        terminal.type("u")
        terminal.wait_for("Pin restored")
        terminal.type("u")
        terminal.wait_for("Old name restored")
        close(terminal)
    assert snapshots(home)[NAMED] == ("before the log", False)


@pytest.mark.parametrize("size", SIZES)
def test_compare_with_now_and_with_a_marked_one(home: Path, size: tuple[int, int]) -> None:
    with browser(home, size) as terminal:
        to_the_named_one(terminal)
        terminal.type("d")
        terminal.wait_for("before the log", "now", "4 only right", "n next difference")
        close_comparison(terminal)
        terminal.type("m")
        terminal.wait_for("Marked · d on another line compares")
        terminal.type(DOWN)
        terminal.wait_for("d diff with marked")
        terminal.type("d")
        terminal.wait_for("before the log", "2 only left", "n next difference")
        close_comparison(terminal)
        close(terminal)


@pytest.mark.parametrize("size", SIZES)
def test_export_and_copying_the_id(home: Path, size: tuple[int, int]) -> None:
    target = home.parent / "export.md"
    with browser(home, size) as terminal:
        to_the_named_one(terminal)
        start = len(terminal.seen)
        terminal.type("y")
        terminal.wait_for("Snapshot id")
        terminal.wait_for_output(base64.b64encode(NAMED.encode()).decode(), start)
        terminal.type("x")
        terminal.wait_for("Export to")
        terminal.type(f"{target}\r")
        terminal.wait_for("Exported to")
        close(terminal)
    text = target.read_text()
    assert "Keep the counter with the job." in text and "Skip part 17." not in text


@pytest.mark.more
@pytest.mark.parametrize("size", SIZES)
def test_typing_finds_sessions_and_snapshots_and_enter_goes_there(
    home: Path, size: tuple[int, int]
) -> None:
    with browser(home, size) as terminal:
        terminal.type("before the log")
        terminal.wait_for("1 found", "◆ before the log", "Enter restore here")
        terminal.wait_until_gone("css grid puzzle")
        terminal.type(ESC)
        terminal.wait_for("3 sessions", "css grid puzzle")
        terminal.type("css")
        terminal.wait_for("1 found", "css grid puzzle")
        terminal.wait_until_gone("before the log")
        terminal.type("\r")
        terminal.wait_for("Much about css grid puzzle.")
    assert session(home)["head"] == "a4"


@pytest.mark.more
@pytest.mark.parametrize("size", SIZES)
def test_from_its_messages_one_goes_to_before_one_of_them(
    home: Path, size: tuple[int, int]
) -> None:
    with browser(home, size) as terminal:
        terminal.wait_for("Tab messages")
        terminal.type(TAB)
        terminal.wait_for("B rewind before it", "Skip part 17.")
        terminal.settle()
        terminal.type(UP)
        terminal.settle()
        terminal.type(UP)
        terminal.settle()
        terminal.type("B")
        terminal.wait_for("Keep the counter with the job.", "/undo reverts it")
        terminal.wait_until_gone("Part 17 fails each time.")
    assert session(home)["head"] == "a2"
