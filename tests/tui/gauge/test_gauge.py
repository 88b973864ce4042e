"""The gauge: what it says in every state and width, cell by cell, and while a reply is written."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.app import App, ComposeResult

from ollm_tui.core.session.message import Message, Text
from ollm_tui.engine.context.budget import Budget, Room
from ollm_tui.engine.context.context_view import ContextView
from ollm_tui.engine.context.prompt_assembly import assemble
from ollm_tui.providers.scripted import Scripted
from ollm_tui.services.tokens.counter import TokenCounters
from ollm_tui.services.tokens.prompt_count import GROUPS, Count, Parts, PromptCount, Source
from ollm_tui.tui.gauge.gauge import Gauge
from ollm_tui.tui.gauge.gauge_bar import (
    ASCII,
    EIGHTHS,
    MARKS,
    WITHOUT_COLOUR,
    bar,
    share_cells,
)
from ollm_tui.tui.gauge.gauge_line import Reading, bar_width, gauge_line
from ollm_tui.tui.themes import load_theme
from tests.cases import every, some

CALM = Parts(system=500, checkpoints=900, user=900, assistant=1900, tools=100)
NEAR = Parts(system=300, user=1900, assistant=3000)
FULL = Parts(system=300, user=1900, assistant=4300)
OVER = Parts(system=300, user=1900, assistant=5300)
ALARM = "the server read 2,048 of 4,300 tokens"
WIDTHS = {60: 58, 80: 78, 120: 118}
"""What the chat screen's margins leave of a terminal."""


def view(parts: Parts, window: int | None = 8192, source: Source = "estimated") -> ContextView:
    """A context with these parts, after two exchanges."""
    said = [("user", "word " * 300), ("assistant", "word " * 150)] * 2
    branch = [
        Message(f"m{n}", "user" if role == "user" else "assistant", (Text(text),), "")
        for n, (role, text) in enumerate(said)
    ]
    counter = TokenCounters(None).counter(Scripted(), "scripted")
    budget = Budget.of(window, parts)
    return ContextView(PromptCount(parts, source), budget, assemble((), branch).frozen(), counter)


class Drawn(Gauge):
    """Notes how often it asked to be drawn."""

    def __init__(self, *, unicode: bool = True) -> None:
        super().__init__(unicode=unicode)
        self.asked = 0

    def refresh(self, *regions: Any, **options: Any) -> Drawn:
        self.asked += 1
        super().refresh(*regions, **options)
        return self


class Host(App[None]):
    """A gauge and nothing else."""

    CSS = "Gauge { margin: 0 1; }"

    def __init__(self, *, unicode: bool = True) -> None:
        super().__init__()
        self.gauge = Drawn(unicode=unicode)
        self.clicks = 0
        theme = load_theme("dark")
        self.register_theme(theme)
        self.theme = theme.name

    def compose(self) -> ComposeResult:
        yield self.gauge

    def on_gauge_clicked(self) -> None:
        self.clicks += 1

    @property
    def text(self) -> str:
        return self.gauge.render_line(0).text.rstrip()


