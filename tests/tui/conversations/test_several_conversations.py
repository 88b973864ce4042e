"""Several conversations on one screen: answers go on behind, and each keeps what is its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import pytest
from textual.pilot import Pilot

from ollm_tui.core.errors import OllmError
from ollm_tui.core.events import AnyTurnEvent
from ollm_tui.core.provider import ChatRequest, Completed, TextDelta
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.providers.scripted import Scripted, Step
from ollm_tui.settings.schema import Context, LoopDetection, ProviderSettings, Settings
from ollm_tui.tui.app import OllmApp
from ollm_tui.tui.browser.session_list import SessionList
from ollm_tui.tui.chat.welcome import Welcome
from ollm_tui.tui.chat.words import PLACEHOLDER
from ollm_tui.tui.conversations.tab_row import TabRow
from ollm_tui.tui.tools.approval import Approval
from tests.tui.conftest import OpenApp
from tests.tui.seen import chat, prompt, settled, state, stream, title
from tests.tui.tool_desk import approval, calls, loop_bar, runner, says, tools_open
from tests.tui.typing_in import type_in

DONE = Completed(finish="stop")


class Answers:
    """Answers each question with its own words, when the test lets it."""

    def __init__(self, *gated: str) -> None:
        self.gates = {words: asyncio.Event() for words in gated}

    def __call__(self, request: ChatRequest) -> Sequence[Step]:
        said = [each.text for each in request.messages if each.role == "user"][-1]
        gate = self.gates.get(said)
        begun: list[Step] = [TextDelta(f"To {said}:")]
        return [*begun, *([gate] if gate else []), TextDelta(" done"), DONE]


async def until(pilot: Pilot[int], text: str, app: OllmApp) -> None:
    while text not in " ".join((*stream(app), state(app), *title(app))):
        await pilot.pause(0.02)


async def ask(app: OllmApp, pilot: Pilot[int], words: str) -> None:
    await type_in(pilot, words)
    await pilot.press("enter")
    await until(pilot, f"To {words}:", app)


async def until_ended(app: OllmApp, conversation: Conversation) -> None:
    while app.is_running or conversation.state.branch()[-1].status == "streaming":
        await asyncio.sleep(0.02)


async def begin_another(app: OllmApp, pilot: Pilot[int]) -> None:
    before = app.conversation
    await pilot.press("ctrl+n")
    while app.conversation is before:
        await pilot.pause(0.02)
    await pilot.pause()


async def test_an_answer_goes_on_while_another_session_is_shown(open_app: OpenApp) -> None:
    answers = Answers("one", "two")
    async with open_app(Scripted(answers), size=(120, 30)) as (app, pilot):
        await ask(app, pilot, "one")
        await type_in(pilot, "draft of one")
        await begin_another(app, pilot)
        assert stream(app) == [] and prompt(app).text == ""
        await ask(app, pilot, "two")
        answers.gates["one"].set()
        await until(pilot, "one finished · Alt+1", app)
        assert stream(app) == ["▌ two", "┃ To two:"]
        await pilot.press("alt+1")
        await until(pilot, "To one: done", app)
        assert prompt(app).text == "draft of one"
        await pilot.press("alt+0")
        await until(pilot, "To two:", app)
        answers.gates["two"].set()
        await until(pilot, "To two: done", app)
        await settled(app, pilot)
        said = [[each.text for each in one.state.branch()] for one in app.conversations]
        assert said == [["one", "To one: done"], ["two", "To two: done"]]


async def test_stopping_reaches_only_the_answer_that_is_shown(open_app: OpenApp) -> None:
    answers = Answers("one", "two")
    async with open_app(Scripted(answers), size=(120, 30)) as (app, pilot):
        await ask(app, pilot, "one")
        await begin_another(app, pilot)
        await ask(app, pilot, "two")
        await pilot.press("escape")
        await until(pilot, "stopped", app)
        answers.gates["one"].set()
        await until(pilot, "one finished", app)
        statuses = [one.state.branch()[-1].status for one in app.conversations]
        assert statuses == ["complete", "cancelled"]


async def test_queued_messages_go_to_the_conversation_they_were_sent_in(open_app: OpenApp) -> None:
    answers = Answers("one")
    async with open_app(Scripted(answers), size=(120, 30)) as (app, pilot):
        await ask(app, pilot, "one")
        await type_in(pilot, "next")
        await pilot.press("enter")
        await begin_another(app, pilot)
        assert chat(app).chat.queue.count == 0
        answers.gates["one"].set()
        await until(pilot, "one finished", app)
        said = [each.text for each in app.conversations[0].state.branch()]
        assert said == ["one", "To one: done", "next", "To next: done"]
        assert len(app.conversations[1].state) == 0


async def test_a_question_waits_elsewhere_and_one_key_leads_there(open_app: OpenApp) -> None:
    tool = runner()
    asks = [calls(("exec", {"code": "pytest -q"})), says("ok")]
    async with tools_open(open_app, asks, tool, size=(120, 30)) as (app, pilot):
        await type_in(pilot, "run it")
        await pilot.press("enter")
        await approval(app, pilot)
        await begin_another(app, pilot)
        await until(pilot, "1 waiting Alt+W", app)
        sidebar = app.screen.query_one(SessionList)
        assert sidebar.render_line(1).text.split() == ["?", "run", "it", "waiting"]
        assert not any(block.display for block in app.screen.query(Approval))
        await pilot.press("y")
        assert prompt(app).text == "y" and not tool.ran
        await pilot.press("alt+w")
        await approval(app, pilot)
        await pilot.press("y")
        await until(pilot, "ok", app)
        await settled(app, pilot)
        assert len(tool.ran) == 1


async def test_a_place_in_line_is_shown(open_app: OpenApp) -> None:
    answers = Answers("one")
    settings = Settings(providers={"scripted": ProviderSettings(parallel=1)})
    async with open_app(Scripted(answers), size=(120, 30), settings=settings) as (app, pilot):
        await ask(app, pilot, "one")
        await begin_another(app, pilot)
        await type_in(pilot, "two")
        await pilot.press("enter")
        await until(pilot, "2nd in line behind one", app)
        answers.gates["one"].set()
        await until(pilot, "To two: done", app)


async def test_quitting_asks_once_and_names_what_still_runs(open_app: OpenApp) -> None:
    answers = Answers("one")
    async with open_app(Scripted(answers), size=(120, 30)) as (app, pilot):
        await ask(app, pilot, "one")
        await begin_another(app, pilot)
        await pilot.press("ctrl+q")
        await until(pilot, "Still running: one. Press again to quit", app)
        assert app.is_running
        [one, _] = app.conversations
        await pilot.press("ctrl+q")
        await until_ended(app, one)
        assert one.state.branch()[-1].text == "To one:"


async def test_quitting_asks_once_about_the_answer_that_is_shown(open_app: OpenApp) -> None:
    async with open_app(Scripted(Answers("one")), size=(120, 30)) as (app, pilot):
        await ask(app, pilot, "one")
        await pilot.press("ctrl+q")
        await until(pilot, "Still running: one. Press again to quit; text so far is kept", app)
        assert app.is_running
        conversation = chat(app).chat.conversation
        await pilot.press("ctrl+q")
        await until_ended(app, conversation)
        assert conversation.state.branch()[-1].text == "To one:"


async def test_quitting_asks_nothing_when_answers_are_over(open_app: OpenApp) -> None:
    answers = Answers("one")
    async with open_app(Scripted(answers), size=(120, 30)) as (app, pilot):
        await ask(app, pilot, "one")
        await begin_another(app, pilot)
        answers.gates["one"].set()
        await until(pilot, "one finished", app)
        await pilot.press("ctrl+q")
        await until_ended(app, app.conversations[0])


async def test_a_conversation_at_rest_is_closed_when_another_is_opened(open_app: OpenApp) -> None:
    async with open_app(Scripted(Answers()), size=(120, 30)) as (app, pilot):
        await ask(app, pilot, "one")
        await settled(app, pilot)
        await begin_another(app, pilot)
        await settled(app, pilot)
        assert len(app.conversations) == 1


@pytest.mark.more
async def test_a_small_terminal_has_the_count_in_the_title(open_app: OpenApp) -> None:
    answers = Answers("one")
    async with open_app(Scripted(answers), size=(60, 18)) as (app, pilot):
        await ask(app, pilot, "one")
        await begin_another(app, pilot)
        await until(pilot, "2/2 New session", app)
        assert not app.screen.query_one("#tabs").display
        answers.gates["one"].set()
        await until(pilot, "finished", app)
        await pilot.press("alt+1")
        await until(pilot, "1/2 one", app)
        await settled(app, pilot)
        await pilot.press(*"/close", "enter")
        await until(pilot, "Closed", app)
        assert len(app.conversations) == 1


async def test_a_command_goes_on_while_another_session_is_shown(
    open_app: OpenApp, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    settings = Settings(context=Context(share_command_output=True))
    async with open_app(Scripted(Answers()), size=(120, 30), settings=settings) as (app, pilot):
        await type_in(pilot, f"!until [ -e {gate} ]; do sleep 0.02; done; echo over")
        await pilot.press("enter")
        await until(pilot, "running until", app)
        await begin_another(app, pilot)
        assert tabs(app) == "1 New session !   2 New session"
        gate.touch()
        while tabs(app) != "1 New session ●   2 New session":
            await pilot.pause(0.02)
        assert prompt(app).text == ""
        await pilot.press("alt+1")
        await until(pilot, "over", app)
        await settled(app, pilot)
        assert not app.screen.query_one(Welcome).display
        assert prompt(app).written.attachments, "what it printed goes along with the next message"


@pytest.mark.more
async def test_a_loop_that_waits_elsewhere_keeps_nobody_waiting(open_app: OpenApp) -> None:
    def answer(request: ChatRequest) -> Sequence[Step]:
        if request.messages[-1].text == "one":
            return [*([TextDelta("The mill turns and turns. ")] * 60), DONE]
        return [TextDelta("To two: done"), DONE]

    settings = Settings(
        providers={"scripted": ProviderSettings(parallel=1)},
        loop_detection=LoopDetection(nudge=False),
    )
    async with open_app(Scripted(answer), size=(120, 30), settings=settings) as (app, pilot):
        await type_in(pilot, "one")
        await pilot.press("enter")
        await loop_bar(app, pilot)
        await begin_another(app, pilot)
        await until(pilot, "1 waiting Alt+W", app)
        await type_in(pilot, "two")
        await pilot.press("enter")
        await until(pilot, "To two: done", app)
        await pilot.press("alt+w")
        await loop_bar(app, pilot)
        await pilot.press("escape")
        await settled(app, pilot)


@pytest.mark.more
async def test_jobs_and_answers_that_quitting_ends_are_named_in_one_line(open_app: OpenApp) -> None:
    name = "a title that is much too long to be read beside all the others"
    answers = Answers(name)
    async with open_app(Scripted(answers), size=(80, 24)) as (app, pilot):
        await ask(app, pilot, name)
        await begin_another(app, pilot)
        await type_in(pilot, "!sleep 1000")
        await pilot.press("enter")
        await until(pilot, "running sleep 1000", app)
        await pilot.press("alt+b")
        await until(pilot, "in the background", app)
        await pilot.press("ctrl+c")
        await until(pilot, "Ctrl+C again quits and kills a title that is…, 1 job", app)
        await pilot.press("f1")
        await pilot.press("ctrl+q")
        await pilot.pause()
        assert app.is_running and app.screen is not chat(app), "nothing is closed for a question"
        [asked] = app._notifications  # pyright: ignore[reportPrivateUsage] what is shown over screens
        named = chat(app).standings()[0].title
        assert asked.message.startswith(f"Still running: {named}, 1 job. Press again to quit")
        answers.gates[name].set()


@pytest.mark.more
async def test_the_session_shown_before_is_one_key_away_although_it_was_closed(
    open_app: OpenApp,
) -> None:
    async with open_app(Scripted(Answers()), size=(120, 30)) as (app, pilot):
        await ask(app, pilot, "one")
        await settled(app, pilot)
        await begin_another(app, pilot)
        await ask(app, pilot, "two")
        await settled(app, pilot)
        await pilot.press("alt+0")
        await until(pilot, "To one: done", app)
        await settled(app, pilot)
        await pilot.press("alt+0")
        await until(pilot, "To two: done", app)
        assert len(app.conversations) == 1


@pytest.mark.more
async def test_a_turn_that_could_not_begin_is_told_as_failed(open_app: OpenApp) -> None:
    async with open_app(Scripted(Answers()), size=(120, 30)) as (app, pilot):
        await ask(app, pilot, "one")
        await settled(app, pilot)
        one, gate = chat(app).chat, asyncio.Event()

        async def turn() -> AsyncGenerator[AnyTurnEvent, None]:
            await gate.wait()
            raise OllmError("no", "sorry")
            yield

        one.run(turn())
        await begin_another(app, pilot)
        gate.set()
        while tabs(app) != "1 one ✗   2 New session":
            await pilot.pause(0.02)
        await pilot.press("alt+1")
        await until(pilot, "Sorry", app)


@pytest.mark.more
async def test_with_more_tabs_than_fit_the_count_is_in_the_title(open_app: OpenApp) -> None:
    names = [f"question number {number}" for number in range(8)]
    answers = Answers(*names)
    settings = Settings(providers={"scripted": ProviderSettings(parallel=len(names))})
    async with open_app(Scripted(answers), settings=settings) as (app, pilot):
        for count, name in enumerate(names, 1):
            await ask(app, pilot, name)
            if row := tabs(app):
                assert row.endswith("✎") and len(row) <= 78 and f"{count} " in row
            elif count > 1:
                assert title(app)[0].startswith(f"{count}/{count} ")
            if name is not names[-1]:
                await begin_another(app, pilot)
        assert not tabs(app)
        for gate in answers.gates.values():
            gate.set()
        await settled(app, pilot)


@pytest.mark.more
async def test_each_conversation_has_its_own_words_in_the_empty_prompt(open_app: OpenApp) -> None:
    answers = Answers("one")
    async with open_app(Scripted(answers), size=(120, 30)) as (app, pilot):
        await ask(app, pilot, "one")
        chat(app).chat.invite("Next message: compared")
        await begin_another(app, pilot)
        assert prompt(app).placeholder == PLACEHOLDER
        await pilot.press("alt+1")
        await until(pilot, "To one:", app)
        assert prompt(app).placeholder == "Next message: compared"
        answers.gates["one"].set()


def tabs(app: OllmApp) -> str:
    row = chat(app).query_one(TabRow)
    return str(row.content) if row.display else ""
