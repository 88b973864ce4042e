"""The history as a front end searches it: fed while recording, one search at a time."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from ollm_tui.core.costs import Bill
from ollm_tui.core.provider import TextDelta
from ollm_tui.core.search import IndexProgress
from ollm_tui.engine.project.workspace import Workspace
from ollm_tui.services.search.query import parse_query
from ollm_tui.storage.store_layout import StoreLayout
from tests.conftest import REPOSITORY
from tests.engine.conftest import OpenWorkspace
from tests.tui.search_samples import fill, full_id


async def found(workspace: Workspace, words: str) -> list[str]:
    last: list[str] = []
    async for results in workspace.history.search(parse_query(words)):
        last = [hit.message_id for hit in results.hits]
    return last


def _rows(index: Path) -> int:
    """How many messages are in the file; none where it is not there yet."""
    if not index.exists():
        return 0
    with closing(sqlite3.connect(f"file:{index}?mode=ro", uri=True)) as connection:
        try:
            return connection.execute("SELECT count(*) FROM messages").fetchone()[0]
        except sqlite3.OperationalError:
            return 0  # its tables are only now being made


async def test_a_refresh_tells_how_far_it_is(open_workspace: OpenWorkspace, home: Path) -> None:
    fill(home)
    workspace = await open_workspace()
    told: list[IndexProgress] = []
    workspace.history.progress.subscribe(told.append)
    await workspace.history.refresh()
    assert told[-1] == IndexProgress(4, 4)
    assert await found(workspace, "jitter") == ["s0m1"]


async def test_whoever_asks_while_it_is_refreshed_waits_for_the_same_work(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    fill(home)
    workspace = await open_workspace()
    told: list[IndexProgress] = []
    workspace.history.progress.subscribe(told.append)
    await asyncio.gather(workspace.history.refresh(), workspace.history.refresh())
    await workspace.history.refresh()
    assert [each.total for each in told] == [4]


async def test_what_is_recorded_is_fed_to_the_index(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    workspace = await open_workspace([[TextDelta("Zebras have stripes.")]])
    workspace.history.feed()
    conversation = await workspace.begin()
    async for _ in conversation.send("tell me about zebras"):
        pass
    await conversation.close()
    index = StoreLayout(home / "sessions").search
    async with asyncio.timeout(60):
        while _rows(index) != 2:
            await asyncio.sleep(0.05)


async def test_a_new_search_ends_the_one_before(open_workspace: OpenWorkspace, home: Path) -> None:
    fill(home)
    workspace = await open_workspace()
    await workspace.history.refresh()
    first = workspace.history.search(parse_query("retries"))
    await anext(first)
    assert await found(workspace, "jitter") == ["s0m1"]
    assert [results async for results in first] == []


async def test_everything_is_counted_by_day_and_model(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    fill(home)
    workspace = await open_workspace()
    await workspace.history.refresh()
    activity = await workspace.history.activity()
    assert [(f"{each.day:%m-%d}", each.model, *each[2:5]) for each in activity] == [
        ("09-03", "qwen2.5-coder:1.5b", 2, 1, 460),
        ("10-09", "gemma3:4b", 2, 1, 460),
        ("10-14", "qwen2.5-coder:1.5b", 5, 3, 1720),
        ("11-02", "qwen2.5-coder:1.5b", 4, 2, 1720),
    ]
    assert all(each.bill == Bill() for each in activity), "all of it was free"


async def test_a_session_that_is_gone_is_not_found(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    fill(home)
    workspace = await open_workspace()
    await workspace.history.refresh()
    await workspace.discard(full_id(0))
    await workspace.history.refresh()
    assert await found(workspace, "jitter") == []


def test_nothing_of_it_is_loaded_by_those_who_only_answer() -> None:
    code = (
        "import sys, ollm_tui.bootstrap, ollm_tui.headless\n"
        "print([name for name in sys.modules if 'services.search' in name])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=REPOSITORY
    )
    assert done.stdout.strip() == "[]"
