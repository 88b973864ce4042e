"""The chat on a session another window has open; sending goes on in a fork, or in itself."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest
from textual.pilot import Pilot

from ollm_tui.providers.scripted import Script
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.store_layout import StoreLayout
from ollm_tui.tui.app import OllmApp
from ollm_tui.tui.chat.followed_session import Following
from ollm_tui.tui.chat.message_queue import MessageQueue
from ollm_tui.tui.chat.screen import ChatScreen
from ollm_tui.tui.chat.words import SHORT_PLACEHOLDER
from ollm_tui.tui.prompt.prompt import Prompt
from tests.crash.samples import begin, user_message
from tests.stand_ins.other_writer import OtherWriter
from tests.tui.conftest import OpenApp, workers_done
from tests.tui.seen import gauge, state, stream, title

NAME = "subject"
SCRIPT: Script = []


@pytest.fixture
def other(home: Path) -> OtherWriter:
    """The other window."""
    library = SessionLibrary.at(StoreLayout(home / "sessions"))
    begin(library.store, NAME, user_message("first", "Hello over there"))
    return OtherWriter(library.store, NAME)


def seen(app: OllmApp) -> str:
    return "\n".join((*title(app), *stream(app), gauge(app), state(app)))


async def until_seen(app: OllmApp, pilot: Pilot[int], words: str) -> None:
    for _ in range(1000):
        if words in seen(app):
            return
        await pilot.pause(0.02)
    raise AssertionError(f"{words!r} is not on the screen:\n{seen(app)}")


async def followed(app: OllmApp, pilot: Pilot[int]) -> tuple[ChatScreen, Following]:
    chat = cast(ChatScreen, app.screen)
    following = Following(chat, NAME)
    following.begin()
    await until_seen(app, pilot, "following another window")
    return chat, following


async def test_it_says_what_it_is_and_grows(open_app: OpenApp, other: OtherWriter) -> None:
    async with open_app(SCRIPT, size=(60, 20)) as (app, pilot):
        chat, following = await followed(app, pilot)
        assert app.conversation is None
        text = seen(app)
        assert "Hello over there" in text and "Enter forks it" in text
        other.say("second", "How are you there?")
        await until_seen(app, pilot, "How are you there?")
        other.close()
        await until_seen(app, pilot, "Enter continues it here")
        following.stop()
        assert chat.prompt.placeholder == SHORT_PLACEHOLDER


async def test_what_is_sent_goes_on_in_a_fork(open_app: OpenApp, other: OtherWriter) -> None:
    async with open_app(SCRIPT) as (app, pilot):
        chat, following = await followed(app, pilot)
        chat.query_one(MessageQueue).messages.add(Prompt.Sent("And here?"))
        await following.go_on()
        assert app.conversation is not None
        assert app.conversation.state.header.forked_from == NAME
        await until_seen(app, pilot, "And here?")
        await workers_done(app)
        said = [message.text for message in app.conversation.state.branch()]
        assert said[:2] == ["Hello over there", "And here?"]
        assert len(said) == 3
        other.say("second", "not for you")
        await pilot.pause(1)
        assert "not for you" not in seen(app)
        other.close()


@pytest.mark.more
async def test_a_session_that_is_deleted_meanwhile_is_told(
    open_app: OpenApp, other: OtherWriter, home: Path
) -> None:
    async with open_app(SCRIPT) as (app, pilot):
        _, following = await followed(app, pilot)
        other.close()
        SessionLibrary.at(StoreLayout(home / "sessions")).delete(NAME)
        await until_seen(app, pilot, "No session subject")
        await following.go_on()
        assert app.conversation is None
        assert "No session" in seen(app)
