"""Lines to choose from: moving, narrowing, choosing, and what is drawn of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from rich.cells import cell_len
from textual import on
from textual.app import App, ComposeResult
from textual.containers import Vertical
from textual.pilot import Pilot
from textual.widgets import Input

from ollm_tui.tui.kit.choice_list import NOTHING_FITS, Choice, ChoiceList
from tests.cases import some

FRUIT = (
    Choice("", "Trees", heading=True),
    Choice("apple", "Apple pie", "3h", "★"),
    Choice("pear", "Pear tart", "2d", words="conference"),
    Choice("", "Bushes", heading=True),
    Choice("currant", "Red currant jelly", "14 Oct", "▸"),
)


class Screen(App[None]):
    """A list, and something else that can have the focus."""

    def __init__(self, *, unicode: bool = True) -> None:
        super().__init__()
        self.list = ChoiceList(empty="No fruit yet. Plant a tree.", unicode=unicode)
        self.chosen: list[str] = []
        self.highlights: list[str | None] = []

    def compose(self) -> ComposeResult:
        yield self.list
        yield Input()

    def on_mount(self) -> None:
        self.list.styles.height = "1fr"
        self.list.focus()

    @on(ChoiceList.Chosen)
    def note_choice(self, event: ChoiceList.Chosen) -> None:
        self.chosen.append(event.choice.key)

    @on(ChoiceList.Highlighted)
    def note_highlight(self, event: ChoiceList.Highlighted) -> None:
        self.highlights.append(event.choice.key if event.choice else None)


@asynccontextmanager
async def shown(
    choices: Sequence[Choice], size: tuple[int, int] = (30, 12), *, unicode: bool = True
) -> AsyncGenerator[tuple[Screen, Pilot[Any]]]:
    app = Screen(unicode=unicode)
    async with app.run_test(size=size) as pilot:
        app.list.show(choices)
        await pilot.pause()
        yield app, pilot


def seen(app: Screen) -> list[str]:
    lines = [app.list.render_line(y).text.rstrip() for y in range(app.list.size.height)]
    return [line for line in lines if line]


def highlighted(app: Screen) -> str | None:
    return app.list.highlighted.key if app.list.highlighted else None


def many(count: int) -> list[Choice]:
    return [Choice(f"k{number}", f"line {number}") for number in range(count)]


async def test_marks_texts_and_notes_stand_in_columns() -> None:
    async with shown(FRUIT) as (app, _):
        assert seen(app) == [
            " Trees",
            " ★ Apple pie               3h",
            "   Pear tart               2d",
            " Bushes",
            " ▸ Red currant jelly   14 Oct",
        ]


async def test_without_unicode_marks_and_cuts_are_plain() -> None:
    async with shown(FRUIT, (16, 12), unicode=False) as (app, _):
        assert all(line.isascii() for line in seen(app))
        assert " * Apple pie" in seen(app)[1] and "~" in seen(app)[4]


async def test_keys_move_over_headings_and_stop_at_the_ends() -> None:
    async with shown(FRUIT) as (app, pilot):
        visited = [highlighted(app)]
        for key in ("down", "j", "down", "up", "k", "k", "end", "home"):
            await pilot.press(key)
            visited.append(highlighted(app))
        assert visited == "apple pear currant currant pear apple apple currant apple".split()
        assert app.highlights == "apple pear currant pear apple currant apple".split()


async def test_pages_move_by_what_is_seen() -> None:
    async with shown(many(100)) as (app, pilot):
        page = app.list.size.height - 1
        await pilot.press("pagedown", "pagedown")
        assert highlighted(app) == f"k{2 * page}"
        await pilot.press("pageup")
        assert highlighted(app) == f"k{page}"


async def test_the_highlighted_line_is_always_in_view_with_its_heading() -> None:
    async with shown([FRUIT[0], *many(50)]) as (app, pilot):
        await pilot.press("end")
        assert seen(app)[-1].strip() == "line 49"
        await pilot.press("home")
        assert [line.strip() for line in seen(app)[:2]] == ["Trees", "line 0"]
        await pilot.press("pagedown")
        await pilot.resize_terminal(30, 6)
        await pilot.pause()
        assert app.list.highlighted
        assert app.list.highlighted.text in [line.strip() for line in seen(app)]


async def test_enter_chooses() -> None:
    async with shown(FRUIT) as (app, pilot):
        await pilot.press("down", "enter")
        assert app.chosen == ["pear"]


async def test_a_click_highlights_and_a_click_on_the_highlighted_chooses() -> None:
    async with shown(FRUIT) as (app, pilot):
        await pilot.click(app.list, offset=(5, 4))
        assert highlighted(app) == "currant" and app.chosen == []
        await pilot.click(app.list, offset=(5, 4))
        assert app.chosen == ["currant"]
        await pilot.click(app.list, offset=(5, 0))
        await pilot.click(app.list, offset=(5, 7))
        assert highlighted(app) == "currant" and app.chosen == ["currant"]


async def test_every_word_must_occur_somewhere_whatever_its_case() -> None:
    async with shown(FRUIT) as (app, _):
        assert app.list.filter("RED jelly") == 1
        assert seen(app)[0] == " Bushes" and len(seen(app)) == 2
        assert app.list.filter("confer") == 1
        assert highlighted(app) == "pear"
        assert app.list.filter("14 oct") == 1
        assert app.list.filter("trees") == 0
        assert app.list.filter("") == 3
        assert len(seen(app)) == 5


async def test_matched_words_are_bold() -> None:
    async with shown(FRUIT) as (app, _):
        app.list.filter("urr jel")
        strip = app.list.render_line(1)
        bold = [segment.text for segment in strip if segment.style and segment.style.bold]
        assert bold == ["urr", "jel"]


async def test_a_highlight_that_still_fits_stays() -> None:
    async with shown(FRUIT) as (app, pilot):
        await pilot.press("down")
        app.list.filter("p")
        assert highlighted(app) == "pear"
        app.list.filter("pie")
        assert highlighted(app) == "apple"
        app.list.filter("zzz")
        await pilot.pause()
        assert highlighted(app) is None and app.highlights[-1] is None
        await pilot.press("down", "enter")
        assert app.chosen == []


async def test_other_choices_keep_the_highlight_and_the_filter() -> None:
    async with shown(many(20)) as (app, _):
        app.list.filter("1")
        app.list.show(many(30), highlight="k12")
        assert highlighted(app) == "k12"
        assert len(seen(app)) <= 13 and seen(app)[0] == " line 1"
        app.list.show([choice for choice in many(30) if choice.key != "k12"])
        assert highlighted(app) == "k13", "the line that took its place"
        app.list.filter("")
        app.list.show(FRUIT, highlight="nowhere")
        assert highlighted(app) == "currant"


async def test_an_empty_list_teaches_and_an_empty_search_says_so() -> None:
    async with shown((), (16, 8)) as (app, _):
        assert " ".join(line.strip() for line in seen(app)) == "No fruit yet. Plant a tree."
        app.list.show(FRUIT)
        app.list.filter("zzz")
        assert " ".join(line.strip() for line in seen(app)) == NOTHING_FITS


@some(4, "width", range(4, 34))
async def test_lines_are_exactly_as_wide_as_the_list(width: int) -> None:
    wide = Choice("w", "日本語のとても長い題名👩‍👩‍👧 and more words", "12m", "★")
    async with shown([*FRUIT, wide], (width, 12)) as (app, _):
        strips = [app.list.render_line(y) for y in range(6)]
        assert {strip.cell_length for strip in strips} == {width}
        assert {cell_len(strip.text) for strip in strips} == {width}
        assert "12m" in strips[5].text or width < 20


async def test_the_note_gives_way_before_the_text_is_unreadable() -> None:
    async with shown([Choice("a", "A long title indeed", "14 Oct")], (16, 8)) as (app, _):
        assert seen(app) == [" A long title…"]


async def test_brackets_and_line_ends_of_others_are_only_text() -> None:
    hostile = "[@click=app.bell()]x[/]\n[bold]y [/"
    async with shown([Choice("a", hostile, "[b]", "")], (60, 8)) as (app, _):
        app.list.filter("[/")
        assert [line.split() for line in seen(app)] == [[*hostile.split(), "[b]"]]


async def test_the_highlight_is_strong_only_while_the_list_has_the_focus() -> None:
    async with shown(FRUIT) as (app, pilot):
        focused = app.list.render_line(1)
        app.query_one(Input).focus()
        await pilot.pause()
        blurred = app.list.render_line(1)
        plain = app.list.render_line(2)
        grounds = [
            segment.style.bgcolor
            for strip in (focused, blurred, plain)
            for segment in list(strip)[:1]
            if segment.style
        ]
        assert len(set(grounds)) == 3


async def test_ten_thousand_lines_are_drawn_only_where_seen() -> None:
    async with shown(many(10_000)) as (app, pilot):
        assert app.list.filter("999") == 19
        assert app.list.filter("") == 10_000
        await pilot.press("end")
        assert highlighted(app) == "k9999" and seen(app)[-1].strip() == "line 9999"


class Nested(Screen):
    """The list inside something that narrows it on its own account."""

    class Box(Vertical):
        """Passes a key on to the list."""

        def on_key(self) -> None:
            self.query_one(ChoiceList).filter("pear")
            self.query_one(ChoiceList).action_choose()

    def compose(self) -> ComposeResult:
        with self.Box():
            yield self.list


async def test_what_a_parent_causes_is_heard_above_it_too() -> None:
    app = Nested()
    async with app.run_test() as pilot:
        app.list.show(FRUIT)
        await pilot.press("x")
        await pilot.pause(0.02)
        assert app.highlights[-1] == "pear" and app.chosen == ["pear"]
