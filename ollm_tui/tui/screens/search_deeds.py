"""What is done with a message that was found: open, fork, restore, quote, copy, export."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal, Protocol, assert_never

from ollm_tui.core.errors import OllmError, SessionBusy
from ollm_tui.core.intake import visible
from ollm_tui.core.message import Message
from ollm_tui.core.search import Hit
from ollm_tui.core.session_state import SessionState
from ollm_tui.engine.points import Point
from ollm_tui.tui.chat_points import end_of_turn
from ollm_tui.tui.clipboard import copy
from ollm_tui.tui.dialogs.question import Question
from ollm_tui.tui.export_file import export_to
from ollm_tui.tui.transcript.spots import Words

if TYPE_CHECKING:
    from ollm_tui.tui.screens.search import SearchScreen

Deed = Literal["open", "fork", "restore", "quote", "copy", "export"]
BUSY = "another window has that session open: f forks it from there instead"
EXPORT = "Export the conversation with this message to\nThe ending says the form: .md, .html, .json"


class Beside(Protocol):
    """What the search asks of the chat it was opened from."""

    async def open_at(self, point: Point, words: Words | None = None) -> None:
        """Open a session at a message. OllmError."""
        ...

    async def go_to(self, point: Point) -> None:
        """Set a session back to a message. OllmError."""
        ...

    async def fork(self, point: Point) -> None:
        """Go on from a message in a new session. OllmError."""
        ...

    def bring(self, messages: Sequence[Message], session_id: str) -> None:
        """Put messages into the prompt."""
        ...


class SearchDeeds:
    """Does things for one search screen; what goes wrong is told there in one line."""

    def __init__(self, screen: SearchScreen, beside: Beside) -> None:
        self._screen = screen
        self._beside = beside

    def do(self, deed: Deed, hit: Hit) -> None:
        """Do one thing with a message."""
        match deed:
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
            case _:
                assert_never(deed)

    async def _open(self, hit: Hit) -> None:
        words = self._screen.reading.words if self._screen.reading.query.terms else None
        await self._beside.open_at(Point(hit.session_id, message=hit.message_id), words)

    async def _fork(self, hit: Hit) -> None:
        await self._beside.fork(await self._end_of_turn(hit))

    async def _restore(self, hit: Hit) -> None:
        await self._beside.go_to(await self._end_of_turn(hit))

    async def _quote(self, hit: Hit) -> None:
        state = (await self._screen.reading.place(hit)).state
        self._beside.bring((state[hit.message_id],), hit.session_id)
        self._screen.say("quoted: it is in the prompt and goes along with your next message")

    async def _copy(self, hit: Hit) -> None:
        state = (await self._screen.reading.place(hit)).state
        where = await copy(self._screen.app, _words(state, hit))
        self._screen.say(f"message {where}")

    def _ask_where_to(self, hit: Hit) -> None:
        def answer(name: str | None) -> None:
            if name is not None:
                self._attempt(lambda: self._export(hit, name))

        question = Question(EXPORT, f"{hit.session_id[:8]}.md", "export")
        self._screen.app.push_screen(question, answer)

    async def _export(self, hit: Hit, name: str) -> None:
        state, branch, _ = await self._screen.reading.place(hit)
        file = await export_to(name, state.session(), [state[key] for key in branch])
        self._screen.say(f"exported to {visible(str(file))}")

    async def _end_of_turn(self, hit: Hit) -> Point:
        """The point after a message and what answers it."""
        state, branch, _ = await self._screen.reading.place(hit)
        end = end_of_turn([state[key] for key in branch], hit.message_id)
        return Point(hit.session_id, message=end)

    def _leave(self, go: Callable[[], Awaitable[None]]) -> None:
        """Go somewhere and close; if that cannot be, say why and stay."""

        async def leave() -> None:
            await go()
            self._screen.dismiss(None)

        self._attempt(leave)

    def _attempt(self, action: Callable[[], Awaitable[None]]) -> None:
        self._screen.run_worker(partial(self._attempted, action), group="actions")

    async def _attempted(self, action: Callable[[], Awaitable[None]]) -> None:
        try:
            await action()
        except SessionBusy:
            self._screen.say(BUSY)
        except OllmError as error:
            self._screen.complain(error)


def _words(state: SessionState, hit: Hit) -> str:
    """What was said; without words, what was found."""
    return state[hit.message_id].text.strip() or hit.snippet.text
