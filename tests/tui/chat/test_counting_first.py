"""A long session that was only opened is counted before the first message is sent."""

from __future__ import annotations

from pathlib import Path

from ollm_tui.core.provider import TextDelta
from ollm_tui.core.session.message import Message, Text
from ollm_tui.core.session.session import Session
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.store_layout import StoreLayout
from ollm_tui.tui.chat.message_queue import MessageQueue
from ollm_tui.tui.chat.state_lines import LONG_SESSION
from ollm_tui.tui.prompt.prompt import Prompt
from tests.tui.browser_samples import full_id
from tests.tui.conftest import OpenApp
from tests.tui.seen import chat, gauge, send, settled, stream

ANSWERS = [[TextDelta("an answer")]]


def long_session(home: Path) -> str:
    """Store a session that is not counted when it is opened; gives its id."""
    at = "2026-01-01T00:00:00+00:00"
    messages = tuple(
        Message(
            f"m{number}",
            "assistant" if number % 2 else "user",
            (Text("words"),),
            at,
            parent_id=f"m{number - 1}" if number else None,
        )
        for number in range(LONG_SESSION + 2)
    )
    library = SessionLibrary.at(StoreLayout(home / "sessions"))
    library.add(Session(full_id(0), at, at, "sample", "scripted", messages, head=messages[-1].id))
    library.close()
    return full_id(0)


async def test_the_first_message_is_sent_once_the_context_is_counted(
    open_app: OpenApp, home: Path
) -> None:
    async with open_app(ANSWERS, session_id=long_session(home), size=(120, 40)) as (app, pilot):
        conversation = chat(app).chat.conversation
        assert "Long session" in gauge(app) and not conversation.is_prepared
        await send(app, pilot, "hello")
        while chat(app).chat.is_busy:  # the turn begins when the counting has ended
            await pilot.pause()
        await settled(app, pilot)
        assert stream(app)[-2:] == ["▌ hello", "┃ an answer"]
        assert conversation.is_prepared and not chat(app).chat.is_busy


async def test_a_message_stopped_while_it_is_counted_waits(open_app: OpenApp, home: Path) -> None:
    async with open_app(ANSWERS, session_id=long_session(home), size=(120, 40)) as (app, pilot):
        chat(app).chat.send(Prompt.Sent("hello"))
        assert chat(app).chat.is_busy
        await pilot.press("escape")
        await settled(app, pilot)
        waiting = chat(app).query_one(MessageQueue).messages
        assert waiting.count == 1 and "┃ an answer" not in stream(app)
        assert not chat(app).chat.is_busy
