"""Keys in a real terminal act in the order they were typed, however many arrive at once."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

from tests.cases import some
from tests.conftest import LONG
from tests.end_to_end.terminal import OLLM, Terminal
from tests.end_to_end.typed_text import BACKSPACE, HOME, LEFT, PASTE, UP, TypedText

READY = "scripted"
BURSTS = 10_000 if LONG else 96
LOOKED_AT_AFTER = 12
"""Bursts after which the prompt is compared: what went wrong before is still to be seen then."""
WIDE = (110, 40)
MOUSE_MOVE, SCROLL, FOCUS_OUT, FOCUS_IN = "\x1b[<35;9;5M", "\x1b[<65;9;5M", "\x1b[O", "\x1b[I"
ESC, CTRL_P, F7 = "\x1b", "\x10", "\x1b[18~"
FIELDS = (CTRL_P, F7, "\x06", "\x12", "\x1bOS", "\x1b[20~")
"""Keys that open a line to type into: commands, models, finding, history, search, themes."""
FIELDS_OF_SCREENS = ("\x13", "\x1bOR", "\x1bOP/", "\x1b[21~/")
"""The same where a first Esc only empties the line: sessions, the browser, keys, settings."""
SLOW_ANSWER = [{"text": f"w{step} "} if step % 2 else {"wait": 0.02} for step in range(99_999)]


@contextmanager
def busy_machine() -> Generator[None]:
    """Two programs beside this one that only take time."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def from_the_start(home: Path, *answers: object) -> Terminal:
    """The command with all it has to load before its first paint."""
    return Terminal(home, list(answers), command=(str(OLLM),))


def in_prompt(terminal: Terminal) -> str:
    """The text in the prompt, as it stands on the screen."""
    found = re.search(r"╭─+╮\n(.*?)\n ╰─+╯[^╭]*\Z", terminal.screen(), re.DOTALL)
    lines = found[1].split("\n") if found else []
    shown = [line.strip().removeprefix("│").removesuffix("│").strip() for line in lines]
    text = "\n".join(" ".join(line.split()) for line in shown)
    return "" if text.startswith("Type a message") else text


def visible(text: str) -> str:
    """A text as `in_prompt` sees it: without the blanks that cannot be told from none."""
    return "\n".join(" ".join(line.split()) for line in text.split("\n"))


def wait_for_prompt(terminal: Terminal, text: str) -> None:
    """Read until the prompt shows a text."""
    if in_prompt(terminal) != visible(text):
        terminal.wait_until(lambda: in_prompt(terminal) == visible(text), repr(text))


def cut(keys: list[str], random: Random) -> Iterator[bytes]:
    """The bytes of keys in pieces by chance; letters are cut, too, but no sequences: after an
    escape the terminal does not pause, which a test on a busy machine may."""
    piece = b""
    for key in keys:
        data = key.encode()
        if "\x1b" not in key and random.random() < 0.15:
            at = random.randrange(len(data) + 1)
            yield piece + data[:at]
            piece, data = b"", data[at:]
        piece += data
    yield piece


def type_bursts(terminal: Terminal, random: Random, bursts: int) -> None:
    """Type bursts of keys, with other things of a terminal in between; compare now and then."""
    typed = TypedText()
    for number in range(1, bursts + 1):
        keys = [typed.any_key(random) for _ in range(random.randint(2, 14))]
        if len(typed.text) > 90 or typed.text.count("\n") > 7:
            keys.append(typed.clear())
        noise = random.choice((MOUSE_MOVE, SCROLL, FOCUS_OUT, FOCUS_IN)) * (number % 4 == 0)
        keys.insert(random.randrange(len(keys)), noise)
        for piece in cut(keys, random):
            terminal.type(piece)
        if number % (20 * LOOKED_AT_AFTER) == 0:
            terminal.resize(random.randint(105, 130), random.randint(36, 50))
        if number % LOOKED_AT_AFTER == 0 or number == bursts:
            wait_for_prompt(terminal, typed.text)


