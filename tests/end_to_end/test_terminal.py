"""The real command in a real terminal: it types, streams, stops, resizes, fails, quits."""

from __future__ import annotations

import json
import re
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest

from ollm_tui.services.jobs.process_tree import descendants
from ollm_tui.services.sessions.prompt_memory import PromptMemory
from tests.cases import some
from tests.conftest import REPOSITORY
from tests.end_to_end.terminal import OLLM, Terminal

LONG = [{"text": "One"}, {"wait": 600}, {"text": "Two"}]
READY, IDLE = "scripted", "Ctrl+P commands"
CTRL_Q, ESC, FOCUS_LOST = "\x11", "\x1b", "\x1b[O"
DIALOGS = (
    *(("\x10", "Enter run"), ("\x13", "Type to find"), ("\x1b[18~", "Enter use   Space")),
    *(
        ("\x1b[20~", "Enter use   Up Down preview"),
        ("\x1b[21~", "Enter change"),
        ("\x1b[24~", "Esc close"),
    ),
    *(("\x1bOP", "Help"), ("\x06", "Enter go there"), ("\x12", "Enter use")),
)
"""Keys that open something, and words that are seen until Esc closes it."""


def said(home: Path) -> list[str]:
    """The words of the only session, oldest first."""
    [file] = (home / "sessions").glob("*.json")
    messages = json.loads(file.read_bytes())["messages"]
    return [message["parts"][0].get("text", "") for message in messages]


def leave(terminal: Terminal) -> None:
    """Quit; nothing is left behind in the terminal."""
    terminal.type(CTRL_Q)
    assert terminal.ended() == 0
    assert terminal.is_as_before()


def test_typing_streaming_stopping_resizing_and_quitting(home: Path) -> None:
    with Terminal(home, [LONG]) as terminal:
        terminal.wait_for(READY)
        terminal.type("hello\r")
        terminal.wait_for("One")
        terminal.resize(60, 20)
        terminal.type(ESC)
        terminal.wait_for("stopped")
        leave(terminal)
    assert said(home) == ["hello", "One"]


def test_alt_and_a_digit_go_to_a_session_and_type_nothing(home: Path) -> None:
    with Terminal(home, [[{"text": "Good morning"}]]) as terminal:
        terminal.wait_for(READY)
        terminal.type("hello\r")
        terminal.wait_for("Good morning")
        terminal.wait_for(IDLE)
        terminal.type("\x0e")  # Ctrl+N
        terminal.wait_for("Alt+1")
        terminal.type("\x1b1")
        terminal.wait_for("Good morning")
        leave(terminal)
    assert said(home) == ["hello", "Good morning"]


@some(
    1,
    ("term", "sequence"),
    (("xterm-kitty", "\x1b]99;;{}\x1b\\"), ("foot", "\x1b]777;notify;ollm;{}\a")),
)
def test_an_approval_calls_the_user_who_looks_at_another_window(
    home: Path, term: str, sequence: str
) -> None:
    asks = [{"tool": "exec", "args": {"code": "touch it"}}]
    with Terminal(home, [asks, [{"text": "Done"}]], TERM=term) as terminal:
        terminal.wait_for(READY)
        terminal.type(f"go\r{FOCUS_LOST}")
        terminal.wait_for("y yes")
        said = sequence.format("exec is waiting for your answer")
        assert said in terminal.seen
        terminal.type(ESC)
        terminal.wait_until_gone("y yes")
        leave(terminal)


@some(1, "number", (signal.SIGTERM, signal.SIGHUP))
def test_being_told_to_end_leaves_the_terminal_and_the_record_whole(
    home: Path, number: signal.Signals
) -> None:
    with Terminal(home, [LONG]) as terminal:
        terminal.wait_for(READY)
        terminal.type("hello\r")
        terminal.wait_for("One")
        terminal.process.send_signal(number)
        terminal.ended()
        assert terminal.is_as_before()
    [file] = (home / "sessions").glob("*.json")
    assert [m["status"] for m in json.loads(file.read_bytes())["messages"][1:]] == ["cancelled"]


