"""Pickers: find, move, take, leave; and the three that are made of them."""

from __future__ import annotations

import asyncio

import pytest

from ollm_tui.core.errors import Unavailable
from ollm_tui.core.provider import Capabilities, ModelInfo
from ollm_tui.engine.model_choice import ProviderOffer
from ollm_tui.tui.dialogs.line_input import LineInput
from ollm_tui.tui.dialogs.model_picker import ASKING, REST_SECONDS, ModelPicker, ability_words
from ollm_tui.tui.dialogs.palette import CommandPalette, PaletteEntry
from ollm_tui.tui.dialogs.picker import Picker
from ollm_tui.tui.dialogs.theme_picker import ThemePicker
from ollm_tui.tui.widgets.choice_list import Choice
from tests.tui.dialogs.host import NOTHING_YET, Host, shown

FRUIT = [Choice(name, name) for name in ("apple", "banana", "cherry")]


@pytest.mark.parametrize(
    ("keys", "given"),
    (
        (["enter"], "apple"),
        (["down", "down", "enter"], "cherry"),
        (["down", "down", "up", "enter"], "banana"),
        (["pagedown", "enter"], "cherry"),
        (["c", "h", "enter"], "cherry"),
        (["x", "enter", "escape"], None),
        (["escape"], None),
    ),
)
async def test_keys_choose_or_leave(keys: list[str], given: str | None) -> None:
    app = Host(Picker("Fruit", FRUIT))
    async with app.run_test() as pilot:
        await pilot.press(*keys)
        assert app.given == given


async def test_a_picker_begins_at_what_is_asked_and_tells_what_is_highlighted() -> None:
    told: list[str | None] = []
    app = Host(
        Picker("Fruit", FRUIT, highlight="banana", watcher=lambda c: told.append(c and c.key))
    )
    async with app.run_test() as pilot:
        await pilot.press("down", *"zz")
        await pilot.pause()
        assert told == ["banana", "cherry", None]


@pytest.mark.parametrize("size", ((60, 20), (80, 24), (200, 50)))
async def test_a_picker_shows_title_list_and_keys_at_any_size(size: tuple[int, int]) -> None:
    many = [Choice(str(number), f"line {number}") for number in range(500)]
    app = Host(Picker("Many lines", many))
    async with app.run_test(size=size) as pilot:
        await pilot.press(*["pagedown"] * 3)
        text = shown(app)
        assert "Many lines" in text
        assert "Esc close" in text
        highlighted = app.screen.query_one("ChoiceList").region
        assert highlighted.height >= 5
        assert app.screen.region.contains_region(app.screen.query_one("#dialog").region)


async def test_a_paste_into_the_line_that_finds_has_no_controls() -> None:
    app = Host(Picker("Fruit", FRUIT))
    async with app.run_test():
        field = app.screen.query_one(LineInput)
        field.insert("c\x1b[31m\nd\u202e", 0)
        field.replace("\x9be", 0, 1)
        assert "a" in LineInput("a\x1b]52;c;aGk=\x07").value
        assert "\x1b" not in LineInput("a\x1b]52;c;aGk=\x07").value
        assert all(mark.isprintable() for mark in field.value)


async def test_brackets_in_names_are_shown_as_they_are() -> None:
    app = Host(Picker("[b]T[/]", [Choice("x", "[@click=app.quit()]press[/]")]))
    async with app.run_test() as pilot:
        await pilot.pause()
        assert "[@click=app.quit()]press[/]" in shown(app)
        assert "[b]T[/]" in shown(app)


async def test_the_palette_finds_by_description_and_gives_the_id() -> None:
    entries = [
        PaletteEntry("app.quit", "Quit", "Ctrl+Q", "Leave the program", "/quit"),
        PaletteEntry("app.theme", "Theme", "", "Other colours", "/theme"),
    ]
    app = Host(CommandPalette(entries))
    async with app.run_test() as pilot:
        await pilot.pause()
        assert "/quit, Ctrl+Q" in shown(app)
        assert "Leave the program" in shown(app)
        await pilot.press(*"colo")
        await pilot.pause()
        assert "Leave the program" not in shown(app)
        await pilot.press("enter")
        assert app.given == "app.theme"


