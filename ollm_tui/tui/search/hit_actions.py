"""The actions on a message that was found: open, fork, restore, quote, copy, export, ask."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Literal, assert_never

from ollm_tui.core.errors import OllmError, SessionBusy, UsageError
from ollm_tui.core.intake import clean, visible
from ollm_tui.core.search import Hit
from ollm_tui.core.session.message import Message, Text
from ollm_tui.engine.snapshots.points import Point
from ollm_tui.services.export.export_file import export_to
from ollm_tui.tui.chat.chat_points import end_of_turn
from ollm_tui.tui.kit.question import Question
from ollm_tui.tui.search.hit_preview import Place
from ollm_tui.tui.search.port import HitsPort, SearchPort
from ollm_tui.tui.search.search_reading import SearchReading
from ollm_tui.tui.search.words import (
    ATTACHED,
    BUSY,
    EXPORT,
    NOTHING_BEFORE_THAT_MESSAGE,
    OPEN_INSTEAD,
)
from ollm_tui.tui.terminal.clipboard import copy

HitAction = Literal["open", "fork", "restore", "quote", "copy", "export", "ask"]


class HitActions:
    """Carries out actions for one search screen, which shows what went wrong in one line."""

    def __init__(self, search: SearchPort, reading: SearchReading, chat: HitsPort) -> None:
        self._search = search
        self._reading = reading
        self._chat = chat

    def do(self, action: HitAction, hit: Hit) -> None:
        """Carry out an action on a message."""
        match action:
            case "open":
                self._leave(lambda: self._open(hit))
            case "fork":
                self._leave(lambda: self._fork(hit))
            case "restore":
                self._leave(lambda: self._restore(hit))
            case "quote":
                self._attempt(lambda: self._quote(hit))
            case "copy":
                self._attempt(lambda: self._copy(hit))
            case "export":
                self._ask_where_to(hit)
            case "ask":
                self._leave(lambda: self._chat.ask_history(self._search.text))
            case _:
                assert_never(action)

    async def _open(self, hit: Hit) -> None:
        words = self._reading.words if self._reading.query.terms else None
        await self._chat.open_at(Point(hit.session_id, message=hit.message_id), words)

    async def _fork(self, hit: Hit) -> None:
        await self._chat.fork(await self._end_of_turn(hit))

    async def _restore(self, hit: Hit) -> None:
        await self._chat.go_to(await self._end_of_turn(hit))

    async def _quote(self, hit: Hit) -> None:
        message = _message(await self._reading.place(hit), hit)
        self._chat.bring((message,), hit.session_id)
        self._search.say(ATTACHED)

    async def _copy(self, hit: Hit) -> None:
        message = _message(await self._reading.place(hit), hit)
        where = await copy(self._search.app, message.text.strip() or hit.snippet.text)
        self._search.say(f"Message {where}")

    def _ask_where_to(self, hit: Hit) -> None:
        def answer(name: str | None) -> None:
            if name is not None:
                self._attempt(lambda: self._export(hit, name))

        question = Question(EXPORT, f"{hit.session_id[:8]}.md", "export")
        self._search.app.push_screen(question, answer)

    async def _export(self, hit: Hit, name: str) -> None:
        place = await self._reading.place(hit)
        messages = [place.state[key] for key in place.branch]
        keeps_outputs = self._search.app.loaded.settings.retention.store_tool_outputs
        session = place.state.session()
        file = await export_to(name, session, messages, keeps_outputs=keeps_outputs)
        self._search.say(f"Exported to {visible(str(file))}")

    async def _end_of_turn(self, hit: Hit) -> Point:
        """Return the point after a message and its answer. UsageError if nothing was said yet."""
        place = await self._reading.place(hit)
        said = place.said_at(hit.message_id)
        if said is None:
            raise UsageError(NOTHING_BEFORE_THAT_MESSAGE, OPEN_INSTEAD)
        end = end_of_turn([place.state[key] for key in place.branch], said)
        return Point(hit.session_id, message=end)

    def _leave(self, go: Callable[[], Awaitable[None]]) -> None:
        """Go somewhere and close; if that fails, say why and stay."""

        async def leave() -> None:
            await go()
            self._search.screen.dismiss(None)

        self._attempt(leave)

    def _attempt(self, action: Callable[[], Awaitable[None]]) -> None:
        self._search.screen.run_worker(partial(self._attempted, action), group="actions")

    async def _attempted(self, action: Callable[[], Awaitable[None]]) -> None:
        try:
            await action()
        except SessionBusy:
            self._search.say(BUSY)
        except OllmError as error:
            self._search.complain(error)


def _message(place: Place, hit: Hit) -> Message:
    """Return the message that was found; for a call, one that says what was run and its result."""
    call = place.calls.get(hit.message_id)
    if call is None:
        return place.state[hit.message_id]
    run = call.command if call.is_command else call.name
    words = Text(clean(f"{run}\n{call.result.llm_content}"))
    return Message(hit.message_id, "tool", (words,), call.timestamp)
