"""The commands for the history: search all sessions, look at the days, recall passages."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from ollm_tui.core.errors import UsageError
from ollm_tui.engine.project.history_search import Passage
from ollm_tui.tui.chat.going_back import ChatPoints
from ollm_tui.tui.chat.port import Action, ChatPort
from ollm_tui.tui.search.activity import ActivityScreen
from ollm_tui.tui.search.passage_picker import PassagePicker
from ollm_tui.tui.search.screen import SearchScreen


def everything(chat: ChatPort, argument: str) -> None:
    """Open the search for everything that was said, with the argument as its words."""
    app = chat.app

    def show_changes(_: None) -> None:
        chat.lines.show_facts()
        chat.reload_sidebar()

    screen = SearchScreen(app.workspace, ChatPoints(chat), app.memory.searches, argument)
    app.push_screen(screen, show_changes)


def activity(chat: ChatPort, _argument: str) -> None:
    """Open the activity screen; a day that is chosen there is searched."""

    def open_day(day: date | None) -> None:
        if day:
            everything(chat, f"in:{day:%Y-%m-%d}")

    chat.ask(ActivityScreen(chat.app.workspace.history), open_day)


async def recall(chat: ChatPort, argument: str) -> None:
    """Choose passages of earlier sessions, which are sent along with the next message.

    UsageError without words, and if nothing is found.
    """
    if not argument:
        raise UsageError("recall what?", "/recall and words find what was said about them")
    current = chat.opened.session_id if chat.opened else None
    finder = chat.app.workspace.history.recall
    passages = await finder.passages(argument, current)
    if not passages:
        raise UsageError("nothing was said about that in other sessions", "try other words")

    def bring(chosen: tuple[Passage, ...] | None) -> None:
        points = ChatPoints(chat)
        for passage in chosen or ():
            points.bring((passage.message,), passage.session_id)
        if chosen:
            chat.prompt.focus()

    chat.ask(PassagePicker(passages, finder.budget), bring)


ACTIONS: Mapping[str, Action] = {
    "search.everything": everything,
    "search.recall": recall,
    "search.activity": activity,
}
