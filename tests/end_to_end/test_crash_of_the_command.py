"""The real command, killed at random moments: what it told is on disk, every session opens."""

from __future__ import annotations

import json
import os
import random
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ollm_tui.core.session.encoding import to_tree
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.store_layout import StoreLayout
from tests.conftest import LONG, Tell, runs
from tests.stand_ins.warm_command import run, started

KILLS = runs(200 if LONG else 30, of_gate=1_000)
HOMES = 2
"""Two at a time; in one home one after the other, so that sessions can be continued."""
PIECES = ("A reply ", "that comes ", "in four ", "pieces.")
PIECE_SECONDS = 0.15
"""All of it takes longer than a piece of a reply may stay unrecorded."""


class Home:
    """One home directory, the commands killed in it and what they had told before."""

    def __init__(self, root: Path, seed: int) -> None:
        root.mkdir()
        script = [[step for text in PIECES for step in ({"text": text}, {"wait": PIECE_SECONDS})]]
        (root / "script.json").write_text(json.dumps(script))
        # Else the oldest of so many sessions go to the trash, as they should.
        (root / "home").mkdir()
        (root / "home" / "config.yaml").write_text("sessions: {maxSessions: 0}\n")
        self._root = root
        self._random = random.Random(seed)
        self._environment = {
            **os.environ,
            "OLLM_HOME": str(root / "home"),
            "OLLM_TEST_SCRIPT": str(root / "script.json"),
        }
        self.told: list[dict[str, Any]] = []

    def kill_commands(self, number: int) -> None:
        """Start commands until so many were killed; those that end by themselves tell how soon."""
        seconds, killed = 60.0, 0
        while killed < number:
            started = time.monotonic()
            if self._ask_and_kill(self._random.uniform(0.2 * seconds, 1.02 * seconds)):
                killed += 1
            else:
                seconds = time.monotonic() - started

    def library(self) -> SessionLibrary:
        """Its sessions."""
        return SessionLibrary.at(StoreLayout(self._root / "home" / "sessions"))

    def list_sessions(self) -> list[dict[str, Any]]:
        """Its sessions as the command lists them."""
        return json.loads(run(("sessions", "list", "--json"), self._environment, None).stdout)

    def _ask_and_kill(self, after_seconds: float) -> bool:
        which = self._random.choice(("--new", "--continue")) if self.told else "--new"
        reading, writing = os.pipe()
        with open(os.devnull) as nothing:
            arguments = (which, "-p", "A prompt", "--output", "stream-json")
            child = started(arguments, self._environment, nothing.fileno(), writing, 2)
        os.close(writing)
        killer = threading.Timer(after_seconds, child.kill)
        killer.start()
        with open(reading, "rb") as output:
            lines = output.readlines()
        killer.cancel()
        self.told += [json.loads(line) for line in lines if line.endswith(b"\n")]
        assert child.wait() in (0, -signal.SIGKILL)
        return child.returncode != 0


def messages_told(home: Home) -> tuple[dict[str, Any], dict[str, Any]]:
    """Prompts and replies the command said it has recorded, as they stand in the file."""
    prompts = [e["userMessage"] for e in home.told if e["event"] == "turn-started"]
    replies = [e["message"] for e in home.told if e["event"] == "turn-finished"]
    return {each["id"]: each for each in prompts}, {each["id"]: each for each in replies}


def kill_commands(home: Home) -> None:
    home.kill_commands(KILLS // HOMES)


@pytest.mark.slow
def test_random_kills_lose_nothing_that_was_told(tmp_path: Path, record_property: Tell) -> None:
    homes = [Home(tmp_path / f"home-{number}", number) for number in range(HOMES)]
    with ThreadPoolExecutor(HOMES) as threads:
        list(threads.map(kill_commands, homes))
    record_property("kills", KILLS // HOMES * HOMES)
    for home in homes:
        listed = home.list_sessions()
        assert [session for session in listed if session["damage"]] == []
        found: dict[str, Any] = {}
        for session in listed:
            writer, loaded = home.library().store.open(session["sessionId"])
            writer.close()
            found |= {message.id: to_tree(message) for message in loaded.state.messages()}
        prompts, replies = messages_told(home)
        told = prompts | replies
        record_property("acknowledged lost", sum(found.get(name) != told[name] for name in told))
        assert {name: found.get(name) for name in prompts} == prompts
        assert {name: found.get(name) for name in replies} == replies
        assert 0 < len(replies) < len(prompts)
