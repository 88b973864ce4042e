"""What is done with a message that was found: opened, forked, restored, quoted, copied, kept."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ollm_tui.core.provider import TextDelta
from ollm_tui.core.session.message import Retrieval
from ollm_tui.engine.project.workspace import Workspace
from ollm_tui.settings.schema import Settings
from ollm_tui.tui.kit.line_input import LineInput
from ollm_tui.tui.stream.transcript.transcript import Transcript
from tests.engine.conftest import workspace_on
from tests.tui.conftest import OpenApp
from tests.tui.search_desk import desk
from tests.tui.search_samples import full_id
from tests.tui.seen import chat, prompt, send, state


async def test_enter_opens_the_session_at_the_message(open_app: OpenApp, home: Path) -> None:
    async with desk(open_app, home) as at:
        await at.search("jitter")
        await at.press("enter")
        assert at.is_chat
        here = chat(at.app)
        assert here.chat.conversation.session_id == full_id(0)
        assert isinstance(here.focused, Transcript)
        assert here.transcript.cursor.key == "s0m1"
        assert here.transcript.finder.position[1] == 1


async def test_a_message_of_the_open_session_is_gone_to(open_app: OpenApp, home: Path) -> None:
    async with desk(open_app, home) as at:
        await at.search("overflow")
        await at.press("down", "enter")
        assert at.is_chat
        assert chat(at.app).transcript.cursor.key == "s2m0"


@pytest.mark.more
async def test_a_message_of_another_branch_switches_to_it(open_app: OpenApp, home: Path) -> None:
    async with desk(open_app, home) as at:
        await at.search("queue outside")
        await at.press("enter")
        assert at.said == ["s0m0", "s0m1", "s0m2", "s0b3"]
        assert chat(at.app).chat.conversation.state.header.head == "s0b3"
        assert "Switched to the branch of this message" in state(at.app)


async def test_f_goes_on_from_there_in_a_new_session(open_app: OpenApp, home: Path) -> None:
    async with desk(open_app, home) as at:
        await at.search("forever")
        await at.press("down", "f")
        assert at.is_chat
        conversation = chat(at.app).chat.conversation
        assert conversation.session_id not in (full_id(0), full_id(2))
        assert at.said == ["s0m0", "s0m1"]
        assert "Forked" in state(at.app)


async def test_r_sets_the_session_back_to_there_and_can_be_undone(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home) as at:
        await at.search("forever")
        await at.press("down", "r")
        assert at.is_chat
        assert at.said == ["s0m0", "s0m1"]
        assert "2 messages kept as a branch" in state(at.app)
        await send(at.app, at.pilot, "/undo")
        assert at.said == ["s0m0", "s0m1", "s0m2", "s0m3"]


async def test_q_quotes_it_and_it_goes_along_with_the_next_message(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home, script=[[TextDelta("Yes.")]]) as at:
        await at.search("forever")
        await at.press("down", "q")
        assert "Attached" in at.keys
        await at.press("escape")
        assert "[earlier message 1" in prompt(at.app).text
        await send(at.app, at.pilot, " is this so?")
        question = chat(at.app).chat.conversation.state.branch()[-2]
        [quoted] = [part for part in question.parts if isinstance(part, Retrieval)]
        assert quoted.text.startswith("The upload job retries forever")
        assert (quoted.session_id, quoted.message_id) == (full_id(0), "s0m0")
        assert not quoted.trusted


async def test_y_copies_the_message(open_app: OpenApp, home: Path) -> None:
    async with desk(open_app, home) as at:
        await at.search("min-width")
        await at.press("down", "y")
        assert at.keys.startswith("Message ")
        assert at.app.clipboard.startswith("A grid item is as wide")  # pyright: ignore[reportUnknownMemberType] Textual leaves it open


async def test_x_exports_the_conversation_with_it(
    open_app: OpenApp, home: Path, tmp_path: Path
) -> None:
    async with desk(open_app, home) as at:
        await at.search("queue outside")
        await at.press("down", "x")
        target = tmp_path / "found.md"
        at.app.screen.query_one(LineInput).value = str(target)
        await at.press("enter")
        assert at.keys.startswith("Exported to ")
        text = target.read_text(encoding="utf-8")
        assert "a queue outside of the process" in text
        assert "the number of retries" not in text


@pytest.mark.more
async def test_keys_mean_the_message_under_the_cursor_in_the_conversation(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home) as at:
        await at.search("forever")
        await at.press("f4", "j", "j", "enter")
        assert at.is_chat
        assert chat(at.app).transcript.cursor.key == "s0m2"


async def test_letters_that_are_no_keys_go_on_with_the_words(open_app: OpenApp, home: Path) -> None:
    async with desk(open_app, home) as at:
        await at.search("jitte")
        await at.press("down", "z")
        assert at.screen.text == "jittez"


@pytest.fixture
async def elsewhere(home: Path) -> Workspace:
    return workspace_on(home, (), Settings())


async def test_a_session_that_another_window_has_open_is_not_set_back(
    open_app: OpenApp, home: Path, elsewhere: Workspace
) -> None:
    async with desk(open_app, home) as at:
        conversation, _ = await elsewhere.resume(full_id(0))
        await at.search("forever")
        await at.press("down", "r")
        assert "Open in another window" in at.keys
        assert not at.is_chat
        await conversation.close()
    await asyncio.wait_for(elsewhere.close(), 30)


@pytest.mark.more
async def test_f4_and_slash_search_open_it(open_app: OpenApp, home: Path) -> None:
    async with desk(open_app, home) as at:
        await send(at.app, at.pilot, "/search jitter")
        await at.settle()
        assert at.screen.text == "jitter"
        assert at.hits == ["s0m1"]