def test_only_what_is_on_disk_is_called_saved(home: Path) -> None:
    home.mkdir(mode=0o700, parents=True)
    (home / "config.yaml").write_text("sessions:\n  autoSave: false\n")
    with Terminal(home, [[{"text": "The answer."}]]) as terminal:
        terminal.wait_for(READY, "Saved by /save and on exit")
        terminal.type("hello\r")
        terminal.wait_for("The answer.", "not saved yet", IDLE)
        assert not list((home / "sessions").glob("*"))
        terminal.type("/save\r")
        terminal.wait_until_gone("not saved yet")
        terminal.wait_for("saved")
        assert said(home) == ["hello", "The answer."]
        leave(terminal)


def test_an_interrupt_from_outside_leaves_the_terminal_as_it_was(home: Path) -> None:
    with Terminal(home, [LONG]) as terminal:
        terminal.wait_for(READY)
        terminal.type("hello\r")
        terminal.wait_for("One")
        terminal.process.send_signal(signal.SIGINT)
        terminal.ended()
        assert terminal.is_as_before()
        assert "Traceback" not in terminal.seen
    assert said(home)[0] == "hello"


def test_a_terminal_that_goes_away_ends_the_program_and_keeps_what_was_said(home: Path) -> None:
    with Terminal(home, [LONG]) as terminal:
        terminal.wait_for(READY)
        terminal.type("hello\r")
        terminal.wait_for("One")
        terminal.hang_up()
        terminal.process.wait()
    assert said(home) == ["hello", "One"]


def test_a_terminal_that_is_not_its_own_ends_it_too_when_it_goes_away(home: Path) -> None:
    command = ("setsid", "--wait", str(OLLM))
    with Terminal(home, [LONG], command=command) as terminal:
        terminal.wait_for(READY)
        terminal.type("hello\r")
        terminal.wait_for("One")
        [program] = (line.pid for line in descendants(terminal.process.pid))
        terminal.hang_up()
        while Path("/proc", str(program)).exists():
            time.sleep(0.05)
    assert said(home) == ["hello", "One"]


def test_a_terminal_program_that_closes_leaves_nothing_behind(home: Path) -> None:
    with Terminal(home, [LONG]) as terminal:
        terminal.wait_for(READY)
        terminal.type("hello\r")
        terminal.wait_for("One")
        # As tmux does it: the one after the other, and the screen still has much to say.
        terminal.process.send_signal(signal.SIGCONT)
        terminal.hang_up()
        terminal.process.wait()
    assert said(home) == ["hello", "One"]


@pytest.mark.more
def test_going_on_without_a_stop_changes_nothing(home: Path) -> None:
    with Terminal(home, [[{"text": "The answer."}]]) as terminal:
        terminal.wait_for(READY)
        terminal.process.send_signal(signal.SIGCONT)
        terminal.settle()
        terminal.type("hello\r")
        terminal.wait_for("The answer.", "saved")
        terminal.type(CTRL_Q)
        assert terminal.ended() == 0
        assert terminal.is_as_before()


def test_plain_lines_need_no_screen(home: Path) -> None:
    with Terminal(home, [[{"text": "Plainly."}]], "--plain") as terminal:
        terminal.wait_for_output("> ")
        terminal.type("hello\r")
        terminal.wait_for_output("Plainly.\r\n\r\n> ")
        terminal.type("\x04")
        assert terminal.ended() == 0
        assert "\x1b[?1049h" not in terminal.seen


def test_plain_lines_run_commands_of_the_shell(home: Path) -> None:
    with Terminal(home, [[{"text": "Plainly."}]], "--plain") as terminal:
        terminal.wait_for_output("> ")
        terminal.type("!echo one; cd /; false\r")
        terminal.wait_for_output("\none\r\n[exit 1")
        mark = home / "begun"
        terminal.type(f"!pwd; touch {mark}; sleep 1000\r")
        while not mark.exists():
            time.sleep(0.05)
        terminal.type("\x03")
        terminal.wait_for_output("/\r\n[killed")
        terminal.type("/jobs\r")
        terminal.wait_for_output("echo one; cd /; false\r\n")
        terminal.type("/quit\r")
        assert terminal.ended() == 0


# Keys in their order


def test_a_burst_of_keys_is_sent_whole(home: Path) -> None:
    with Terminal(home, []) as terminal:
        terminal.wait_for(READY)
        terminal.type("hello\rand again\r")
        terminal.wait_for("┃ hello", "┃ and again", "saved")
        leave(terminal)
    assert said(home) == ["hello", "hello", "and again", "and again"]


