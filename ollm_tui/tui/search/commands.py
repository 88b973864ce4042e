"""The commands for the history: search all sessions, look at the days, recall passages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import NamedTuple

from textual import on
from textual.binding import Binding

from ollm_tui.core.counts import short_count
from ollm_tui.core.errors import UsageError
from ollm_tui.core.intake import visible
from ollm_tui.core.session.titles import UNTITLED
from ollm_tui.engine.project.history_search import Passage
from ollm_tui.tui.chat.chat_points import ChatPoints
from ollm_tui.tui.chat.port import Action, ChatPort
from ollm_tui.tui.kit.choice_list import Choice, ChoiceList
from ollm_tui.tui.kit.picker import PickerOf
from ollm_tui.tui.search.activity import ActivityScreen
from ollm_tui.tui.search.history_answers import ask, sources
from ollm_tui.tui.search.hit_list import day_of
from ollm_tui.tui.search.screen import SearchScreen
from ollm_tui.tui.search.words import (
    FILES_TITLE,
    NO_MATCHES_ELSEWHERE,
    NO_MATCHES_IN_FILES,
    RECALL_FILES_USAGE,
    RECALL_KEYS,
    RECALL_TITLE,
    RECALL_USAGE,
    RECALL_WHAT,
    SPEAKERS,
    TRY_OTHER_WORDS,
)

CHOSEN = "✓"
LONGEST_TITLE = 20


class OfferedPassage(NamedTuple):
    """A passage to choose, in words, and what it costs."""

    label: str
    source: str
    text: str
    tokens: int


class PassagePicker(PickerOf[tuple[int, ...]]):
    """Dismisses with the numbers of the marked passages, or of the highlighted one; they stay
    within a budget of tokens."""

    BINDINGS = [
        Binding("tab", "mark", "Mark", id="picker.mark", tooltip="Mark or unmark"),
    ]

    def __init__(self, title: str, passages: Sequence[OfferedPassage], budget: int) -> None:
        self._passages = passages
        self._budget = budget
        self._marked: tuple[int, ...] = ()
        self._problem = ""
        super().__init__(title, self._lines(), keys=RECALL_KEYS)

    def result(self, choice: Choice) -> tuple[int, ...] | None:
        """Return the marked passages, or this one; None if they cost more than the budget."""
        chosen = self._marked or (int(choice.key),)
        if not self._fits(chosen):
            return None
        return chosen

    def action_mark(self) -> None:
        """Mark the highlighted passage, or no longer, and move on."""
        highlighted = self.choice_list.highlighted
        if highlighted is None:
            return
        number = int(highlighted.key)
        if number in self._marked:
            self._marked = tuple(each for each in self._marked if each != number)
        elif self._fits((*self._marked, number)):
            self._marked = (*self._marked, number)
        self.show(self._lines(), highlighted.key)
        self.choice_list.move(1)
        self._tell()

    @on(ChoiceList.Highlighted)
    def _tell(self) -> None:
        """Show what the passages cost and the highlighted text, or why it does not fit."""
        highlighted = self.choice_list.highlighted
        if highlighted is None:
            self.say("")
            return
        passage = self._passages[int(highlighted.key)]
        cost = self._cost(self._marked or (int(highlighted.key),))
        marked = f"{len(self._marked)} marked, " if self._marked else ""
        sums = f"{marked}≈{cost:,} of {self._budget:,} tokens"
        self.say(self._problem or f"{sums} · {' '.join(passage.text.split())}")
        self._problem = ""

    def _fits(self, numbers: Sequence[int]) -> bool:
        cost = self._cost(numbers)
        if cost > self._budget:
            self._problem = (
                f"Too much: ≈{cost:,} of {self._budget:,} tokens (search.retrievalTokens)"
            )
            self.call_later(self._tell)
        return cost <= self._budget

    def _cost(self, numbers: Sequence[int]) -> int:
        return sum(self._passages[number].tokens for number in numbers)

    def _lines(self) -> list[Choice]:
        return [
            Choice(
                str(number),
                passage.label,
                passage.source,
                mark=CHOSEN if number in self._marked else "",
                words=passage.text,
            )
            for number, passage in enumerate(self._passages)
        ]


def _source(passage: Passage) -> str:
    title = " ".join(visible(passage.title).split()) or UNTITLED
    short = title if len(title) <= LONGEST_TITLE else f"{title[: LONGEST_TITLE - 1]}…"
    day = day_of(passage.timestamp)
    when = f" · {day:%d %b %Y}" if day else ""
    return f"{short}{when} · ≈{short_count(passage.tokens)}"


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

    workspace = chat.app.workspace
    chat.ask(ActivityScreen(workspace.history, workspace.wins), open_day)


async def recall(chat: ChatPort, argument: str) -> None:
    """Choose passages of earlier sessions, which are sent along with the next message.

    With `--files`, of the project's files. UsageError without words, and if nothing is found.
    """
    if argument.split()[:1] == ["--files"]:
        await _recall_files(chat, argument.split(None, 1)[1:])
        return
    if not argument:
        raise UsageError(RECALL_WHAT, RECALL_USAGE)
    current = chat.opened.session_id if chat.opened else None
    finder = chat.app.workspace.history.recall
    passages = await finder.passages(argument, current)
    if not passages:
        raise UsageError(NO_MATCHES_ELSEWHERE, TRY_OTHER_WORDS)

    def bring(chosen: tuple[int, ...] | None) -> None:
        points = ChatPoints(chat)
        for passage in (passages[number] for number in chosen or ()):
            points.bring((passage.message,), passage.session_id)
        if chosen:
            chat.prompt.focus()

    if finder.note:
        chat.tell(finder.note)
    offered = [
        OfferedPassage(
            f"{SPEAKERS[each.role]}: {' '.join(each.text.split())}",
            _source(each),
            each.text,
            each.tokens,
        )
        for each in passages
    ]
    chat.ask(PassagePicker(RECALL_TITLE, offered, finder.budget), bring)


async def _recall_files(chat: ChatPort, words: Sequence[str]) -> None:
    """Choose passages of the project's files, which are sent along with the next message."""
    if not words:
        raise UsageError(RECALL_WHAT, RECALL_FILES_USAGE)
    workspace = chat.app.workspace
    passages = await workspace.passages.find(words[0])
    if not passages:
        raise UsageError(NO_MATCHES_IN_FILES, TRY_OTHER_WORDS)

    def bring(chosen: tuple[int, ...] | None) -> None:
        prompt = chat.prompt
        written = prompt.written
        brought = [passages[number].attachment for number in chosen or ()]
        if brought:
            prompt.put(written.text, (*written.attachments, *brought))
            prompt.focus()

    offered = [
        OfferedPassage(
            " ".join(visible(each.text).split()),
            f"{visible(each.name)} · ≈{short_count(each.tokens)}",
            each.text,
            each.tokens,
        )
        for each in passages
    ]
    chat.ask(PassagePicker(FILES_TITLE, offered, workspace.history.recall.budget), bring)


ACTIONS: Mapping[str, Action] = {
    "search.everything": everything,
    "search.recall": recall,
    "search.ask": ask,
    "search.sources": sources,
    "search.activity": activity,
}
