"""A session that reaches `retention.maxItems`: the question above the prompt, and its answers."""

from __future__ import annotations

import pytest

from ollm_tui.core.provider import TextDelta
from ollm_tui.settings.schema import Retention, Settings
from tests.cases import some
from tests.tui.browser_desk import Desk
from tests.tui.chat.test_too_long import answer, offered
from tests.tui.conftest import OpenApp
from tests.tui.seen import chat, prompt, send, state, stream, title
from tests.tui.typing_in import type_in

ANSWERS = [[TextDelta(f"answer {number}")] for number in range(9)]
FOUR = Settings(retention=Retention(max_items=4))
QUESTION = (
    "This session has 4 items (retention.maxItems). Continue in a new, linked session?\n"
    "Alt+A, then   y yes   n not now"
)


async def test_it_is_asked_at_the_limit_and_again_only_after_as_many_more(
    open_app: OpenApp,
) -> None:
    asked: list[str] = []
    async with open_app(ANSWERS, settings=FOUR, size=(100, 30)) as (app, pilot):
        for text in ("one", "two"):
            await send(app, pilot, text)
            asked.append(offered(app))
        await answer(app, pilot, "n")
        assert state(app).startswith("Continuing here")
        for text in ("three", "four"):
            await send(app, pilot, text)
            asked.append(offered(app))
        session_id = chat(app).chat.conversation.session_id
    assert asked == ["", QUESTION, "", QUESTION.replace("4 items", "8 items")]
    opened = open_app(ANSWERS, settings=FOUR, session_id=session_id, size=(100, 30))
    async with opened as (app, pilot):
        await send(app, pilot, "five")
        assert offered(app) == "", "that it was asked is remembered"


@pytest.mark.more
async def test_esc_means_not_now_and_sending_goes_on_here(open_app: OpenApp) -> None:
    async with open_app(ANSWERS, settings=FOUR, size=(100, 30)) as (app, pilot):
        for text in ("one", "two", "three"):
            await send(app, pilot, text)
        assert "4 items" in offered(app) and stream(app)[-1] == "┃ answer 2"
        await answer(app, pilot, "escape")
        assert offered(app) == "" and state(app).startswith("Continuing here")


@some(1, "size", [(80, 24), (120, 40)])
async def test_yes_goes_on_in_a_linked_session_and_the_browser_leads_back(
    open_app: OpenApp, size: tuple[int, int]
) -> None:
    async with open_app(ANSWERS, settings=FOUR, size=size) as (app, pilot):
        for text in ("one", "two"):
            await send(app, pilot, text)
        old = chat(app).chat.conversation.session_id
        await answer(app, pilot, "y")
        new = chat(app).chat.conversation.state
        assert new.header.continues == old and offered(app) == ""
        assert [message.text for message in new.branch()] == ["two", "answer 1"]
        assert "one (part 2)" in " ".join(title(app))
        assert "New session, linked to the previous one" in state(app)
        await send(app, pilot, "three")
        assert stream(app)[-1] == "┃ answer 2" and len(new) == 4
        at = Desk(app, pilot)
        await at.press("f3", "down", "home")
        assert at.line == "one (part 2)" and "continues “one”" in at.preview
        assert "< previous part" in at.keys and "next part" not in at.keys
        await at.press("less_than_sign")
        assert at.line == "one" and "continued in “one (part 2)”" in at.preview
        await at.press("greater_than_sign")
        assert at.line == "one (part 2)"
        await at.press("less_than_sign")
        await at.press("enter")
        assert chat(app).chat.conversation.session_id == old


@pytest.mark.more
async def test_what_was_being_written_is_written_in_the_linked_session(open_app: OpenApp) -> None:
    async with open_app(ANSWERS, settings=FOUR) as (app, pilot):
        for text in ("one", "two"):
            await send(app, pilot, text)
        await type_in(pilot, "half a tho")
        await answer(app, pilot, "y")
        assert (prompt(app).text, app.focused) == ("half a tho", prompt(app))
        await send(app, pilot, "ught")
        said = [message.text for message in chat(app).chat.conversation.state.branch()]
        assert said == ["two", "answer 1", "half a thought", "answer 2"]
