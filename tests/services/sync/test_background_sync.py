"""Syncing by itself: at the start, after a turn, at the end, and one line if it fails."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ollm_tui.services.sync import background_sync
from ollm_tui.services.sync.background_sync import BackgroundSync


def wait_until(is_so: Callable[[], bool]) -> None:
    while not is_so():
        time.sleep(0.01)


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that grows by one character with each sync."""
    path = tmp_path / "runs"
    path.touch()
    program = f"open({str(path)!r}, 'a').write('x')"
    monkeypatch.setattr(background_sync, "_COMMAND", ("-c", program))
    return path


@pytest.fixture
def sync() -> Iterator[BackgroundSync]:
    beside = BackgroundSync(os.environ, 0.01)
    yield beside
    beside.close()


def test_it_syncs_at_the_start_after_a_turn_and_at_the_end(
    sync: BackgroundSync, runs: Path
) -> None:
    sync.begin()
    wait_until(lambda: runs.stat().st_size == 1)
    sync.hear({"event": "text"})
    sync.hear({"event": "turn-finished"})
    wait_until(lambda: runs.stat().st_size == 2)
    sync.close()
    wait_until(lambda: runs.stat().st_size == 3)


def test_it_waits_until_nothing_more_happens(runs: Path) -> None:
    slow = BackgroundSync(os.environ, 3600)
    slow.begin()
    slow.hear({"event": "turn-finished"})
    slow.close()
    # Only the last sync, which waits for nothing.
    wait_until(lambda: runs.stat().st_size == 1)


def test_what_is_wrong_is_told_once_and_again_after_it_worked(
    sync: BackgroundSync, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ill, count = tmp_path / "ill", tmp_path / "count"
    ill.touch()
    count.touch()
    program = (
        f"import os, sys; open({str(count)!r}, 'a').write('x');"
        f"sys.exit('ollm: warning: no network' if os.path.exists({str(ill)!r}) else 0)"
    )
    monkeypatch.setattr(background_sync, "_COMMAND", ("-c", program))
    told: list[str] = []
    sync.told.subscribe(told.append)

    def once_more(number: int) -> None:
        sync.hear({"event": "turn-failed"})
        wait_until(lambda: count.stat().st_size == number)

    sync.begin()
    wait_until(lambda: told == ["no network"])
    once_more(2)
    ill.unlink()
    once_more(3)
    ill.touch()
    once_more(4)
    wait_until(lambda: told == ["no network"] * 2)
