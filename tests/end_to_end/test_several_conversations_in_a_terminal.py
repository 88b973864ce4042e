"""Several conversations in a real terminal, killed while all of them run."""

from __future__ import annotations

from pathlib import Path

from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.store_layout import StoreLayout
from tests.end_to_end.terminal import Terminal

CTRL_N = "\x0e"
WORDS = ("Ash", "Birch", "Cedar", "Drift")


def test_after_a_kill_all_that_ran_are_there_as_far_as_they_came(home: Path) -> None:
    script = [
        [{"text": f"{word} begins."}, {"wait": 1.0}, {"text": " More."}, {"wait": 600}]
        for word in WORDS
    ]
    with Terminal(home, script, size=(120, 30)) as terminal:
        terminal.wait_for("scripted")
        for word in WORDS:
            terminal.type(f"tell me of {word}\r")
            terminal.wait_for(f"{word} begins. More.")
            if word != WORDS[-1]:
                terminal.type(CTRL_N)
                terminal.wait_until_gone(f"{word} begins")
        terminal.wait_for("4 tell me of Drift")
        terminal.settle(1.5)  # longer than a piece of a reply may stay unrecorded
        terminal.process.kill()
        terminal.ended()
    store = SessionLibrary.at(StoreLayout(home / "sessions")).store
    ids = {file.name.partition(".")[0] for file in (home / "sessions").glob("*.journal")}
    kept = [list(store.load(session_id).state.messages()) for session_id in ids]
    texts = sorted(message.text for said in kept for message in said[1:])
    assert texts == [f"{word} begins. More." for word in WORDS]


def test_alt_and_a_digit_lead_to_a_conversation_in_a_terminal_of_the_old_kind(home: Path) -> None:
    script = [[{"text": f"{word} begins."}, {"wait": 600}] for word in WORDS[:2]]
    with Terminal(home, script, size=(120, 30)) as terminal:
        terminal.wait_for("scripted")
        terminal.type(f"tell me of {WORDS[0]}\r")
        terminal.wait_for(f"{WORDS[0]} begins.")
        terminal.type(CTRL_N)
        terminal.wait_until_gone(f"{WORDS[0]} begins")
        terminal.type(f"tell me of {WORDS[1]}\r")
        terminal.wait_for(f"{WORDS[1]} begins.")
        terminal.type("\x1b1")
        terminal.wait_for(f"{WORDS[0]} begins.")
        terminal.type("\x1b0")
        terminal.wait_for(f"{WORDS[1]} begins.")
