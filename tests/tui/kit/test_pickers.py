"""Pickers: find, move, take, leave; and the three that are made of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from ollm_tui.core.errors import Unavailable
from ollm_tui.core.provider import Capabilities, ModelInfo
from ollm_tui.engine.conversation.model_choice import ProviderOffer
from ollm_tui.tui.help.commands import CommandPalette, PaletteEntry
from ollm_tui.tui.kit.choice_list import Choice
from ollm_tui.tui.kit.line_input import LineInput
from ollm_tui.tui.kit.picker import Picker
from ollm_tui.tui.models.model_picker import REST_SECONDS, ModelPicker
from ollm_tui.tui.models.words import NOBODY, ability_words
from ollm_tui.tui.settings.theme_picker import ThemePicker
from tests.cases import some
from tests.tui.dialog_host import NOTHING_YET, Host, shown

FRUIT = [Choice(name, name) for name in ("apple", "banana", "cherry")]


@some(
    2,
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


@some(1, "size", ((60, 20), (80, 24), (200, 50)))
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
        assert "/quit · Ctrl+Q" in shown(app)
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


NAMES = ["ollama", "far"]


async def offers() -> AsyncGenerator[ProviderOffer, None]:
    for offer in OFFERS:
        yield offer


async def describe(_provider: str, model: str) -> str:
    if model == "large:70b":
        raise Unavailable("it broke", "mend it")
    return "tools, no thinking"


async def test_models_are_grouped_and_the_highlighted_one_tells_what_it_can() -> None:
    app = Host(ModelPicker(NAMES, offers, describe))
    async with app.run_test() as pilot:
        await pilot.pause(REST_SECONDS * 2)
        text = shown(app)
        assert "ollama" in text
        assert "1B, 800 MB, 32k" in text
        assert "tools, no thinking" in text
        await pilot.press("down")
        await pilot.pause(REST_SECONDS * 2)
        assert "It broke · mend it" in shown(app)
        await pilot.press("enter")
        assert app.given == ("ollama", "large:70b")


async def test_a_provider_that_does_not_answer_says_why_and_cannot_be_chosen() -> None:
    app = Host(ModelPicker(NAMES, offers, describe, ("ollama", "large:70b")))
    async with app.run_test() as pilot:
        await pilot.pause()
        await pilot.press("down", "enter")
        await pilot.pause()
        assert "http://far does not answer · Is it running?" in shown(app)
        assert app.given is NOTHING_YET


class Slow:
    """Servers of which the second answers when it is told to."""

    def __init__(self) -> None:
        self.answer = asyncio.Event()

    async def offers(self) -> AsyncGenerator[ProviderOffer, None]:
        yield ProviderOffer("embedded", (ModelInfo(name="tiny"), ModelInfo(name="small")))
        await self.answer.wait()
        yield OFFERS[0]


@pytest.mark.more
async def test_what_is_there_can_be_taken_while_another_server_is_looked_for() -> None:
    app = Host(ModelPicker(["embedded", "ollama"], Slow().offers, describe))
    async with app.run_test() as pilot:
        await pilot.pause()
        assert "tiny" in shown(app)
        assert "Asking ollama …" in shown(app)
        await pilot.press("enter")
        assert app.given == ("embedded", "tiny")


@pytest.mark.more
async def test_the_highlight_stays_when_a_server_answers_late() -> None:
    slow = Slow()
    app = Host(ModelPicker(["embedded", "ollama"], slow.offers, describe))
    async with app.run_test() as pilot:
        await pilot.press("down")
        slow.answer.set()
        await pilot.pause()
        assert "Asking" not in shown(app)
        await pilot.press("enter")
        assert app.given == ("embedded", "small")


async def test_the_model_that_answers_now_is_listed_before_its_server_is_found() -> None:
    app = Host(ModelPicker(["embedded", "ollama"], Slow().offers, describe, ("ollama", "far:7b")))
    async with app.run_test() as pilot:
        await pilot.press("enter")
        assert app.given == ("ollama", "far:7b")


@pytest.mark.more
async def test_an_early_enter_is_answered_in_words() -> None:
    slow = Slow()
    app = Host(ModelPicker(["embedded", "ollama"], slow.offers, describe))
    async with app.run_test() as pilot:
        await pilot.press(*"70b", "enter")
        await pilot.pause()
        assert "No matches yet; still asking ollama" in shown(app)
        slow.answer.set()
        await pilot.pause()
        await pilot.press("enter")
        assert app.given == ("ollama", "large:70b")


@pytest.mark.more
async def test_only_the_line_looked_at_last_is_told_about() -> None:
    asked: list[str] = []

    async def slowly(_provider: str, model: str) -> str:
        asked.append(model)
        await asyncio.sleep(REST_SECONDS if model == "small:1b" else 0)
        return f"about {model}"

    app = Host(ModelPicker(NAMES, offers, slowly))
    async with app.run_test() as pilot:
        await pilot.pause(REST_SECONDS * 1.5)
        await pilot.press("down")
        await pilot.pause(REST_SECONDS * 3)
        assert asked == ["small:1b", "large:70b"]
        assert "about large:70b" in shown(app)
        assert "about small:1b" not in shown(app)


async def test_without_any_provider_the_way_to_one_is_said() -> None:
    async def nobody() -> AsyncGenerator[ProviderOffer, None]:
        for offer in ():
            yield offer

    app = Host(ModelPicker([], nobody, describe))
    async with app.run_test() as pilot:
        await pilot.pause()
        assert NOBODY in shown(app)


def test_what_a_server_does_not_say_is_left_out() -> None:
    assert ability_words(Capabilities(tools=True, images=False)) == "tools"
    assert ability_words(Capabilities(tools=False, images=False)) == "text only"
    assert "abilities unknown" in ability_words(Capabilities())


@pytest.mark.more
async def test_a_terminal_without_unicode_gets_plain_letters_and_frames() -> None:
    app = Host(Picker("Fruit", [*FRUIT, Choice("x", "x" * 500)]))
    app.add_class("-ascii")
    async with app.run_test() as pilot:
        await pilot.pause()
        assert shown(app).isascii()