@pytest.mark.more
def test_a_command_and_its_argument_in_one_write_run_as_typed(home: Path) -> None:
    with Terminal(home, [[{"text": "Answer."}]]) as terminal:
        terminal.wait_for(READY)
        terminal.type("hello\r")
        terminal.wait_for("Answer.", "saved", IDLE)
        terminal.type("/export no/such/place.md\r")
        terminal.wait_for("Cannot write")


def test_a_paste_of_thousands_of_lines_and_enter_in_one_write_is_sent_whole(home: Path) -> None:
    lines = "\n".join(f"line {number}" for number in range(2000))
    with Terminal(home, [[{"text": "Long."}]]) as terminal:
        terminal.wait_for(READY)
        terminal.type(f"look: \x1b[200~{lines}\x1b[201~ please\r")
        terminal.wait_for("Long.", "2,000 lines", "saved")
        leave(terminal)
    [file] = (home / "sessions").glob("*.json")
    text, attachment = json.loads(file.read_bytes())["messages"][0]["parts"]
    assert text["text"] == "look: [paste 1] please"
    assert attachment["content"] == lines


def test_a_paste_never_presses_keys(home: Path) -> None:
    evil = "a\x1b[/quit\r\x1bOR\x1b\r\x03\x11 \x1b[21~\x1b[200~ b\x1b"
    with Terminal(home, []) as terminal:
        terminal.wait_for(READY)
        terminal.paste(evil)
        terminal.settle()
        assert "b" in terminal.screen() and "│ a" in terminal.screen()
        leave(terminal)
    assert not list((home / "sessions").glob("*.json*"))


@pytest.mark.more
def test_bytes_that_are_no_text_do_not_end_the_program(home: Path) -> None:
    with Terminal(home, []) as terminal:
        terminal.wait_for(READY)
        terminal.type(b"caf\xe9 \xff\xfe ok\r")
        terminal.wait_for("┃ caf", "ok", "saved")


def test_typing_while_an_answer_streams_loses_no_key(home: Path) -> None:
    steps = [{"text": f"word{number} "} if number % 2 else {"wait": 0.01} for number in range(200)]
    typed = "the quick brown fox jumps over the lazy dog 0123456789"
    with Terminal(home, [[*steps, {"text": "END"}], [{"text": "second"}]]) as terminal:
        terminal.wait_for(READY)
        terminal.type("go\r")
        terminal.wait_for("word1 ")
        for key in typed:
            terminal.type(key)
        terminal.type("\r")
        terminal.wait_for("END", "second", "saved")
        leave(terminal)
    assert said(home)[2] == typed


# Leaving for a while, failing, coming back


def test_ctrl_z_gives_the_terminal_back_and_coming_back_draws_it_again(home: Path) -> None:
    with Terminal(home, [LONG]) as terminal:
        terminal.wait_for(READY)
        terminal.type("hello\r")
        terminal.wait_for("One")
        terminal.type("half a draft\x1a")
        terminal.wait_for_stop()
        assert terminal.is_as_before()
        terminal.resize(100, 30)
        terminal.process.send_signal(signal.SIGCONT)
        terminal.wait_for("One", "half a draft", "hello")
        assert not terminal.is_as_before()
        terminal.type(CTRL_Q)
        terminal.wait_for("Press again to quit")
        leave(terminal)


@some(1, "debug", (False, True))
def test_an_error_of_the_program_restores_the_terminal_and_is_one_line(
    home: Path, tmp_path: Path, debug: bool
) -> None:
    copy = tmp_path / "copy"
    for name in ("ollm_tui", "config", "themes"):
        shutil.copytree(REPOSITORY / name, copy / name)
    start = "import sys; from ollm_tui.cli.main import run; sys.exit(run())"
    with Terminal(
        home,
        [],
        *(("--debug",) if debug else ()),
        command=(sys.executable, "-c", start),
        PYTHONPATH=str(copy),
    ) as terminal:
        terminal.wait_for(READY)
        terminal.type("a draft")
        terminal.wait_for("a draft")
        (copy / "ollm_tui" / "tui" / "help" / "screen.tcss").write_text("Broken {")
        terminal.type("\x1bOP")
        assert terminal.ended() == 1
        assert terminal.is_as_before()
        assert ("Traceback" in terminal.seen) is debug
        last = terminal.seen.rpartition("\x1b")[2]
        assert debug or re.search(r"ollm: \w+: .+\(this is a bug;.+\)\r\n\Z", last)
    assert "the screen failed" in (home / "logs" / "ollm.log").read_text()


