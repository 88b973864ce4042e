"""What the terminal sends, wherever it is cut: pastes stay pastes; and ASCII keeps its places."""

from __future__ import annotations

import time

import pytest
from rich.cells import cell_len
from textual.events import Key, Paste

from ollm_tui.tui.terminal.driver import AsciiText, PasteGuard
from tests.cases import every, some
from tests.tui.conftest import OpenApp

INPUT = "a\x1b[200~one\x1b[31m two\r\n\x1b]52;c;eA==\x07three\x1b\x1b[201~b\x1b[A"


def read(*pieces: str) -> list[str]:
    guard = PasteGuard()
    found = [message for piece in pieces for message in guard.feed(piece)]
    return [
        message.text if isinstance(message, Paste) else message.key
        for message in found
        if isinstance(message, Paste | Key)
    ]


def test_a_paste_is_one_text_without_controls_and_presses_no_key() -> None:
    assert read(INPUT) == ["a", "one two\nthree", "b", "up"]


@every("size", (1, 2, 3, 5, 7))
def test_input_means_the_same_in_pieces_of_any_size(size: int) -> None:
    pieces = [INPUT[start : start + size] for start in range(0, len(INPUT), size)]
    assert read(*pieces) == read(INPUT)


@every("cut", range(1, len(INPUT)))
def test_input_means_the_same_wherever_it_is_cut(cut: int) -> None:
    assert read(INPUT[:cut], INPUT[cut:]) == read(INPUT)


def test_two_pastes_after_each_other_are_two() -> None:
    assert read("\x1b[200~one\x1b[201~\x1b[200~two\x1b[201~\r") == ["one", "two", "enter"]


def test_an_escape_key_before_a_paste_is_still_a_key() -> None:
    assert read("\x1b", "\x1b[200~one\x1b[201~") == ["escape", "one"]


def test_alt_and_a_key_end_where_the_next_key_begins() -> None:
    assert read("\x1bh\x1b[Dx") == ["alt+h", "left", "x"]
    assert read("\x1b", "hx", "\x1b[D") == ["alt+h", "x", "left"]


def test_alt_is_heard_with_keys_that_are_no_letters() -> None:
    assert read("\x1b_x") == ["alt+underscore", "x"]
    assert read("\x1b", "_", "\x1b ") == ["alt+underscore", "alt+space"]


def test_a_key_some_time_after_escape_has_no_alt() -> None:
    parser = PasteGuard()
    assert [*parser.feed("\x1b")] == []
    while not (keys := [*parser.tick()]):
        time.sleep(0.01)
    keys += parser.feed("/")
    assert [key.key for key in keys if isinstance(key, Key)] == ["escape", "slash"]


@some(1, "text", ("/export nothing.txt", "/end"))
async def test_a_command_typed_faster_than_the_list_follows_is_the_one_that_runs(
    open_app: OpenApp, text: str
) -> None:
    async with open_app() as (app, pilot):
        await pilot.press("slash")
        for key in text[1:]:
            app.post_message(Key(key, key))
        app.post_message(Key("enter", "\r"))
        while not app.memory.history():
            await pilot.pause(0.01)
        assert app.memory.history() == [text]


@pytest.mark.parametrize("text", ("plain", "╭─╮│╰╯", "• é ü ß ñ", "世界 😀", "“a” … · ›", "⟨x⟩ ∀"))
def test_ascii_is_as_wide_as_what_it_stands_for(text: str) -> None:
    plain = AsciiText()(text)
    assert plain.isascii()
    assert cell_len(plain) == cell_len(text)


def test_controls_stay_as_they_are_in_ascii() -> None:
    assert AsciiText()("\x1b[1m·\x1b[0m\r\n") == "\x1b[1m-\x1b[0m\r\n"
