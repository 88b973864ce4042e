"""A new user in a real terminal: where did I ask about retries in October?"""

from __future__ import annotations

from datetime import date
from pathlib import Path

from tests.end_to_end.terminal import Terminal
from tests.tui.search_samples import fill

READY = "scripted"
F4, DOWN, CTRL_Q, ESC = "\x1bOS", "\x1b[B", "\x11", "\x1b"


def last_october() -> int:
    """The year of the last October that has begun."""
    today = date.today()
    return today.year - (today.month < 10)


def test_where_did_i_ask_about_retries_in_october(home: Path) -> None:
    fill(home, last_october())
    with Terminal(home, []) as terminal:
        terminal.wait_for(READY)
        terminal.type(F4)
        terminal.wait_for("Type words or a question")
        terminal.type("retries in:october role:user")
        terminal.wait_for("2 matches in 2 sessions", "celery vs rq", "retry logic for the uploader")
        assert "nightly backups" not in terminal.screen()
        terminal.type(DOWN)
        terminal.wait_for("f fork")
        terminal.type(DOWN)
        terminal.type("\r")
        terminal.wait_for("The upload job retries forever", "exponential back-off", "y copy")
        terminal.type(ESC)
        terminal.wait_for("Ctrl+P commands")
        terminal.type(CTRL_Q)
        assert terminal.ended() == 0
        assert terminal.is_as_before()


def test_leaving_the_search_on_a_small_terminal_leaves_nothing_behind(home: Path) -> None:
    fill(home, last_october())
    with Terminal(home, [], size=(60, 20)) as terminal:
        terminal.wait_for(READY)
        terminal.type(F4)
        terminal.wait_for("Type words")
        terminal.type("jitter")
        terminal.wait_for("1 match in 1 session")
        terminal.type(F4)
        terminal.wait_for("delay = min(cap")
        terminal.resize(200, 50)
        terminal.wait_for("delay = min(cap", "F4 back to the list")
        terminal.type(CTRL_Q)
        assert terminal.ended() == 0
        assert terminal.is_as_before()
