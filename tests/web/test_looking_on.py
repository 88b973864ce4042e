"""A window that only looks: the engine refuses to write, whatever reaches it."""

from __future__ import annotations

import os
from contextlib import aclosing
from pathlib import Path

import pytest

from ollm_tui.bootstrap import open_workspace
from ollm_tui.core.errors import SessionBusy, SessionReadOnly
from ollm_tui.settings.loader import load_settings
from tests.cli.conftest import Run
from tests.end_to_end.terminal import Terminal


def contents(folder: Path) -> dict[str, bytes]:
    """The sessions and all that belongs to them, but not the indexes, which are derived."""
    kept = (".json", ".journal")
    files = (file for file in folder.rglob("*") if file.is_file() and file.suffix in kept)
    return {str(file): file.read_bytes() for file in files if "index" not in file.name}


async def test_nothing_can_be_changed_and_everything_can_be_followed(
    home: Path, run_ollm: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_ollm("-p", "Hello", script=[[{"text": "Good day"}]])
    run_ollm("-p", "Thrown away", script=[[{"text": "Gone"}]])
    before = contents(home / "sessions")
    monkeypatch.setenv("OLLM_TEST_SCRIPT", str(home.parent / "script.json"))
    loaded = load_settings(os.environ, Path.cwd(), {})
    workspace = open_workspace(loaded, os.environ, writes=False)
    (hello,) = (each.session_id for each in await workspace.sessions() if each.title == "Hello")
    with pytest.raises(SessionBusy) as busy:
        await workspace.resume(hello)
    assert busy.value.session_id == hello  # so that whoever asked follows it
    for refused in (
        workspace.begin(),
        workspace.begin(ephemeral=True),
        workspace.rename(hello, "Other"),
        workspace.pin(hello, True),
        workspace.tag(hello, ["word"]),
        workspace.archive(hello, True),
        workspace.fork(hello),
        workspace.discard(hello),
        workspace.restore(hello),
    ):
        with pytest.raises(SessionReadOnly, match="read-only"):
            await refused
    async with aclosing(workspace.follow(hello)) as changes:
        followed = await anext(changes)
    assert [message.text for message in followed.state.branch()] == ["Hello", "Good day"]
    await workspace.close()
    assert contents(home / "sessions") == before


def test_follow_shows_the_latest_session_without_a_prompt(home: Path, run_ollm: Run) -> None:
    run_ollm("-p", "Hello", script=[[{"text": "Good day"}]])
    before = contents(home / "sessions")
    with Terminal(home, [[{"text": "Never"}]], "--follow") as terminal:
        terminal.wait_for("Hello", "Good day", "read-only · live", "PgUp PgDn scroll")
        terminal.type("!touch here\r")
        terminal.type("\x0e")  # Ctrl+N
        terminal.wait_for("This window is read-only")
        terminal.type("\x11")
        assert terminal.ended() == 0
    assert contents(home / "sessions") == before
    assert not Path("here").exists()


def test_what_cannot_be_followed_is_told_in_one_line(run_ollm: Run) -> None:
    told = run_ollm("--follow", "3f2a", "-p", "Hello")
    assert (told.returncode, told.stderr.count("\n")) == (2, 1)
    shared = run_ollm("serve", "--share", "3f2a")
    assert "no session '3f2a'" in shared.stderr