@pytest.mark.slow
@some(1, "seed", range(2))
def test_the_prompt_holds_what_was_typed_whatever_arrives_at_once(home: Path, seed: int) -> None:
    with Terminal(home, [], size=WIDE) as terminal:
        terminal.wait_for(READY)
        type_bursts(terminal, Random(seed), BURSTS // 2)


@pytest.mark.more
@pytest.mark.slow
def test_the_same_holds_while_an_answer_streams(home: Path) -> None:
    with Terminal(home, [SLOW_ANSWER], size=WIDE) as terminal:
        terminal.wait_for(READY)
        terminal.type("go\r")
        terminal.wait_for("w3 w5")
        type_bursts(terminal, Random(2), BURSTS // 8)


def test_keys_behind_one_that_opens_something_go_there_in_their_order(home: Path) -> None:
    edited = f"qz{LEFT}x{BACKSPACE}w{HOME}j"
    with Terminal(home, [[{"text": "Answer."}]], size=WIDE) as terminal:
        terminal.wait_for(READY)
        terminal.type("hello\r")
        terminal.wait_for("Answer.", "saved")
        for keys in (*FIELDS, *FIELDS_OF_SCREENS):
            terminal.type(keys + edited)
            terminal.wait_for("jqwz")
            terminal.type(ESC)
            terminal.wait_until_gone("jqwz")
            if keys in FIELDS_OF_SCREENS:
                terminal.type(ESC)
            terminal.wait_for("│ Type a message")


def test_a_command_is_found_and_run_in_one_write(home: Path) -> None:
    with Terminal(home, [], size=WIDE) as terminal:
        terminal.wait_for(READY)
        terminal.type(f"a draft{CTRL_P}keys and commands\r/zzscroll")
        terminal.wait_for("Help", "zzscroll")
        terminal.type(ESC)
        terminal.wait_until_gone("zzscroll")
        terminal.type(ESC)
        terminal.wait_for("│ a draft ")


@pytest.mark.more
def test_letters_behind_a_slash_command_go_to_the_dialog_it_opens(home: Path) -> None:
    with Terminal(home, [], size=WIDE) as terminal:
        terminal.wait_for(READY)
        terminal.type("/model\rscrip")
        terminal.wait_for("Enter use", "│  scrip ")


def test_a_paste_and_enter_and_more_in_one_write_are_two_messages(home: Path) -> None:
    with Terminal(home, [[{"text": "One."}], [{"text": "Two."}]], size=WIDE) as terminal:
        terminal.wait_for(READY)
        terminal.type(f"{FOCUS_OUT}{PASTE.format('pasted')}!{LEFT}{LEFT}-\rsecond{HOME}the \r")
        terminal.wait_for("One.", "Two.", "saved")
        assert "paste-d!" in terminal.screen() and "the second" in terminal.screen()


@pytest.mark.more
def test_alt_and_a_letter_before_an_arrow_type_no_circumflex(home: Path) -> None:
    with Terminal(home, []) as terminal:
        terminal.wait_for(READY)
        terminal.type(f"ab\x1bh{LEFT}\x1bj{ESC}{LEFT}c")
        terminal.wait_for("│ cab ")


# Before there is anything to see


@pytest.mark.slow
def test_keys_before_the_first_paint_are_in_the_prompt(home: Path) -> None:
    typed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    for start in range(20 if LONG else 2):
        with from_the_start(home.with_name(f"home-{start}")) as terminal, busy_machine():
            for letter in typed:
                terminal.type(letter)  # a hundredth of a second each: over the whole start
            terminal.type(f"{BACKSPACE}9{HOME}>")
            terminal.wait_for(f"│ >{typed} ")


@some(1, ("pause", "then"), ((0.0, ""), (0.25, "and more")))
def test_a_message_sent_before_the_first_paint_is_sent_once(
    home: Path, pause: float, then: str
) -> None:
    with from_the_start(home, [{"text": "One."}], [{"text": "Two."}]) as terminal:
        terminal.settle(pause)
        terminal.type(f"too early\r{then}")
        terminal.wait_for("One.", f"│ {then or 'Type a message'}", "saved")
        terminal.type("\x11")
        assert terminal.ended() == 0
    [file] = (home / "sessions").glob("*.json")
    messages = json.loads(file.read_bytes())["messages"]
    assert [message["parts"][0]["text"] for message in messages] == ["too early", "One."]


def test_a_draft_of_the_last_time_comes_back_behind_what_is_typed_at_once(home: Path) -> None:
    with Terminal(home, []) as terminal:
        terminal.wait_for(READY)
        terminal.type("old draft\x11")
        assert terminal.ended() == 0
    with Terminal(home, []) as terminal:
        terminal.type("new")
        terminal.wait_for("│ new ", READY)
        terminal.type(UP)
        terminal.wait_for("│ old draft ")


def test_ctrl_c_before_the_first_paint_puts_aside_and_quits(home: Path) -> None:
    with from_the_start(home) as terminal:
        terminal.wait_for_output("\x1b[?1049h")
        terminal.type("early\x03\x03\x03")
        # The first may still be a signal, which ends the program as well.
        assert terminal.ended() in (0, 130)
        assert terminal.is_as_before() and "Traceback" not in terminal.seen


@pytest.mark.more
def test_alt_and_a_letter_that_means_nothing_types_nothing(home: Path) -> None:
    with Terminal(home, []) as terminal:
        terminal.wait_for(READY)
        terminal.type("one\x1bq\x1bj two")
        wait_for_prompt(terminal, "one two")
