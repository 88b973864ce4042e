"""Comparing models on the screen: columns or tabs, going on, a diff, votes, and how it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widgets import Static

from ollm_tui.core.errors import Unavailable
from ollm_tui.core.provider import Capabilities, ChatRequest, ModelInfo, TextDelta
from ollm_tui.core.session.message import Message
from ollm_tui.providers.scripted import Scripted, Turn
from ollm_tui.tui.app import OllmApp
from ollm_tui.tui.compare.answer_column import AnswerColumn
from ollm_tui.tui.compare.answer_diff import AnswerDiffScreen, answer_diff
from ollm_tui.tui.compare.screen import ComparisonScreen
from ollm_tui.tui.kit.diff_lines import DiffLines, TonedLine
from ollm_tui.tui.kit.live_keys import LiveKeys
from ollm_tui.tui.search.activity import ActivityScreen
from tests.tui.conftest import OpenApp
from tests.tui.seen import chat, send, settled, state, stream
from tests.tui.typing_in import type_in

ANSWERS: Mapping[str, str] = {
    "scripted": "The sky is blue. So it is.",
    "small": "Air scatters blue light. So it is.",
    "large": "Rayleigh scattering favours blue.",
}


class Models(Scripted):
    """A server elsewhere with three models; an answer may be held back, or fail."""

    def __init__(self, held: Mapping[str, asyncio.Event] | None = None) -> None:
        super().__init__(self._made)
        self._held = held or {}

    def _made(self, request: ChatRequest) -> Turn:
        if request.model == "broken":
            return [Unavailable("the server is gone", "start it again")]
        words = [TextDelta(ANSWERS[request.model])]
        held = self._held.get(request.model)
        return [TextDelta("First. "), held, *words] if held else words

    async def list_models(self) -> tuple[ModelInfo, ...]:
        return tuple(ModelInfo(name=name) for name in (*ANSWERS, "broken"))

    async def capabilities(self, model: str) -> Capabilities:
        return Capabilities(window=8192, tools=False)

    async def remote_host(self, model: str) -> str | None:
        return "models.example"


def columns(app: OllmApp) -> list[AnswerColumn]:
    return list(app.screen.query(AnswerColumn))


def keys_shown(app: OllmApp) -> str:
    return "  ".join(app.screen.query_one(LiveKeys).hints)


async def compared(app: OllmApp, pilot: Pilot[int], command: str) -> ComparisonScreen:
    """The screen of a comparison that was asked for."""
    await type_in(pilot, command)
    await pilot.press("enter")
    while not isinstance(app.screen, ComparisonScreen):
        await pilot.pause(0.01)
    return app.screen


async def ended(app: OllmApp, pilot: Pilot[int]) -> None:
    while any(column.is_arriving for column in columns(app)):
        await pilot.pause(0.01)
    await pilot.pause()


def answers_to(app: OllmApp) -> tuple[Message, ...]:
    """All answers to the first message."""
    recorded = chat(app).chat.conversation.state
    return recorded.children(recorded.branch()[0].id)


async def until_chat(app: OllmApp, pilot: Pilot[int]) -> None:
    while isinstance(app.screen, ComparisonScreen):
        await pilot.pause(0.01)
    await settled(app, pilot)


async def test_answers_stand_side_by_side_and_enter_goes_on_from_one(open_app: OpenApp) -> None:
    async with open_app(Models(), size=(130, 30)) as (app, pilot):
        await send(app, pilot, "Why?")
        screen = await compared(app, pilot, "/compare small large")
        await ended(app, pilot)
        assert [column.text for column in columns(app)] == list(ANSWERS.values())
        assert not screen.has_class("-tabs")
        assert all("tokens" in column.facts for column in columns(app))
        await pilot.press("right", "enter")
        await until_chat(app, pilot)
        conversation = chat(app).chat.conversation
        assert conversation.state.branch()[-1].text == ANSWERS["small"]
        assert "/3 ›" in " ".join(stream(app))
        await send(app, pilot, "And at night?")
        assert [m.text for m in conversation.state.branch()][1] == ANSWERS["small"]


async def test_a_narrow_terminal_shows_one_answer_at_a_time(open_app: OpenApp) -> None:
    async with open_app(Models()) as (app, pilot):
        await send(app, pilot, "Why?")
        screen = await compared(app, pilot, "/compare small large")
        await ended(app, pilot)
        assert screen.has_class("-tabs")
        assert [column.display for column in columns(app)] == [True, False, False]
        await pilot.press("left")
        assert [column.display for column in columns(app)] == [False, False, True]
        assert "large" in str(app.screen.query_one("#tabs", Static).content)


async def test_a_failure_is_told_in_its_column_and_the_others_go_on(open_app: OpenApp) -> None:
    async with open_app(Models(), size=(130, 30)) as (app, pilot):
        await send(app, pilot, "Why?")
        await compared(app, pilot, "/compare broken large")
        await ended(app, pilot)
        broken, large = columns(app)[1:]
        assert broken.facts.startswith("failed")
        assert "The server is gone" in broken.stream.entry("problem").text
        assert large.text == ANSWERS["large"]


async def test_escape_stops_and_leaves_and_what_arrived_is_kept(open_app: OpenApp) -> None:
    held = {"large": asyncio.Event()}
    async with open_app(Models(held), size=(130, 30)) as (app, pilot):
        await send(app, pilot, "Why?")
        await compared(app, pilot, "/compare small large")
        while columns(app)[2].text != "First. ":
            await pilot.pause(0.01)
        await pilot.press("escape")
        await ended(app, pilot)
        assert columns(app)[2].facts.startswith("stopped")
        await pilot.press("escape")
        await until_chat(app, pilot)
        assert chat(app).chat.conversation.state.branch()[-1].text == ANSWERS["scripted"]
        said = {each.text: each.status for each in answers_to(app)}
        assert said["First. "] == "cancelled"
        assert said[ANSWERS["small"]] == "complete"
        assert not chat(app).chat.is_busy


async def test_the_next_message_goes_to_several_models(open_app: OpenApp) -> None:
    async with open_app(Models(), size=(130, 30)) as (app, pilot):
        await send(app, pilot, "/compare small large")
        assert "/compare off" in str(chat(app).prompt.placeholder)
        await send(app, pilot, "Why?")
        while not isinstance(app.screen, ComparisonScreen):
            await pilot.pause(0.01)
        await ended(app, pilot)
        await pilot.press("right", "enter")
        await until_chat(app, pilot)
        texts = [message.text for message in chat(app).chat.conversation.state.branch()]
        assert texts == ["Why?", ANSWERS["large"]]


@pytest.mark.more
async def test_comparing_the_next_message_can_be_called_off(open_app: OpenApp) -> None:
    async with open_app(Models()) as (app, pilot):
        await send(app, pilot, "/compare next small large")
        await send(app, pilot, "/compare off")
        await send(app, pilot, "Why?")
        assert not isinstance(app.screen, ComparisonScreen)
        assert chat(app).chat.conversation.state.branch()[-1].text == ANSWERS["scripted"]


async def test_a_vote_is_kept_and_the_activity_tells_who_wins(open_app: OpenApp) -> None:
    async with open_app(Models(), size=(130, 40)) as (app, pilot):
        await send(app, pilot, "Why?")
        await compared(app, pilot, "/compare small large")
        await ended(app, pilot)
        await pilot.press("right", "v")
        while "★ better" not in str(columns(app)[1].query_one(".column-name", Static).content):
            await pilot.pause(0.01)
        await pilot.press("escape")
        await until_chat(app, pilot)
        await send(app, pilot, "/activity")
        while not isinstance(app.screen, ActivityScreen):
            await pilot.pause(0.01)
        while "won" not in str(app.screen.query_one("#models", Static).content):
            await pilot.pause(0.01)
        lines = str(app.screen.query_one("#models", Static).content).splitlines()
        assert "won 1 of 1" in next(line for line in lines if line.startswith("small"))
        assert "won 0 of 1" in next(line for line in lines if line.startswith("large"))


async def test_one_that_failed_is_no_loser_of_a_vote(open_app: OpenApp) -> None:
    async with open_app(Models(), size=(120, 40)) as (app, pilot):
        await send(app, pilot, "Why?")
        screen = await compared(app, pilot, "/compare broken small large")
        assert not screen.has_class("-tabs"), "four answers stand side by side from 120 columns"
        await ended(app, pilot)
        await pilot.press("v")
        while not columns(app)[0].is_better:
            await pilot.pause(0.01)
        [vote] = chat(app).chat.conversation.state.header.metadata.votes
        assert vote.others == ("small", "large")
        await pilot.press("escape")
        await until_chat(app, pilot)


async def test_d_shows_what_two_answers_say_otherwise(open_app: OpenApp) -> None:
    async with open_app(Models(), size=(130, 30)) as (app, pilot):
        await send(app, pilot, "Why?")
        await compared(app, pilot, "/compare small")
        await ended(app, pilot)
        await pilot.press("d")
        assert isinstance(app.screen, AnswerDiffScreen)
        while not app.screen.query_one(DiffLines).virtual_size.height:
            await pilot.pause(0.01)
        await pilot.press("escape")
        assert isinstance(app.screen, ComparisonScreen)


@pytest.mark.more
async def test_a_long_sentence_of_the_diff_breaks_between_words() -> None:
    class Page(App[None]):
        def compose(self) -> ComposeResult:
            yield DiffLines([TonedLine("+" + "scatters " * 9)], is_prose=True)

    async with Page().run_test(size=(40, 10)) as pilot:
        lines = pilot.app.query_one(DiffLines)
        shown = [lines.render_line(y).text.split() for y in range(lines.virtual_size.height)]
        assert len(shown) > 1
        assert {word.lstrip("+") for line in shown for word in line} == {"scatters"}


def test_the_diff_is_by_sentences() -> None:
    lines = answer_diff(ANSWERS["scripted"], ANSWERS["small"])
    assert [(line.text, line.tone) for line in lines] == [
        ("-The sky is blue.", "gone"),
        ("+Air scatters blue light.", "added"),
        (" So it is.", ""),
    ]
    assert not answer_diff("The same.", "The same.")


@pytest.mark.more
async def test_space_marks_models_in_the_picker_and_enter_compares_them(
    open_app: OpenApp,
) -> None:
    async with open_app(Models(), size=(130, 30)) as (app, pilot):
        await send(app, pilot, "Why?")
        await pilot.press("f7")
        for name in ("small", "large"):
            await type_in(pilot, name)
            await settled(app, pilot)
            await pilot.press("space")
        await pilot.press("enter")
        while not isinstance(app.screen, ComparisonScreen):
            await pilot.pause(0.01)
        await ended(app, pilot)
        assert [column.model for column in columns(app)] == ["scripted", "small", "large"]


@pytest.mark.more
async def test_names_of_models_are_completed_one_after_the_other(open_app: OpenApp) -> None:
    async with open_app(Models()) as (app, pilot):
        async for _ in app.workspace.models.offers():
            pass
        await type_in(pilot, "/compare sm")
        await pilot.press("tab")
        await type_in(pilot, " la")
        await pilot.press("tab")
        assert chat(app).prompt.text == "/compare small large"


async def test_without_a_model_one_line_says_how(open_app: OpenApp) -> None:
    async with open_app(Models(), size=(130, 30)) as (app, pilot):
        await send(app, pilot, "/compare")
        assert not isinstance(app.screen, ComparisonScreen)
        assert "needs at least one model" in state(app)
