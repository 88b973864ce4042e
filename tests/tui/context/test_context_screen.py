"""The breakdown of the context: every key of it, with the effect shown before it is done."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.binding import Binding
from textual.pilot import Pilot
from textual.widgets import Input, Static

from ollm_tui.core.provider import Completed, TextDelta
from ollm_tui.core.session.context_marks import Marks
from ollm_tui.core.session.message import Attachment, Usage
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.providers.scripted import Script
from ollm_tui.tui.app import OllmApp
from ollm_tui.tui.compression.preview import CompressionPreview
from ollm_tui.tui.context.prompt_screen import PromptScreen
from ollm_tui.tui.context.screen import ContextScreen
from ollm_tui.tui.gauge.gauge import Gauge
from ollm_tui.tui.kit.choice_list import ChoiceList
from ollm_tui.tui.terminal.abilities import Abilities
from tests.cases import some
from tests.engine.compression.test_compression import gardener, settings
from tests.tui.conftest import OpenApp
from tests.tui.dialog_host import shown
from tests.tui.seen import chat, gauge, send, settled

STORY = "".join(
    f"A long story about many small things that happened on day {day}. " for day in range(0, 120, 3)
)
FIRST, SECOND = f"first: {STORY}", "second and short"
USAGE = Usage(
    input_tokens=900,
    output_tokens=40,
    cached_tokens=700,
    load_seconds=3.0,
    prompt_seconds=0.5,
    output_seconds=2.0,
)
SCRIPT: Script = [[TextDelta(FIRST)], [TextDelta(SECOND)]]


@asynccontextmanager
async def breakdown(
    open_app: OpenApp, size: tuple[int, int] = (100, 34)
) -> AsyncGenerator[tuple[OllmApp, Pilot[int]]]:
    """The screen over two exchanges, the long answer highlighted."""
    async with open_app(SCRIPT, size=size) as (app, pilot):
        await send(app, pilot, "one")
        await send(app, pilot, "two")
        await press(app, pilot, "f5")
        yield app, pilot


async def press(app: OllmApp, pilot: Pilot[int], *keys: str) -> None:
    await pilot.press(*keys)
    await settled(app, pilot)


def conversation(app: OllmApp) -> Conversation:
    assert app.conversation
    return app.conversation


def marks(app: OllmApp) -> list[str]:
    """The marks of all messages in the order they were said."""
    state = conversation(app).state
    kept = Marks.of(state.header.metadata)
    return [kept.mark(message.id) for message in state.branch()]


def said(app: OllmApp) -> str:
    return str(app.screen.query_one("#said", Static).content)


def lines(app: OllmApp) -> list[str]:
    """The list, line by line, in few spaces."""
    found = app.screen.query_one(ChoiceList)
    texts = [found.render_line(y).text for y in range(found.size.height)]
    return [" ".join(text.split()) for text in texts if text.strip()]


def bar(app: OllmApp) -> str:
    return app.screen.query_one(Gauge).render_line(0).text


# What it shows


async def test_the_largest_comes_first_with_its_tokens_share_and_owner(open_app: OpenApp) -> None:
    async with breakdown(open_app) as (app, _):
        assert isinstance(app.screen, ContextScreen)
        first = lines(app)[0]
        assert "first: A long story" in first and first.endswith("model")
        tokens = [int(line.split()[0].strip("≈").replace(",", "")) for line in lines(app)]
        assert tokens == sorted(tokens, reverse=True)
        assert sum(tokens) == conversation(app).context().count.tokens
        assert "of 8.2k" in bar(app)
        assert "answers" in shown(app).splitlines()[3], "the legend"


@pytest.mark.more
async def test_o_changes_to_the_order_of_the_conversation_and_back(open_app: OpenApp) -> None:
    async with breakdown(open_app) as (app, pilot):
        await press(app, pilot, "o")
        assert [line.split("%")[1].split()[0] for line in lines(app)] == [
            "system",
            "one",
            "first:",
            "two",
            "second",
        ]
        await press(app, pilot, "o")
        assert "first: A long story" in lines(app)[0]


async def test_behind_it_are_goal_mode_model_window_cache_and_speed(open_app: OpenApp) -> None:
    script = [[TextDelta("hello"), Completed(finish="stop", usage=USAGE)]]
    async with open_app(script, size=(100, 34)) as (app, pilot):
        await send(app, pilot, "hi")
        goals = conversation(app).goals
        await goals.set_goal("ship [b]it[/b]")
        await goals.add_subtask("write the test")
        await goals.decide("tabs", "the linter", locked=True)
        await conversation(app).notes.add("style", "short words")
        await conversation(app).change_mode("reviewer")
        await press(app, pilot, "f5")
        seen = shown(app)
        joined = " ".join(seen.split())
        assert "ship [b]it[/b] · 0 of 1 step done" in seen
        assert "to do    1. write the test" in seen
        assert "decided  1. tabs because the linter" in seen
        assert "note     style: short words" in seen
        assert "mode     reviewer · You review." in seen
        assert "model    scripted · scripted · window 8,192" in seen
        assert "cached   700 of 900 tokens cached" in seen
        assert "mostly loading the model: loaded in 3.0 s; read 200 in 0.5 s, 400 tok/s" in joined
        assert "wrote 40 in 2.0 s, 20 tok/s" in joined


@pytest.mark.more
async def test_every_answer_says_why_it_was_slow(open_app: OpenApp) -> None:
    done = Completed(finish="stop", usage=USAGE)
    async with open_app([[TextDelta(FIRST), done], [TextDelta("brief")]]) as (app, pilot):
        await send(app, pilot, "one")
        await send(app, pilot, "two")
        await press(app, pilot, "f5", "o", "home", "down", "down")
        about = str(app.screen.query_one("#about", Static).content)
        assert about.startswith("700 of 900 tokens cached   mostly loading the model")


@some(1, ("columns", "marks"), ((60, False), (80, True), (120, True)))
async def test_the_legend_names_the_marks_where_there_is_a_bar(
    open_app: OpenApp, columns: int, marks: bool
) -> None:
    async with breakdown(open_app, (columns, 24)) as (app, _):
        legend = str(app.screen.query_one("#legend", Static).content)
        assert "▁ for the answer 1.2k" in legend and "░ free" in legend
        assert ("│ compresses at 5.6k" in legend, "┊ snapshot at 5.9k" in legend) == (marks, marks)
        assert max(map(len, legend.splitlines())) <= columns - 2
        seen = shown(app)
        assert all(line in seen for line in legend.splitlines()), "nothing of it is cut off"


async def test_an_empty_conversation_teaches(open_app: OpenApp) -> None:
    async with open_app(size=(60, 20)) as (app, pilot):
        await press(app, pilot, "f5")
        seen = shown(app)
        assert "No messages yet." in seen and "pin, exclude or fold" in seen
        assert "none · /goal" in seen and "speed" not in seen
        assert "Esc close" in seen


async def test_attachments_of_the_highlighted_message_are_shown_with_their_cost(
    open_app: OpenApp,
) -> None:
    async with open_app([[TextDelta("yes")]], size=(100, 34)) as (app, pilot):
        paste = Attachment("log\x1b[31m", "text/plain", "503 " * 500)
        async for _ in conversation(app).send("look", [paste]):
            pass
        await press(app, pilot, "f5", "home")
        about = str(app.screen.query_one("#about", Static).content)
        assert about.startswith("attached: log ")
        assert int(about.split()[-1].strip("≈").replace(",", "")) >= 450


@some(2, "size", [(60, 20), (80, 24), (120, 40), (300, 100)])
async def test_it_fits_every_terminal(open_app: OpenApp, size: tuple[int, int]) -> None:
    async with breakdown(open_app, size) as (app, _):
        seen = shown(app)
        assert len(lines(app)) == 5
        assert "of 8.2k" in bar(app) or "/8.2k" in bar(app)
        assert "goal" in seen and "Esc close" in seen and "p pin" in seen


async def test_foreign_words_are_shown_as_they_are(open_app: OpenApp) -> None:
    async with open_app([[TextDelta("[b]not bold[/b] [@click=app.quit]x")]]) as (app, pilot):
        await send(app, pilot, "hi")
        await press(app, pilot, "f5")
        assert "[b]not bold[/b] [@click=app.quit]x" in shown(app)


@pytest.mark.more
async def test_ascii_terminals_get_ascii_marks(open_app: OpenApp) -> None:
    async with open_app(SCRIPT, abilities=Abilities(unicode=False, colours=None)) as (app, pilot):
        await send(app, pilot, "one")
        await press(app, pilot, "f5")
        for key, mark in (("p", "*"), ("x", "x"), ("f", ">")):
            await press(app, pilot, key, key)
            assert lines(app)[0 if key != "x" else -1].split("%")[1].split()[0] == mark


# Changing


@some(
    2,
    ("key", "word", "after", "reverse"),
    [
        ("p", "pin", ["", "pinned", "", ""], "unpin"),
        ("x", "exclude", ["", "excluded", "", ""], "include"),
        ("f", "fold", ["", "folded", "", ""], "unfold"),
    ],
)
async def test_a_key_shows_its_effect_and_again_does_it_and_then_the_reverse(
    open_app: OpenApp, key: str, word: str, after: list[str], reverse: str
) -> None:
    async with breakdown(open_app) as (app, pilot):
        await press(app, pilot, key)
        assert said(app).startswith(f"{word}: ") and "%" in said(app)
        assert marks(app) == [""] * 4, "nothing is done yet"
        assert "preview" in bar(app)
        assert f"{key} again to confirm" in shown(app) and "Esc cancel" in shown(app)
        await press(app, pilot, key)
        assert marks(app) == after
        assert said(app).startswith(f"Done   {word}: ")
        assert "preview" not in bar(app)
        assert f"{key} {reverse}" in shown(app)
        await press(app, pilot, key, key)
        assert marks(app) == [""] * 4
        assert said(app).startswith(f"Done   {reverse}: ")


async def test_the_preview_says_what_comes_of_it(open_app: OpenApp) -> None:
    async with breakdown(open_app) as (app, pilot):
        before = conversation(app).context()
        await press(app, pilot, "f")
        promised, previewed = said(app), bar(app).replace("preview", "").rstrip()
        await press(app, pilot, "f")
        now = conversation(app).context()
        assert now.count.tokens < before.count.tokens
        assert before.budget.room and now.budget.room
        percents = f"{before.budget.room.percent} % → {now.budget.room.percent} %"
        assert promised.endswith(percents)
        assert previewed.split("of 8.2k")[1] == bar(app).rstrip().split("of 8.2k")[1]


async def test_d_leaves_out_the_exchange(open_app: OpenApp) -> None:
    async with breakdown(open_app) as (app, pilot):
        await press(app, pilot, "d")
        assert said(app).startswith("exclude the exchange (2 messages): ")
        await press(app, pilot, "d")
        assert marks(app) == ["excluded", "excluded", "", ""]


async def test_a_shows_what_compacting_above_would_do_and_enter_does_it(open_app: OpenApp) -> None:
    async with open_app(gardener(), size=(120, 40), settings=settings(enabled=False)) as found:
        app, pilot = found
        for number in range(6):
            await send(app, pilot, f"{number}. Which soil should I take for the beds?")
        branch = [message.id for message in conversation(app).state.branch()]
        before = conversation(app).prompt_json()
        await press(app, pilot, "f5", "o", "home", *["down"] * 5, "a")
        assert isinstance(app.screen, CompressionPreview)
        assert conversation(app).prompt_json() == before, "nothing is done yet"
        await press(app, pilot, "enter")
        [done] = conversation(app).compression.history
        assert done.above == branch[4] and set(done.folded) == {branch[1], branch[3]}
        assert app.screen is chat(app) and not chat(app).chat.is_busy
        await press(app, pilot, "f5")
        tokens = f"{done.before_tokens:,} → {done.after_tokens:,} tokens"
        assert "context  compressed once, last " in shown(app) and tokens in shown(app)


@pytest.mark.more
async def test_a_needs_something_above(open_app: OpenApp) -> None:
    async with breakdown(open_app) as (app, pilot):
        await press(app, pilot, "o", "home", "a")
        assert said(app) == "Select a message to compress everything above it"
        await press(app, pilot, "down", "a")
        assert said(app) == "Nothing above this message"
        assert isinstance(app.screen, ContextScreen)


async def test_u_takes_back_one_change_after_the_other(open_app: OpenApp) -> None:
    async with breakdown(open_app) as (app, pilot):
        assert "u undo" not in shown(app)
        await press(app, pilot, "f", "f")
        await press(app, pilot, "p", "p")
        assert marks(app)[1] == "pinned" and "u undo" in shown(app)
        await press(app, pilot, "u")
        assert marks(app)[1] == "folded" and said(app).startswith("undone: ")
        await press(app, pilot, "u")
        assert marks(app)[1] == "" and "u undo" not in shown(app)
        await press(app, pilot, "u")
        assert marks(app) == [""] * 4


@some(1, "other", ["escape", "j"])
async def test_escape_and_moving_on_leave_it_undone(open_app: OpenApp, other: str) -> None:
    async with breakdown(open_app) as (app, pilot):
        before = bar(app)
        await press(app, pilot, "f", other)
        assert isinstance(app.screen, ContextScreen)
        assert said(app) == "" and bar(app) == before
        assert "again to confirm" not in shown(app)
        await press(app, pilot, "home", "f")
        assert marks(app) == [""] * 4, "the second press was not the same"


@pytest.mark.more
async def test_another_key_shows_another_effect(open_app: OpenApp) -> None:
    async with breakdown(open_app) as (app, pilot):
        await press(app, pilot, "f", "x")
        assert said(app).startswith("exclude: ") and marks(app) == [""] * 4


@pytest.mark.more
async def test_what_is_always_sent_cannot_be_changed(open_app: OpenApp) -> None:
    async with breakdown(open_app) as (app, pilot):
        await press(app, pilot, "o", "home", "x", "x")
        assert "Always sent" in said(app)
        await press(app, pilot, "enter")
        assert isinstance(app.screen, ContextScreen) and "Not a message" in said(app)


@pytest.mark.more
async def test_a_change_that_changes_nothing_says_so(open_app: OpenApp) -> None:
    async with breakdown(open_app) as (app, pilot):
        await press(app, pilot, "d", "d", "d")
        assert said(app) == "Nothing to change here"


async def test_while_the_model_answers_nothing_is_changed(open_app: OpenApp) -> None:
    free = asyncio.Event()
    script: Script = [[TextDelta("one")], [TextDelta("two"), free]]
    async with open_app(script, size=(100, 34)) as (app, pilot):
        await send(app, pilot, "a")
        await pilot.press("b", "enter")
        while "two" not in str(chat(app).transcript.entry(chat(app).transcript.keys[-1]).text):
            await pilot.pause(0.02)
        await pilot.press("f5", "o", "down", "x", "x")
        await pilot.pause()
        assert "Still answering" in said(app) and "excluded" not in marks(app)
        assert any("being written" in line for line in lines(app))
        free.set()
        await settled(app, pilot)
        await press(app, pilot, "x", "x")
        assert "excluded" in marks(app)


# The prompt


async def test_v_shows_the_prompt_as_it_would_be_sent(open_app: OpenApp) -> None:
    async with breakdown(open_app, (80, 24)) as (app, pilot):
        await press(app, pilot, "v")
        assert isinstance(app.screen, PromptScreen)
        assert "── system ──" in shown(app) and "first: A long story" in shown(app)
        await press(app, pilot, "G")
        assert "second and short" in shown(app) and "── system ──" not in shown(app)
        for down, up in (("j", "k"), ("pagedown", "pageup"), ("end", "home")):
            await press(app, pilot, "g")
            top = shown(app)
            await press(app, pilot, down)
            assert shown(app) != top
            await press(app, pilot, up)
            assert shown(app) == top
        await press(app, pilot, "escape")
        assert isinstance(app.screen, ContextScreen)


async def test_the_prompt_shows_what_is_hidden_in_it(open_app: OpenApp) -> None:
    async with open_app([[TextDelta("see\u200bing [b]x[/b]")]]) as (app, pilot):
        await send(app, pilot, "hi")
        await press(app, pilot, "f5", "v")
        assert "see⟨U+200B⟩ing [b]x[/b]" in shown(app)


@some(1, "ending", ["txt", "json"])
async def test_e_writes_the_prompt_into_a_new_file(open_app: OpenApp, ending: str) -> None:
    async with breakdown(open_app) as (app, pilot):
        for number in (1, 2):
            await press(app, pilot, "e")
            app.screen.query_one(Input).value = f"prompt.{ending}"
            await press(app, pilot, "enter")
            if number == 1:
                assert said(app).startswith("Exported to ")
        assert "already exists" in said(app)
        text = Path(f"prompt.{ending}").read_text(encoding="utf-8")
        if ending == "json":
            assert [message["role"] for message in json.loads(text)["messages"]] == [
                "system",
                *("user", "assistant") * 2,
            ]
        else:
            assert text == conversation(app).prompt_text() + "\n"


@pytest.mark.more
async def test_without_a_name_nothing_is_written(open_app: OpenApp) -> None:
    async with breakdown(open_app) as (app, pilot):
        await press(app, pilot, "e", "escape")
        assert isinstance(app.screen, ContextScreen) and not list(Path().iterdir())


# Leaving


async def test_enter_goes_to_the_message_in_the_stream(open_app: OpenApp) -> None:
    async with breakdown(open_app) as (app, pilot):
        await press(app, pilot, "enter")
        assert app.screen is chat(app) and app.focused is chat(app).transcript
        assert chat(app).transcript.cursor.key == chat(app).transcript.keys[1]


@some(1, "key", ["escape", "f5"])
async def test_it_closes_and_the_gauge_of_the_chat_knows_what_changed(
    open_app: OpenApp, key: str
) -> None:
    async with breakdown(open_app) as (app, pilot):
        before = gauge(app)
        await press(app, pilot, "x", "x", key)
        assert app.screen is chat(app)
        assert gauge(app) != before


@pytest.mark.more
async def test_i_shows_the_facts_on_the_whole_screen(open_app: OpenApp) -> None:
    async with breakdown(open_app, (60, 20)) as (app, pilot):
        for number in range(30):
            await conversation(app).notes.add(f"note {number:02}", "words")
        await press(app, pilot, "i")
        assert not app.screen.query_one(ChoiceList).display
        assert "p pin" not in shown(app) and "i list  v" in shown(app) and "Esc back" in shown(app)
        await press(app, pilot, "x", "x")
        assert marks(app) == [""] * 4, "what is not seen is not changed"
        await press(app, pilot, "escape")
        assert app.screen.query_one(ChoiceList).has_focus and "p pin" in shown(app)
        await press(app, pilot, "p", "escape", "i", "end")
        assert "note 29" in shown(app)


@pytest.mark.more
async def test_facts_that_are_all_seen_have_no_page_of_their_own(open_app: OpenApp) -> None:
    async with breakdown(open_app, (100, 40)) as (app, pilot):
        assert "i facts" not in shown(app) and "model" in shown(app)
        await press(app, pilot, "i")
        assert app.screen.query_one(ChoiceList).display
        for number in range(30):
            await conversation(app).notes.add(f"note {number:02}", "words")
        await press(app, pilot, "i")
        assert not app.screen.query_one(ChoiceList).display


def test_every_binding_has_an_id_and_a_tooltip() -> None:
    for screen in (ContextScreen, PromptScreen):
        for binding in screen.BINDINGS:
            assert isinstance(binding, Binding) and binding.id and binding.tooltip
