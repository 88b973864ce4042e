"""How the command line begins a chat, and what it says at the end, in a real terminal."""

from __future__ import annotations

from pathlib import Path

from tests.end_to_end.terminal import Terminal

ANSWERS = [[{"text": "First answer"}], [{"text": "Second answer"}]]


def test_a_question_is_asked_at_once_and_leaving_says_the_way_back(home: Path) -> None:
    with Terminal(home, ANSWERS, "What is a window?") as terminal:
        terminal.wait_for("What is a window?", "First answer")
        terminal.type("\x11")
        terminal.wait_for_output("Continue this session: ollm --resume ")
        assert terminal.ended() == 0
    session = terminal.seen.rpartition("--resume ")[2].split()[0]
    with Terminal(home, ANSWERS, "--resume", session) as terminal:
        terminal.wait_for("First answer")


def test_a_draft_stays_while_a_question_is_asked(home: Path) -> None:
    with Terminal(home, ANSWERS) as terminal:
        terminal.wait_for("scripted")
        terminal.type("unfinished words")
        terminal.wait_for("unfinished words")
        terminal.type("\x11")
        assert terminal.ended() == 0
        assert "Continue this session" not in terminal.seen
    with Terminal(home, ANSWERS, "a question") as terminal:
        terminal.wait_for("First answer", "unfinished words")


def test_r_alone_opens_the_choice_of_sessions(home: Path) -> None:
    with Terminal(home, ANSWERS, "about whales") as terminal:
        terminal.wait_for("First answer")
        terminal.type("\x11")
        assert terminal.ended() == 0
    with Terminal(home, ANSWERS, "-r") as terminal:
        terminal.wait_for("about whales", "1 session")
