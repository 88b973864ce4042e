"""`ollm snapshots`: every command, with good and bad input."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cases import some
from tests.cli.conftest import OLLM, Run


@pytest.fixture
def session_id(run_ollm: Run) -> str:
    """A session in which two things were said."""
    done = run_ollm("-p", "First thing", "--output", "json", script=[])
    found = json.loads(done.stdout)["sessionId"]
    run_ollm("-p", "Second thing", "--resume", found, script=[])
    return found


def take(run_ollm: Run, session_id: str, *options: str) -> str:
    done = run_ollm("snapshots", "create", session_id, *options)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


def say(run_ollm: Run, session_id: str, text: str) -> None:
    assert run_ollm("-p", text, "--resume", session_id, script=[]).returncode == 0


def listed(run_ollm: Run, *arguments: str) -> list[dict[str, Any]]:
    return json.loads(run_ollm("snapshots", "list", *arguments, "--json").stdout)


def said(run_ollm: Run, session_id: str) -> list[str]:
    """What the user said on the current branch."""
    lines = run_ollm("sessions", "view", session_id).stdout.splitlines()
    return [lines[at + 1] for at, line in enumerate(lines) if line.startswith("── you")]


def test_an_empty_list_tells_how_to_take_one(run_ollm: Run, session_id: str) -> None:
    assert "ollm snapshots create" in run_ollm("snapshots", "list").stdout
    assert session_id in run_ollm("snapshots", "list", session_id).stdout
    assert listed(run_ollm) == []


def test_a_snapshot_is_taken_and_listed_of_its_session_and_of_all(
    run_ollm: Run, session_id: str
) -> None:
    first = take(run_ollm, session_id[:6])
    second = take(run_ollm, session_id, "--name", "before the log")
    assert [each["id"] for each in listed(run_ollm, session_id[:6])] == [second, first]
    lines = run_ollm("snapshots", "list", session_id).stdout.splitlines()
    assert [line.split()[0] for line in lines] == [second[:8], first[:8]]
    assert "before the log" in lines[0] and "4 msg" in lines[0]
    assert "Second thing" in lines[1] and "by hand" in lines[1]
    everywhere = run_ollm("snapshots", "list").stdout.splitlines()
    assert [line.split()[:2] for line in everywhere] == [
        [second[:8], session_id[:8]],
        [first[:8], session_id[:8]],
    ]


def test_a_snapshot_is_shown_with_facts_and_words(run_ollm: Run, session_id: str) -> None:
    taken = take(run_ollm, session_id, "--name", "good")
    text = run_ollm("snapshots", "show", taken[:6]).stdout
    facts, _, words = text.partition("\n\n")
    assert taken in facts and session_id in facts and "good" in facts
    assert "First thing" in words and "Second thing" in words
    tree = json.loads(run_ollm("snapshots", "show", taken, "--json").stdout)
    assert (tree["id"], tree["name"], len(tree["order"])) == (taken, "good", 4)


def test_going_back_removes_nothing_and_can_be_undone(run_ollm: Run, session_id: str) -> None:
    taken = take(run_ollm, session_id)
    say(run_ollm, session_id, "Third thing")
    done = run_ollm("snapshots", "restore", taken[:6])
    assert (done.returncode, done.stderr) == (0, "")
    assert "Second thing" in done.stdout
    assert said(run_ollm, session_id) == ["First thing", "Second thing"]
    tree = json.loads(run_ollm("sessions", "view", session_id, "--json").stdout)
    assert len(tree["messages"]) == 6
    [note] = tree["metadata"]["restores"]
    assert note["snapshot"] == taken
    way_back = done.stdout.split()[-1]
    assert note["safety"].startswith(way_back)
    assert run_ollm("snapshots", "restore", way_back).returncode == 0
    assert said(run_ollm, session_id) == ["First thing", "Second thing", "Third thing"]


def test_a_fork_of_a_snapshot_is_a_session_of_its_own(run_ollm: Run, session_id: str) -> None:
    taken = take(run_ollm, session_id)
    say(run_ollm, session_id, "Third thing")
    fork = run_ollm("snapshots", "restore", taken, "--fork").stdout.strip()
    assert fork != session_id
    assert said(run_ollm, fork) == ["First thing", "Second thing"]
    assert said(run_ollm, session_id) == ["First thing", "Second thing", "Third thing"]
    say(run_ollm, fork, "Another thing")
    assert said(run_ollm, fork)[-1] == "Another thing"


def test_two_points_are_compared_and_a_session_now_is_one(run_ollm: Run, session_id: str) -> None:
    taken = take(run_ollm, session_id)
    assert "no differences" in run_ollm("snapshots", "diff", taken, f"now:{session_id[:6]}").stdout
    say(run_ollm, session_id, "Third thing")
    text = run_ollm("snapshots", "diff", taken, f"now:{session_id}").stdout
    assert "\n+ you: Third thing\n" in text
    assert "4 messages unchanged" in text
    back = run_ollm("snapshots", "diff", f"now:{session_id}", taken).stdout
    assert "\n- you: Third thing\n" in back
    tree = json.loads(run_ollm("snapshots", "diff", taken, f"now:{session_id}", "--json").stdout)
    added = [each["text"] for each in tree["messages"] if each["fate"] == "added"]
    assert added == ["Third thing", "Third thing"]  # and the scripted echo


def test_names_and_pins_are_shown(run_ollm: Run, session_id: str) -> None:
    taken = take(run_ollm, session_id)
    assert run_ollm("snapshots", "rename", taken[:6], "my", "point").returncode == 0
    assert run_ollm("snapshots", "pin", taken).returncode == 0
    assert "★ my point" in run_ollm("snapshots", "list").stdout
    run_ollm("snapshots", "pin", taken, "--off")
    assert "★" not in run_ollm("snapshots", "list").stdout
    assert run_ollm("snapshots", "rename", taken, " ").returncode == 2


def test_deleting_asks_and_deletes_none_if_one_is_unknown(run_ollm: Run, session_id: str) -> None:
    first, second = take(run_ollm, session_id), take(run_ollm, session_id)
    done = run_ollm("snapshots", "delete", first)
    assert done.returncode == 2 and "--yes" in done.stderr
    assert run_ollm("snapshots", "delete", first, "ffffff", "--yes").returncode == 1
    assert len(listed(run_ollm)) == 2
    assert run_ollm("snapshots", "delete", first, first[:6], "--yes").returncode == 0
    assert [each["id"] for each in listed(run_ollm)] == [second]


def test_what_was_deleted_is_listed_and_comes_back(run_ollm: Run, session_id: str) -> None:
    assert "Nothing deleted" in run_ollm("snapshots", "trash", "list").stdout
    kept = take(run_ollm, session_id, "--name", "kept")
    gone = take(run_ollm, session_id, "--name", "gone")
    done = run_ollm("snapshots", "delete", gone, "--yes")
    assert "ollm snapshots trash restore ID" in done.stdout
    assert "gone" in run_ollm("snapshots", "trash", "list").stdout
    (deleted,) = json.loads(run_ollm("snapshots", "trash", "list", "--json").stdout)
    assert (deleted["id"], deleted["sessionId"], deleted["name"]) == (gone, session_id, "gone")
    assert deleted["deletedAt"] > deleted["timestamp"]
    assert run_ollm("snapshots", "trash", "restore", "ffffff").returncode == 1
    back = run_ollm("snapshots", "trash", "restore", gone[:6])
    assert (back.returncode, back.stdout.strip()) == (0, gone)
    assert [each["id"] for each in listed(run_ollm)] == [gone, kept]
    assert json.loads(run_ollm("snapshots", "trash", "list", "--json").stdout) == []


@some(
    3,
    "arguments",
    (
        ("show", "ffff"),
        ("restore", "ffff"),
        ("diff", "ffff", "eeee"),
        ("diff", "now:ffff", "eeee"),
        ("create", "ffff"),
        ("list", "ffff"),
        ("rename", "ffff", "x"),
        ("pin", "ffff"),
        ("delete", "ffff", "--yes"),
    ),
)
def test_what_is_not_there_is_told_in_one_line(run_ollm: Run, arguments: tuple[str, ...]) -> None:
    done = run_ollm("snapshots", *arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("ollm: no s")
    assert done.stderr.count("\n") == 1 and "list)" in done.stderr


def test_without_a_command_it_is_one_line_and_exit_code_2(run_ollm: Run) -> None:
    for arguments in ((), ("frobnicate",), ("show",), ("diff", "a")):
        done = run_ollm("snapshots", *arguments)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


def test_a_session_that_is_open_elsewhere_can_only_be_forked(
    run_ollm: Run, session_id: str, home: Path
) -> None:
    taken = take(run_ollm, session_id)
    script = home.parent / "slow.json"
    script.write_text(json.dumps([[{"text": "Wait"}, {"wait": 60}]]))
    other = subprocess.Popen(
        [OLLM, "-p", "Hold it", "--resume", session_id, "--output", "stream-json"],
        env=os.environ | {"OLLM_TEST_SCRIPT": str(script)},
        stdout=subprocess.PIPE,
    )
    try:
        assert other.stdout and other.stdout.readline()
        for arguments in (("restore", taken[:8]), ("create", session_id)):
            done = run_ollm("snapshots", *arguments)
            assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
            assert "another ollm is writing this session" in done.stderr
            assert ("--fork" if arguments[0] == "restore" else "/snapshot") in done.stderr
        assert run_ollm("snapshots", "restore", taken, "--fork").returncode == 0
        assert run_ollm("snapshots", "diff", taken, f"now:{session_id}").returncode == 0
    finally:
        other.kill()
        other.communicate()


def test_snapshots_that_are_switched_off_are_not_taken(
    run_ollm: Run, session_id: str, home: Path
) -> None:
    taken = take(run_ollm, session_id)
    (home / "config.yaml").write_text("snapshots:\n  enabled: false\n")
    done = run_ollm("snapshots", "create", session_id)
    assert done.returncode == 2 and "snapshots are off" in done.stderr
    say(run_ollm, session_id, "Third thing")
    done = run_ollm("snapshots", "restore", taken)
    assert done.returncode == 0 and "way back" not in done.stdout
    assert len(listed(run_ollm)) == 1


def test_snapshots_whose_session_is_gone_can_be_listed_and_forked(
    run_ollm: Run, session_id: str, home: Path
) -> None:
    taken = take(run_ollm, session_id)
    (home / "sessions" / f"{session_id}.json").unlink()
    assert [each["id"] for each in listed(run_ollm, session_id[:6])] == [taken]
    done = run_ollm("snapshots", "restore", taken)
    assert done.returncode == 1 and "--fork" in done.stderr
    fork = run_ollm("snapshots", "restore", taken, "--fork").stdout.strip()
    assert said(run_ollm, fork) == ["First thing", "Second thing"]


def test_foreign_words_reach_the_terminal_without_controls(
    run_ollm: Run, session_id: str, home: Path
) -> None:
    taken = take(run_ollm, session_id)
    file = home / "context-snapshots" / session_id / "snapshots" / f"snapshot-{taken}.json"
    tree = json.loads(file.read_text())
    tree["name"] = tree["summary"] = tree["mode"] = tree["provider"] = "a\x1b]52;c;evil\x07b"
    tree["userMessages"][0]["parts"][0]["text"] = "x\x1b[2Jy"
    file.write_text(json.dumps(tree))
    for arguments in (("list",), ("show", taken), ("diff", taken, f"now:{session_id}")):
        done = run_ollm("snapshots", *arguments)
        assert done.returncode == 0 and "\x1b" not in done.stdout
    file.write_text("{")
    assert "damaged" in run_ollm("snapshots", "list").stdout
    assert run_ollm("snapshots", "show", taken).returncode == 1


def test_where_snapshots_are_off_going_back_says_that_it_cannot_be_undone(
    run_ollm: Run, session_id: str
) -> None:
    taken = take(run_ollm, session_id)
    say(run_ollm, session_id, "Third thing")
    done = run_ollm("snapshots", "restore", taken, OLLM_SNAPSHOTS_ENABLED="false")
    assert said(run_ollm, session_id) == ["First thing", "Second thing"]
    assert "Cannot be undone" in done.stdout and "way back" not in done.stdout
