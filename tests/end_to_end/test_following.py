"""Two processes on one session: the second sees what the first writes, and disturbs nothing."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import AsyncGenerator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ollm_tui.core.session.message import Message
from ollm_tui.services.sessions.following import Followed, follow
from ollm_tui.storage.sessions.session_store import SessionStore
from ollm_tui.storage.store_layout import StoreLayout
from tests.cli.conftest import OLLM

PATIENCE_SECONDS = 60
"""A follower that sees nothing for as long has lost the session."""

Start = Callable[..., "subprocess.Popen[str]"]
Changes = AsyncGenerator[Followed, None]


@pytest.fixture
def start(home: Path) -> Iterator[Start]:
    """Starts `ollm -p` on a script; none of them outlives the test."""
    started: list[subprocess.Popen[str]] = []

    def start_one(prompt: str, script: Any, *arguments: str) -> subprocess.Popen[str]:
        file = home.parent / f"script-{len(started)}.json"
        file.write_text(json.dumps(script))
        process = subprocess.Popen(
            [OLLM, "-p", prompt, "--output", "stream-json", *arguments],
            env=os.environ | {"OLLM_TEST_SCRIPT": str(file)},
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start_one
    for process in started:
        process.kill()
        process.communicate()


def begun(process: subprocess.Popen[str]) -> str:
    """The session it writes."""
    assert process.stdout
    return json.loads(process.stdout.readline())["sessionId"]


async def until(changes: Changes, is_there: Callable[[Followed], bool]) -> Followed:
    """Look on until something is there."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            followed = await anext(changes)
            if is_there(followed):
                return followed


def following(home: Path, session_id: str) -> Changes:
    store = SessionStore(StoreLayout(home / "sessions"))
    return follow(store, session_id, asyncio.to_thread)


def last(followed: Followed) -> Message:
    return followed.state.branch()[-1]


async def test_an_answer_is_seen_while_it_is_written_and_after_the_writer_is_gone(
    home: Path, start: Start
) -> None:
    script = [[{"text": "One"}, {"wait": 3}, {"text": " two"}, {"wait": 3}, {"text": " three"}]]
    first = start("Count", script)
    session_id = begun(first)
    changes = following(home, session_id)
    written: list[str] = []

    def is_complete(now: Followed) -> bool:
        if last(now).status == "streaming" and now.is_held:
            written.append(last(now).text)
        return len(now.state) == 2 and last(now).status == "complete"

    seen = await until(changes, is_complete)
    assert last(seen).text == "One two three"
    # Some of it was seen while the rest was still to come.
    assert {"One", "One two"}.intersection(written)
    seen = seen if not seen.is_held else await until(changes, lambda now: not now.is_held)
    assert first.wait() == 0
    assert not (home / "sessions" / f"{session_id}.journal").exists()
    # Another one goes on with it: the same follower sees that too.
    second = start("And then?", [[{"text": "Four"}]], "--resume", session_id)
    seen = await until(changes, lambda now: len(now.state) == 4 and not now.is_held)
    assert [message.text for message in seen.state.branch()][2:] == ["And then?", "Four"]
    assert second.wait() == 0
    await changes.aclose()


async def test_a_follower_is_in_nobodys_way_when_the_writer_is_killed(
    home: Path, start: Start
) -> None:
    first = start("Hello", [[{"text": "Wait"}, {"wait": 60}]])
    session_id = begun(first)
    changes = following(home, session_id)
    await until(changes, lambda now: last(now).text == "Wait")
    first.kill()
    first.wait()
    second = start("Still there?", [[{"text": "Yes"}]], "--resume", session_id)
    seen = await until(changes, lambda now: len(now.state) == 4 and not now.is_held)
    answers = [(message.text, message.status) for message in seen.state.branch()]
    assert answers[1] == ("Wait", "interrupted")
    assert answers[3] == ("Yes", "complete")
    assert second.wait() == 0
    await changes.aclose()