def test_after_a_kill_everything_and_the_draft_are_there_again(home: Path) -> None:
    with Terminal(home, [[{"text": "The answer."}], LONG]) as terminal:
        terminal.wait_for(READY)
        terminal.type("first\r")
        terminal.wait_for("The answer.", "saved")
        terminal.type("second\r")
        terminal.wait_for("One")
        terminal.type("not sent yet")
        memory = PromptMemory(home, Path.cwd())
        [name] = {file.name.partition(".")[0] for file in (home / "sessions").glob("*-*-*.*")}
        while memory.draft(name) != "not sent yet":
            terminal.settle()
        # What was said is on disk within a second, and the draft may be there before it.
        [journal] = (home / "sessions").glob("*.journal")
        while b"One" not in journal.read_bytes():
            terminal.settle()
        terminal.process.kill()
        terminal.ended()
    with Terminal(home, [], "--continue") as terminal:
        terminal.wait_for("first", "The answer.", "second", "One", "interrupted", "not sent yet")


# What terminals there are


@pytest.mark.more
def test_a_storm_of_sizes_while_an_answer_streams(home: Path) -> None:
    steps = [{"text": f"word{number} "} if number % 2 else {"wait": 0.01} for number in range(300)]
    sizes = [(60, 20), (300, 100), (80, 24), (61, 99), (299, 21), (120, 40), (60, 20)]
    with Terminal(home, [[*steps, {"text": "END"}]]) as terminal:
        terminal.wait_for(READY)
        terminal.type("go\r")
        for size in sizes * 3:
            terminal.resize(*size)
            terminal.type("")
        terminal.resize(300, 100)
        terminal.wait_for("END", "word1 ", "word151 ", "word299 ", "saved")
        leave(terminal)


@pytest.mark.more
def test_without_colours_none_is_sent(home: Path) -> None:
    with Terminal(home, [[{"text": "# Head\n\n`code` and **bold**"}]], NO_COLOR="1") as terminal:
        terminal.wait_for(READY)
        terminal.type("hello\r")
        terminal.wait_for("Head", "saved")
        terminal.type("\x10")
        terminal.wait_for("Commands")
        terminal.settle()
        codes = {
            code
            for each in re.findall(r"\x1b\[([\d;]*)m", terminal.seen)
            for code in each.split(";")
        }
        assert codes <= {"", "0", "1", "2", "3", "4", "7", "9", "39", "49"}


def test_a_terminal_without_unicode_gets_pure_ascii(home: Path) -> None:
    answer = (
        "# Head\n\n- one\n- [x] two\n\n> quote\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n---\n\n1. x\n"
    )
    turn = [
        {"reasoning": "I think."},
        {"text": f"{answer}\nGrüße 世界 😀\n```python\nprint(1)\n```\n"},
        {"tool": "read_file", "args": {"path": "x"}},
    ]
    done = [{"text": "Done."}]
    with Terminal(home, [turn, done, LONG], size=(80, 50), TERM="linux", LANG="C") as terminal:
        terminal.wait_for(READY)
        terminal.type("hello\r")
        terminal.wait_for("print", "Gru?e ???? ??", "Done.", "saved")
        terminal.type("\x0f")
        terminal.wait_for("I think.")
        for key, shown in DIALOGS:
            terminal.type(key)
            terminal.wait_for(shown)
            terminal.type(ESC)
            terminal.wait_until_gone(shown)
        terminal.type("\x02")
        terminal.wait_for("Today")
        terminal.type("\x1b[17~\x1b[1;3A")
        terminal.wait_for("k move")
        terminal.type(ESC)
        terminal.wait_for(IDLE)
        terminal.paste("line\n" * 50)
        terminal.type("go\r")
        terminal.wait_for("One")
        terminal.type("waits\r")
        terminal.wait_for("next")
        terminal.type("/")
        terminal.wait_for("/sessions")
        terminal.settle()
        assert {mark for mark in terminal.seen if not mark.isascii()} == set()
