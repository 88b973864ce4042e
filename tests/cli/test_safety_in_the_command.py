"""What keeps a user safe, seen through the whole command: secrets, gaps, approvals, loops."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ollm_tui.storage.sessions.session_store import SessionStore
from ollm_tui.storage.store_layout import StoreLayout
from tests.cases import some
from tests.cli.conftest import Run
from tests.crash.samples import begin, user_message
from tests.folders import everything_in

HIDDEN = (
    "DB_TOKEN=k4YourzQ9wExampleV7bT2mXc81",
    "SESSION_TOKEN=/q8Zt/4vYx1Lm0Kc/9sWb3Hn7P",
)
"""Random values that hold a word of placeholders, or begin as paths do."""


def calling(*codes: str) -> list[Any]:
    """A model that runs commands one after the other and then says something."""
    calls = [[{"tool": "exec", "args": {"code": code}}, {"finish": "tool_calls"}] for code in codes]
    return [*calls, [{"text": "Done."}]]


def results(run_ollm: Run, stdout: str) -> list[Any]:
    """What the record says about every call of a session."""
    session_id = json.loads(stdout)["sessionId"]
    return json.loads(run_ollm("sessions", "view", session_id, "--json").stdout)["toolCalls"]


@pytest.mark.parametrize("line", HIDDEN)
def test_a_random_value_with_a_word_or_a_slash_reaches_neither_model_nor_disk(
    run_ollm: Run, home: Path, line: str
) -> None:
    # With a sign between, since a copy of the file itself is kept for undoing.
    Path("notes.txt").write_text(f"{line[:-6]}~{line[-6:]}\n")
    done = run_ollm("-p", "look", "--output", "json", script=calling("tr -d '~' < notes.txt"))
    assert done.returncode == 0, done.stderr
    [call] = results(run_ollm, done.stdout)
    assert "[REDACTED:token:" in call["result"]["llmContent"]
    assert line.partition("=")[2].encode() not in everything_in(home)


@some(
    2,
    ("code", "runs"),
    [
        ("cat notes.txt 2>/dev/null", True),
        ("grep -c one < notes.txt 2>&1", True),
        ("git -C . config --list", True),
        ("cat notes.txt > copy.txt", False),
        ("cat notes.txt 2>/dev/null; rm notes.txt", False),
    ],
)
def test_what_only_reads_runs_unasked_and_nothing_else(
    run_ollm: Run, code: str, runs: bool
) -> None:
    Path("notes.txt").write_text("one\n")
    done = run_ollm("-p", "look", "--output", "json", script=calling(code))
    [call] = results(run_ollm, done.stdout)
    assert ("not allowed" not in call["result"]["llmContent"]) is runs
    assert Path("notes.txt").exists() and not Path("copy.txt").exists()


def test_two_swapped_lines_of_a_journal_are_told(run_ollm: Run, home: Path) -> None:
    store = SessionStore(StoreLayout(home / "sessions"))
    names = ("m0", "m1", "m2", "m3")
    messages = [
        user_message(name, parent_id=up) for name, up in zip(names, (None, *names), strict=False)
    ]
    begin(store, "subject", *messages)
    journal = store.layout.journal("subject")
    lines = journal.read_bytes().splitlines(keepends=True)
    lines[2], lines[3] = lines[3], lines[2]
    journal.write_bytes(b"".join(lines))
    told = "1 record out of order, put right"
    shown = run_ollm("sessions", "view", "subject")
    assert all(f"words of {name}" in shown.stdout for name in names) and told in shown.stderr
    assert f"subject: {told}" in run_ollm("doctor").stdout


@some(1, "codes", [["cat notes.txt"] * 12, ["date +%N; cat notes.txt"] * 12])
def test_a_loop_ends_the_command_in_words(run_ollm: Run, codes: list[str]) -> None:
    Path("notes.txt").write_text("one\n")
    done = run_ollm("-p", "look", "--output", "json", script=calling(*codes))
    assert done.returncode == 1 and "loop" in done.stderr