async def test_a_highlighted_theme_is_seen_at_once_and_escape_brings_the_former_back() -> None:
    app = Host(ThemePicker("dark", {}))
    async with app.run_test() as pilot:
        await pilot.press(*"nord")
        await pilot.pause()
        assert app.theme == "nord"
        await pilot.press("escape")
        assert (app.theme, app.given) == ("dark", None)


async def test_a_chosen_theme_stays() -> None:
    app = Host(ThemePicker("dark", {"COLORFGBG": "0;15", "TERM": "xterm-256color"}))
    async with app.run_test() as pilot:
        await pilot.press(*"auto", "enter")
        assert (app.theme, app.given) == ("light", "auto")


OFFERS = [
    ProviderOffer(
        "ollama",
        (
            ModelInfo(name="small:1b", size_bytes=800_000_000, parameters="1B", max_window=32768),
            ModelInfo(name="large:70b", size_bytes=42_000_000_000),
        ),
    ),
    ProviderOffer("far", (), "http://far does not answer", "Is it running?"),
]


async def offers() -> list[ProviderOffer]:
    return OFFERS


async def capabilities(_provider: str, model: str) -> Capabilities:
    if model == "large:70b":
        raise Unavailable("it broke")
    return Capabilities(tools=True, thinking=False)


async def test_models_are_grouped_and_the_highlighted_one_tells_what_it_can() -> None:
    app = Host(ModelPicker(offers, capabilities))
    async with app.run_test() as pilot:
        await pilot.pause(REST_SECONDS * 2)
        text = shown(app)
        assert "ollama" in text
        assert "1B, 800 MB, 32k" in text
        assert "tools, no thinking" in text
        await pilot.press("down")
        await pilot.pause(REST_SECONDS * 2)
        assert "it broke" in shown(app)
        await pilot.press("enter")
        assert app.given == ("ollama", "large:70b")


async def test_a_provider_that_does_not_answer_says_why_and_cannot_be_chosen() -> None:
    app = Host(ModelPicker(offers, capabilities, ("ollama", "large:70b")))
    async with app.run_test() as pilot:
        await pilot.pause()
        await pilot.press("down", "enter")
        await pilot.pause()
        assert "http://far does not answer. Is it running?" in shown(app)
        assert app.given is NOTHING_YET


async def test_the_model_picker_takes_keys_while_servers_are_silent() -> None:
    silence = asyncio.Event()

    async def never() -> list[ProviderOffer]:
        await silence.wait()
        return []

    app = Host(ModelPicker(never, capabilities))
    async with app.run_test() as pilot:
        await pilot.press(*"qw")
        assert ASKING in shown(app)
        assert app.screen.query_one(LineInput).value == "qw"
        await pilot.press("escape")
        assert app.given is None


async def test_nobody_to_answer_is_said() -> None:
    async def fails() -> list[ProviderOffer]:
        raise Unavailable("the network is gone", "Plug it in")

    app = Host(ModelPicker(fails, capabilities))
    async with app.run_test() as pilot:
        await pilot.pause()
        assert "the network is gone. Plug it in" in shown(app)


def test_what_a_server_does_not_say_is_left_out() -> None:
    assert ability_words(Capabilities(tools=True, images=False)) == "tools, no images"
    assert "does not say" in ability_words(Capabilities())


async def test_a_terminal_without_unicode_gets_plain_letters_and_frames() -> None:
    app = Host(Picker("Fruit", [*FRUIT, Choice("x", "x" * 500)]))
    app.add_class("-ascii")
    async with app.run_test() as pilot:
        await pilot.pause()
        assert shown(app).isascii()
