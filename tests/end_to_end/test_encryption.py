"""Encryption at rest: nothing said can be read from the disk, and all of it with the key."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run, run_ollm

__all__ = ("run_ollm",)

SAID = "The treasure lies under the old oak"
WORDS = {"OLLM_PASSPHRASE": "correct horse battery"}
LARGE = "gold " * 100_000


@pytest.fixture
def sealed_home(home: Path) -> Path:
    home.mkdir()
    (home / "config.yaml").write_text("retention:\n  encryptAtRest: true\n")
    return home


def bytes_on_disk(home: Path) -> bytes:
    return b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())


def test_what_was_said_is_not_on_disk_but_can_be_read_with_the_passphrase(
    run_ollm: Run, sealed_home: Path
) -> None:
    first = run_ollm("-p", SAID, "--output", "json", script=[], **WORDS)
    session_id = json.loads(first.stdout)["sessionId"]
    run_ollm("-c", "-p", "-", script=[], stdin=LARGE, **WORDS)
    run_ollm("sessions", "rename", session_id, "Treasure map", **WORDS)
    found = bytes_on_disk(sealed_home)
    for words in (b"treasure", b"Treasure", b"old oak", b"gold gold"):
        assert words not in found
    shown = run_ollm("sessions", "view", session_id[:8], **WORDS)
    assert shown.stdout.count(SAID) == 2 and "gold gold" in shown.stdout
    assert "Treasure map" in run_ollm("sessions", "list", **WORDS).stdout
    assert not (sealed_home / "index.sqlite").exists()


def test_without_or_with_a_wrong_passphrase_nothing_is_told(
    run_ollm: Run, sealed_home: Path
) -> None:
    run_ollm("-p", SAID, script=[], **WORDS)
    for variables in ({}, {"OLLM_PASSPHRASE": "wrong"}):
        for command in (("sessions", "list"), ("-c", "-p", "More")):
            done = run_ollm(*command, script=[], **variables)
            assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)


def test_what_was_said_before_stays_readable_and_is_sealed_when_continued(
    run_ollm: Run, home: Path
) -> None:
    run_ollm("-p", SAID, script=[])
    assert b"old oak" in bytes_on_disk(home)
    (home / "config.yaml").write_text("retention:\n  encryptAtRest: true\n")
    assert SAID in run_ollm("sessions", "list", **WORDS).stdout
    run_ollm("-c", "-p", "Go on", script=[], **WORDS)
    assert b"old oak" not in bytes_on_disk(home)


@pytest.mark.more
def test_sealed_sessions_are_listed_as_such_when_encryption_is_turned_off(
    run_ollm: Run, sealed_home: Path
) -> None:
    run_ollm("-p", SAID, script=[], **WORDS)
    (sealed_home / "config.yaml").unlink()
    run_ollm("-p", "In the open", script=[])
    shown = run_ollm("sessions", "list").stdout
    assert "In the open" in shown
    assert "it is encrypted" in shown
    refused = run_ollm("--resume", shown.split("\n")[1].split()[0], "-p", "Hi", script=[])
    assert refused.returncode == 1
    assert "passphrase" in refused.stderr


def test_the_trash_keeps_the_secret_too(run_ollm: Run, sealed_home: Path) -> None:
    run_ollm("-p", SAID, script=[], **WORDS)
    run_ollm("-p", "Another", script=[], **WORDS)
    run_ollm("sessions", "cleanup", "--keep", "1", **WORDS)
    assert b"treasure" not in bytes_on_disk(sealed_home)
    [note] = json.loads(run_ollm("sessions", "trash", "list", "--json", **WORDS).stdout)
    run_ollm("sessions", "trash", "restore", note["sessionId"], **WORDS)
    assert SAID in run_ollm("sessions", "list", **WORDS).stdout