STATES: dict[str, tuple[Parts, int | None, Source]] = {
    "calm": (CALM, 8192, "estimated"),
    "measured": (CALM, 8192, "measured"),
    "near": (NEAR, 8192, "exact"),
    "over": (OVER, 8192, "estimated"),
    "unknown": (CALM, None, "estimated"),
    "alarm": (CALM, 8192, "measured"),
    "empty": (Parts(system=40), 8192, "exact"),
    "nothing": (Parts(), 8192, "estimated"),
}
LINES = {
    ("calm", 60): ("▓▏▒▎█▍███▊░░░│┊░▁▁▁", "≈52 % of 8.2k"),
    ("calm", 80): ("▓▋▒▒▌██▎█████▋░░░░│┊░░▁▁▁▁", "52 %  ≈4.3k/8.2k"),
    ("calm", 120): (
        "▓▓▓▋▒▒▒▒▒▒▏█████▋█████████████▎░░░░░░░░░░░│┊░░░░░░▁▁▁▁▁▁▁▁▁",
        "≈4.3k of 8.2k",
    ),
    ("measured", 60): ("▓▏▒▎█▍███▊░░░│┊░▁▁▁", "52 % of 8.2k"),
    ("measured", 80): ("▓▋▒▒▌██▎█████▋░░░░│┊░░▁▁▁▁", "52 %  4.3k/8.2k"),
    ("measured", 120): (
        "▓▓▓▋▒▒▒▒▒▒▏█████▋█████████████▎░░░░░░░░░░░│┊░░░░░░▁▁▁▁▁▁▁▁▁",
        "4.3k of 8.2k",
    ),
    ("near", 60): ("▊████▏██████░│┊░▁▁▁", "63 % of 8.2k  full at 7.0k"),
    ("near", 80): (
        "▓███████████████▌│┊░░░▁▁▁▁",
        "63 %  5.2k/8.2k  full at 7.0k · about 2 exchanges",
    ),
    ("near", 120): (
        "▓▓▏████████████▉█████████████████████▌░░│░┊░░░░░░░▁▁▁▁▁▁▁▁▁",
        "5.2k of 8.2k  full at 7.0k · about 2 exchanges",
    ),
    ("over", 60): ("▊████▏███████│┊██▍▁", "≈91 % of 8.2k  too long: 7.0k fit"),
    ("over", 80): ("▓████████████████│┊████▊▁▁", "91 %  ≈7.5k/8.2k  too long: 7.0k fit"),
    ("over", 120): (
        "▓▓▏████████████▉████████████████████████│█┊███████████▁▁▁▁▁",
        "≈7.5k of 8.2k  too long: 7.0k fit",
    ),
    ("unknown", 60): ("", "≈4.3k tokens  window size unknown"),
    ("unknown", 80): ("", "≈4.3k tokens  window size unknown"),
    ("unknown", 120): ("", "≈4.3k tokens  window size unknown"),
    ("alarm", 60): ("▓▏▒▎█▍███▊░░░│┊░▁▁▁", "ALARM: the server read 2,048 of 4,300…"),
    ("alarm", 80): ("▓▋▒▒▌██▎█████▋░░░░│┊░░▁▁▁▁", "ALARM: the server read 2,048 of 4,300 tokens"),
    ("alarm", 120): (
        "▓▓▓▋▒▒▒▒▒▒▏█████▋█████████████▎░░░░░░░░░░░│┊░░░░░░▁▁▁▁▁▁▁▁▁",
        "4.3k of 8.2k  ALARM: the server read 2,048 of 4,300 tokens",
    ),
    ("empty", 60): ("▏░░░░░░░░░░░│┊░░▁▁▁", "0 % of 8.2k"),
    ("empty", 80): ("▏░░░░░░░░░░░░░░░░│┊░░░▁▁▁▁", "0 %  40/8.2k"),
    ("empty", 120): ("▎░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░│░┊░░░░░░░▁▁▁▁▁▁▁▁▁", "40 of 8.2k"),
    ("nothing", 60): ("░░░░░░░░░░░░│┊░░▁▁▁", "0 % of 8.2k"),
    ("nothing", 80): ("░░░░░░░░░░░░░░░░░│┊░░░▁▁▁▁", "0 %  0/8.2k"),
    ("nothing", 120): (
        "░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░│░┊░░░░░░░▁▁▁▁▁▁▁▁▁",
        "0 of 8.2k",
    ),
}
"""The bar, and what stands beside it."""


@some(8, ("state", "columns"), LINES, ids=lambda value: str(value))
async def test_the_gauge_in_every_state_at_every_width(state: str, columns: int) -> None:
    app = Host()
    async with app.run_test(size=(columns, 3)) as pilot:
        app.gauge.show(view(*STATES[state]))
        if state == "alarm":
            app.gauge.alarm(ALARM)
        await pilot.pause()
        assert app.gauge.size.width == WIDTHS[columns]
        assert app.text == " ".join(LINES[state, columns]).lstrip()


def test_every_state_has_a_line_for_every_width() -> None:
    assert set(LINES) == {(state, columns) for state in STATES for columns in WIDTHS}


# The cells


@given(st.lists(st.integers(0, 1_000_000), max_size=12), st.integers(0, 300))
def test_cells_add_up_and_nothing_that_is_there_is_lost(tokens: list[int], width: int) -> None:
    cells = share_cells(tokens, width)
    there = [number for number in tokens if number]
    assert sum(cells) == (width if there else 0)
    assert all(count == 0 for count, number in zip(cells, tokens, strict=True) if not number)
    if width >= len(there):
        assert all(count >= 1 for count, number in zip(cells, tokens, strict=True) if number)


