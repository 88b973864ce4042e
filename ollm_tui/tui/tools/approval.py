"""The question whether the model may do something: shown whole, answered with one key.

Keys that were meant for something else never answer it: those typed before it was seen, those
right after that, and yes before all of it was read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from ollm_tui.core.intake import visible
from ollm_tui.core.tool import Action, Verdict
from ollm_tui.tui.chat.status import TwoTexts
from ollm_tui.tui.kit.diff_lines import DiffLines, TonedLine, diff_lines, exact_lines
from ollm_tui.tui.kit.question_block import AS_USUAL, QuestionBlock, answer_key, leave_words
from ollm_tui.tui.tools.words import APPLIES_TO

QUIET_SECONDS = 0.4
"""Nobody reads a question faster; a key that comes earlier was meant for something else."""
# Ids of the bindings that decide. Reading and viewing are allowed at once.
ANSWERS = frozenset(
    f"approval.{answer}" for answer in ("yes", "no", "why", "always", "project", "never", "forbid")
)
ALLOWED_FOR_GOOD, REFUSED_FOR_GOOD = ("always", "project"), ("never", "forbid")
"""Answers that are remembered."""


class Request(NamedTuple):
    """A call that waits for an answer."""

    call_id: str
    tool: str
    action: Action
    verdict: Verdict
    place: str = ""
    """Which of several calls it is: "2 of 3"."""
    sandbox: str = ""
    """What holds commands, in words."""

    @property
    def lines(self) -> list[TonedLine]:
        """The whole of what would be done."""
        return list(self._lines())

    def _lines(self) -> Iterator[TonedLine]:
        yield from exact_lines(self.action.subject)
        if self.action.diff:
            yield from diff_lines(self.action.diff)


class Approval(QuestionBlock):
    """Shows one request at a time, and takes an answer to it only from somebody who saw it."""

    NAME = "approval"
    DEFAULT_CSS = """
    Approval {
        & TwoTexts { height: 1; color: $foreground; }
        & TwoTexts .left { text-style: bold; }
        & TwoTexts .right { color: $text-muted; }
        & DiffLines { margin: 0 0 0 2; }
        & #why { height: auto; color: $text-muted; }
        &.-dangerous { border-left: heavy $error; }
        &.-dangerous #why { color: $text-error; }
    }
    """
    BINDINGS = [
        answer_key("approval", "y", "yes", "Yes", "Allow once"),
        answer_key("approval", "n", "no", "No", "Deny"),
        answer_key("approval", "N", "why", "No, and say why", "Deny, and tell the model why"),
        answer_key("approval", "a", "always", "Always", "Allow for this session"),
        answer_key("approval", "A", "project", "Always in project", "Allow for this project"),
        answer_key("approval", "d", "never", "Never", "Deny for this session"),
        answer_key("approval", "D", "forbid", "Never in project", "Deny for this project"),
        answer_key("approval", "v", "view", "View", "View full screen"),
        Binding("down,j", "read(1)", "Down", id="approval.down", tooltip="Scroll down", show=False),
        Binding("up,k", "read(-1)", "Up", id="approval.up", tooltip="Scroll up", show=False),
        Binding(
            "space",
            "read(0)",
            "Scroll",
            id="approval.page",
            tooltip="Scroll a page down",
            show=False,
        ),
        leave_words("approval"),
    ]

    @dataclass
    class Typed(Message):
        """The user went on writing: that is no answer, but text for the prompt."""

        text: str

    def __init__(
        self,
        reach: str,
        keymap: Mapping[str, str] = AS_USUAL,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(reach, keymap)
        self.clock = clock
        """Tells when keys begin to count."""
        self._quiet_until = inf
        self._seen_at = inf
        self._is_writing = False
        """Whether keys are text until the focus has moved to the prompt."""
        self.request: Request | None = None
        self.has_been_read = False

    def compose(self) -> ComposeResult:
        """Lay out the title, all of what would be done, why it is asked, and the keys."""
        yield TwoTexts()
        yield DiffLines()
        yield Static("", id="why", markup=False)
        yield from super().compose()

    def ask(self, request: Request) -> None:
        """Show a request; the time in which keys do not count begins when it is seen."""
        self.request = request
        self.has_been_read = False
        self._quiet_until = self._seen_at = inf
        self.set_class(request.verdict.dangerous, "-dangerous")
        action = request.action
        facts = (request.place, visible(request.tool), visible(action.language))
        which = " · ".join(fact for fact in facts if fact)
        left = f"wants to {visible(action.title)}   {which}"
        # A sandbox holds commands only: it says nothing about a file that is changed.
        holds = visible(request.sandbox) if action.language or action.is_outside else ""
        self.query_one(TwoTexts).show(left=left, right=holds)
        self.query_one(DiffLines).show(request.lines)
        self.query_one("#why", Static).update(Content(" · ".join(_reasons(request))))
        self.display = True
        self.show_keys()
        self.call_after_refresh(self._begin_quiet_time)

    def answers(self) -> tuple[str, ...]:
        """Return hints: yes only once all was read, always only for what is not dangerous."""
        if self.request is None:
            return ()
        key = self.key
        always = (f"{key('always')} always (session)", f"{key('project')} always (project)")
        never = (f"{key('never')} never (session)", f"{key('forbid')} never (project)")
        read_first = f"{key('page')} scroll ({key('yes')} works at the end)"
        return (
            f"{key('yes')} yes" if self.has_been_read else read_first,
            f"{key('no')} no",
            f"{key('why')} no, and say why",
            *(always if self._can_allow_for_good and self.has_been_read else ()),
            *(never if self._can_refuse_for_good else ()),
            f"{key('view')} view full screen",
        )

    def takes(self, answer: str) -> bool:
        """Whether an answer can be given to what is shown."""
        if answer in ("yes", "always", "project") and not self.has_been_read:
            return False
        if answer in ALLOWED_FOR_GOOD:
            return self._can_allow_for_good
        return self._can_refuse_for_good if answer in REFUSED_FOR_GOOD else True

    @on(DiffLines.EndSeen)
    def note_read(self) -> None:
        """Note that all of it was seen, here or on the whole screen."""
        self.has_been_read = True
        self.show_keys()

    def action_read(self, lines: int) -> None:
        """Scroll by some lines, or by a page if `lines` is 0."""
        page = self.query_one(DiffLines)
        page.scroll_relative(y=lines or max(page.size.height - 1, 1), animate=False)

    def on_key(self, event: events.Key) -> None:
        """Ignore a key that was not meant for this; what is being written goes to the prompt."""
        if not self.has_focus:
            return
        now = self.clock()
        active = self.screen.active_bindings.get(event.key)
        binding = active.binding.id if active and active.node is self else None
        if event.character and event.is_printable and (self._is_writing or not binding):
            # The focus follows a moment later, and a "y" in the middle of a word is no yes.
            self._is_writing = True
            self.post_message(self.Typed(event.character))
            event.stop()
            event.prevent_default()
        elif binding in ANSWERS and (event.time < self._seen_at or now < self._quiet_until):
            # Somebody is typing: the pause begins anew with every key.
            self._quiet_until = max(self._quiet_until, now + QUIET_SECONDS)
            event.stop()
            event.prevent_default()

    def _on_focus(self, event: events.Focus) -> None:
        super()._on_focus(event)
        self._is_writing = False

    def _begin_quiet_time(self) -> None:
        self._seen_at = self.clock()
        self._quiet_until = self._seen_at + QUIET_SECONDS

    @property
    def _can_allow_for_good(self) -> bool:
        verdict = self.request.verdict if self.request else None
        return bool(verdict and verdict.grant and not verdict.dangerous)

    @property
    def _can_refuse_for_good(self) -> bool:
        verdict = self.request.verdict if self.request else None
        return bool(verdict and (verdict.grant or verdict.dangerous))


def _reasons(request: Request) -> Iterator[str]:
    verdict = request.verdict
    yield visible(verdict.reason).removeprefix("it ")
    if request.action.place:
        yield f"in {visible(request.action.place)}"
    if verdict.grant and not verdict.dangerous:
        yield APPLIES_TO.format(visible(verdict.grant))
