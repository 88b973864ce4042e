"""Whatever happened before, what is drawn is what a fresh stream of the same content draws."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from textual.pilot import Pilot

from ollm_tui.tui.stream.transcript.entry import Entry, Fold, FoldKind, Speaker
from ollm_tui.tui.stream.transcript.entry_layout import EntryLayout
from ollm_tui.tui.stream.transcript.transcript import Transcript
from tests.conftest import LONG
from tests.tui.stream.transcript.looks import LOOKS
from tests.tui.stream.transcript.screen import shown

Operation = Callable[[Transcript, Pilot[Any]], Any]
SPEAKERS: tuple[Speaker, ...] = ("user", "assistant", "note", "error")
KINDS: tuple[FoldKind, ...] = ("reasoning", "tool", "attachment", "retrieval")

texts = st.lists(
    st.sampled_from(
        (
            "word ",
            "two words",
            "\n",
            "\n\n",
            "漢字 ",
            "👩‍💻",
            "\t",
            "- item\n",
            "# Title\n",
            "x" * 90,
            "```py\ncode = 1\n",
            "```\n",
            "|a|b|\n|-|-|\n",
            "|1|2|\n",
            "> quote\n",
            "[bold]",
        )
    ),
    max_size=12,
).map("".join)
numbers = st.integers(0, 9)
steps = st.sampled_from((-3, -1, 1, 2))


def on_entry(
    change: Callable[[Transcript, str, str, int], object],
) -> st.SearchStrategy[Operation]:
    """An operation on one entry, if there is any."""

    def build(number: int, text: str, other: int) -> Operation:
        def run(transcript: Transcript, _: Pilot[Any]) -> None:
            if keys := transcript.keys:
                change(transcript, keys[number % len(keys)], text, other)

        return run

    return st.builds(build, numbers, texts, numbers)


def always(
    change: Callable[[Transcript, Any], object], values: Any
) -> st.SearchStrategy[Operation]:
    def build(value: Any) -> Operation:
        return lambda transcript, _: change(transcript, value)

    return st.builds(build, values)


def made(key: str, text: str, number: int) -> Entry:
    folds = [
        Fold(f"f{place}", KINDS[(number + place) % 4], f"title {text[:5]}", text, place == 0)
        for place in range(number % 3)
    ]
    entry = Entry(
        key, SPEAKERS[number % 4], text, "done" * (number % 2), folds=folds, details="10 tokens"
    )
    entry.growing = number % 3 == 0
    return entry


def add(transcript: Transcript, value: tuple[str, int]) -> None:
    transcript.add(made(f"k{value[1]}", *value))


def grow_fold(transcript: Transcript, key: str, text: str, number: int) -> None:
    fold = Fold(f"f{number % 2}", KINDS[number % 4], "new", is_open=number % 5 > 0)
    transcript.grow_fold(key, fold, text)


def resize(size: tuple[int, int]) -> Operation:
    return lambda _, pilot: pilot.resize_terminal(*size)


operations: st.SearchStrategy[Operation] = st.one_of(
    always(add, st.tuples(texts, numbers)),
    on_entry(lambda t, key, text, _: t.grow(key, text)),
    on_entry(lambda t, key, text, _: t.grow(key, text)),
    on_entry(grow_fold),
    on_entry(grow_fold),
    on_entry(lambda t, key, text, n: t.retitle_fold(key, f"f{n % 3}", text)),
    on_entry(lambda t, key, _, n: t.toggle_folds(key, (None, *KINDS)[n % 5])),
    on_entry(lambda t, key, text, n: t.replace(made(key, text, n))),
    on_entry(lambda t, key, _, n: t.finish(key, "end " * n, "details")),
    on_entry(lambda t, key, _, __: t.drop(key)),
    on_entry(lambda t, key, _, __: t.go_to(key)),
    on_entry(lambda t, key, _, __: t.cursor.move_to(key)),
    always(lambda t, step: t.cursor.move(step), steps),
    always(lambda t, step: t.cursor.extend(step), steps),
    always(
        lambda t, words: t.finder.search(words), st.sampled_from(("word", "o w", "漢", "", "T"))
    ),
    always(lambda t, step: t.finder.go(step), steps),
    always(lambda t, line: t.scroll_to(y=line, animate=False), st.integers(0, 60)),
    always(lambda t, _: t.go_to_end(), st.none()),
    always(lambda t, on: setattr(t, "show_details", on), st.booleans()),
    st.builds(resize, st.tuples(st.integers(1, 130), st.integers(1, 30))),
)


def fresh_layout(transcript: Transcript, entry: Entry) -> EntryLayout:
    """The same content, laid out from nothing."""
    folds = [Fold(f.key, f.kind, f.title, f.text, f.is_open) for f in entry.folds]
    copy = Entry(
        entry.key, entry.speaker, entry.text, entry.footer, folds=folds, details=entry.details
    )
    copy.growing = entry.growing
    return EntryLayout(copy, LOOKS, transcript.stack.width, transcript.show_details)


def fresh_lines(transcript: Transcript, width: int) -> list[str]:
    """Every line of the stream; what is laid out already must have the same lines."""
    lines: list[str] = []
    for place, entry in enumerate(transcript.stack.entries):
        layout = fresh_layout(transcript, entry)
        own = [
            layout.strip(line, transcript.cursor.covers(place) and line < layout.rows)
            for line in range(layout.height)
        ]
        if known := transcript.stack.known_layout(place):
            assert known.height == layout.height
            plain = [layout.plain(line) for line in range(layout.height)]
            assert [known.plain(line) for line in range(known.height)] == plain
        lines += [strip.crop_extend(0, width, None).text for strip in own]
    return lines


def check(transcript: Transcript) -> None:
    height, width = transcript.size.height, transcript.size.width
    drawn = [transcript.render_line(y) for y in range(height)]
    assert all(strip.cell_length == width for strip in drawn)
    lines = [strip.text for strip in drawn]
    every = fresh_lines(transcript, width)
    for row in range(height):
        if at := transcript.entry_at(row):
            layout = transcript.stack.known_layout(at[0])
            assert layout and transcript.stack.heights[at[0]] == layout.height
    bottom = max(transcript.stack.heights.total - height, 0)
    assert transcript.is_following == (transcript.scroll_offset.y >= bottom)
    if transcript.has_news:
        assert not transcript.is_following
        lines.pop()
    if ahead := max(transcript.scroll_offset.y - bottom, 0):
        assert bottom and transcript.stack.entries[-1].growing and ahead <= height // 3
        assert lines[-ahead:] == [" " * width] * ahead
        lines = lines[:-ahead]
        height -= ahead
    if len(every) <= height:
        assert lines == every + [" " * width] * (height - len(every))
        return
    places = [top for top in range(len(every)) if every[top : top + len(lines)] == lines]
    assert places, "what is seen stands together in the whole"
    if transcript.is_following:
        assert places[-1] + height == len(every)


async def run(chosen: list[Operation]) -> None:
    entries = [made(f"e{number}", "some words\n\n" * number, number) for number in range(4)]
    async with shown(*entries, size=(40, 16)) as (transcript, pilot):
        for operation in chosen:
            outcome = operation(transcript, pilot)
            if outcome is not None and hasattr(outcome, "__await__"):
                await outcome
            await pilot.pause()
            check(transcript)


@settings(max_examples=40 if LONG else 12)
@given(st.lists(operations, min_size=8, max_size=25))
def test_after_any_operations_the_lines_are_those_of_a_fresh_stream(
    chosen: list[Operation],
) -> None:
    asyncio.run(run(chosen))