counts = st.integers(0, 20_000)
some_parts = st.builds(
    Parts, system=counts, checkpoints=counts, user=counts, assistant=counts, tools=counts
)


@given(some_parts, st.integers(2048, 1_000_000), st.integers(11, 300))
def test_the_bar_is_in_proportion_to_the_eighth_of_a_cell(
    parts: Parts, window: int, width: int
) -> None:
    cells = bar(parts, known_room(window, parts), width)
    assert len(cells) == width
    # A mark hides a cell; what is behind it says whether that is used.
    used = 0
    for cell in cells:
        kind = cell.rest if cell.kind in MARKS else cell.kind
        if kind in GROUPS:
            used += EIGHTHS if cell.rest in GROUPS else cell.eighths
    exact = parts.total * width * EIGHTHS / max(window, parts.total)
    parts_there = sum(bool(getattr(parts, group)) for group in GROUPS)
    # Each part that is there has an eighth, and a mark may stand on a cell that is partly used.
    assert abs(used - exact) <= max(0.5, parts_there) + EIGHTHS * sum(
        cell.kind in MARKS and cell.rest in GROUPS for cell in cells
    )


@every("columns", [58, 78, 118, 198])
@every("percent", [0, 1, 7, 35, 62, 85, 99])
def test_every_percentage_has_its_own_length(columns: int, percent: int) -> None:
    window = 16_000
    parts = Parts(user=window * percent // 100)
    width = bar_width(columns)
    cells = bar(parts, known_room(window, parts), width)
    hidden = sum(cell.kind in MARKS and cell.rest == "user" for cell in cells)
    drawn = sum(cell.eighths for cell in cells if cell.kind == "user") + hidden * EIGHTHS
    assert abs(drawn - round(width * EIGHTHS * percent / 100)) <= bool(hidden) * EIGHTHS


@given(some_parts, st.integers(2048, 1_000_000), st.integers(30, 300))
def test_marks_stand_where_their_tokens_are_and_move_nothing(
    parts: Parts, window: int, width: int
) -> None:
    room = known_room(window, parts)
    cells = bar(parts, room, width)
    whole = max(window, parts.total)
    kinds = [cell.kind for cell in cells]
    assert abs(kinds.index("snapshot") - room.snapshot * width // whole) <= 1
    trigger = min(parts.fixed + room.trigger, room.limit)
    assert abs(kinds.index("trigger") - trigger * width // whole) <= 1


@given(some_parts, some_parts, st.integers(40, 300))
def test_the_width_of_the_bar_depends_on_the_line_only(
    one: Parts, other: Parts, width: int
) -> None:
    for parts in (one, other):
        line = gauge_line(Reading.of(view(parts, 16_384), "31 tok/s"), width)
        assert len(line.bar) == bar_width(width)


def known_room(window: int, parts: Parts) -> Room:
    room = Budget.of(window, parts).room
    assert room
    return room


# Live


async def test_a_reply_grows_the_models_part_and_the_numbers() -> None:
    app = Host()
    async with app.run_test(size=(120, 3)) as pilot:
        app.gauge.show(view(Parts(system=500, user=500), source="exact"))
        await pilot.pause()
        before = app.text
        app.gauge.show_live(Count(5000, "estimated"))
        await pilot.pause()
        assert "≈5.0k of 8.2k" in app.text
        assert app.text.count("█") > before.count("█")
        app.gauge.show(view(Parts(system=500, user=500), source="exact"))
        await pilot.pause()
        assert app.text == before


async def test_words_that_change_nothing_of_the_picture_draw_nothing() -> None:
    app = Host()
    async with app.run_test(size=(120, 3)) as pilot:
        app.gauge.show(view(Parts(user=4000, assistant=1000)))
        await pilot.pause()
        asked = app.gauge.asked
        for tokens in range(5001, 5006):
            app.gauge.show_live(Count(tokens, "estimated"))
        assert app.gauge.asked == asked
        app.gauge.show_live(Count(6000, "estimated"))
        assert app.gauge.asked == asked + 1


async def test_a_reply_that_reaches_into_its_reserve_is_not_too_long() -> None:
    app = Host()
    async with app.run_test(size=(120, 3)) as pilot:
        app.gauge.show(view(Parts(user=6000), source="exact"))
        app.gauge.show_live(Count(7500, "exact"))
        await pilot.pause()
        assert "7.5k of 8.2k" in app.text and "too long" not in app.text


async def test_below_sixty_percent_it_is_quiet_and_says_two_numbers() -> None:
    app = Host()
    async with app.run_test(size=(120, 3)) as pilot:
        app.gauge.show(view(CALM), "20 tok/s")
        await pilot.pause()
        quiet = app.gauge.render_line(0)
        assert app.text.endswith(" ≈4.3k of 8.2k")
        app.gauge.show(view(NEAR), "20 tok/s")
        await pilot.pause()
        loud = app.gauge.render_line(0)
        # The model's part has its own colour only now.
        colours = [next(iter(line)).style for line in (quiet, loud)]
        assert colours[0] and colours[1] and colours[0].color != colours[1].color


async def test_before_a_context_is_shown_nothing_is_said() -> None:
    app = Host()
    async with app.run_test(size=(80, 3)) as pilot:
        app.gauge.show_live(Count(5, "exact"))
        app.gauge.alarm("too early")
        await pilot.pause()
        assert app.text == ""


async def test_an_alarm_stays_until_it_is_taken_back() -> None:
    app = Host()
    async with app.run_test(size=(120, 3)) as pilot:
        app.gauge.show(view(NEAR))
        app.gauge.alarm(ALARM)
        app.gauge.show(view(NEAR))
        app.gauge.show_live(Count(5300, "estimated"))
        await pilot.pause()
        assert f"ALARM: {ALARM}" in app.text
        app.gauge.alarm("")
        await pilot.pause()
        assert "ALARM" not in app.text and "full at 7.0k" in app.text


# Looks


async def test_ascii_is_enough() -> None:
    app = Host(unicode=False)
    async with app.run_test(size=(120, 3)) as pilot:
        app.gauge.show(view(CALM, source="exact"))
        await pilot.pause()
        assert app.text.isascii()
        assert set(ASCII.values()) <= set(app.text)


async def test_without_colours_every_segment_has_a_character_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = Host()
    async with app.run_test(size=(120, 3)) as pilot:
        app.gauge.show(view(CALM))
        await pilot.pause()
        assert len(set(WITHOUT_COLOUR.values())) == len(WITHOUT_COLOUR)
        assert set(WITHOUT_COLOUR.values()) <= set(app.text)


@pytest.mark.parametrize(
    ("state", "look"),
    [("near", "words"), ("full", "near"), ("over", "over"), ("alarm", "over")],
)
async def test_the_colour_of_the_words_says_how_urgent_it_is(state: str, look: str) -> None:
    app = Host()
    async with app.run_test(size=(120, 3)) as pilot:
        app.gauge.show(view(FULL) if state == "full" else view(*STATES[state]))
        app.gauge.alarm(ALARM if state == "alarm" else "")
        await pilot.pause()
        looks = {name: app.gauge.style_of(name).color for name in ("words", "near", "over")}
        assert len(set(looks.values())) == len(looks)
        words = next(part for part in app.gauge.render_line(0) if part.text.startswith("  "))
        assert words.style and words.style.color == looks[look]


async def test_a_note_is_shown_where_there_is_room_and_never_steers_the_terminal() -> None:
    app = Host()
    async with app.run_test(size=(160, 3)) as pilot:
        app.gauge.show(view(NEAR), "20 tok/s\x1b[31m")
        await pilot.pause()
        assert "20 tok/s␛[31m" in app.text
        await pilot.resize_terminal(60, 3)
        await pilot.pause()
        assert "tok/s" not in app.text


async def test_a_click_asks_for_more() -> None:
    app = Host()
    async with app.run_test(size=(80, 3)) as pilot:
        app.gauge.show(view(CALM))
        await pilot.click(Gauge)
        assert app.clicks == 1


@some(2, "columns", [20, 40, 69, 72, 99, 300])
@pytest.mark.parametrize("state", STATES)
async def test_no_width_is_too_small_or_too_large(state: str, columns: int) -> None:
    app = Host()
    async with app.run_test(size=(columns, 3)) as pilot:
        app.gauge.show(view(*STATES[state]), "20 tok/s")
        app.gauge.alarm(ALARM if state == "alarm" else "")
        await pilot.pause()
        assert app.gauge.render_line(0).cell_length == columns - 2
        assert app.text
