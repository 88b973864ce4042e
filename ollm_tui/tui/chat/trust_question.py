"""Questions to agree to something or choose, above the prompt; they do not take the focus."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from textual.binding import Binding
from textual.content import Content
from textual.widgets import Static

from ollm_tui.core.intake import visible
from ollm_tui.tui.chat.words import ASKED_AGAIN, LATER, NOT_NOW

TOO_LONG = "too-long"
"""The subject of what is asked about a message that did not fit."""
MODE = "mode"
"""The subject of the question whether to use another mode."""
LENGTH = "length"
"""The subject of the question whether to go on in a new session."""

DETAILS_SHOWN = 4
"""The most details that are shown; all can be viewed."""
EDGES = 6
"""Columns beside the text of a line, with the space before its keys."""
LEAST_HEIGHT = 16
"""Rows of the terminal that everything else takes, with a question of two lines."""


class Question(NamedTuple):
    """Something to agree to, or to choose."""

    subject: str
    """What it is about; there is one question about a subject at a time."""
    words: str
    answers: Mapping[str, str]
    """The keys, and the answer each gives."""
    text: str
    """The whole text that is agreed to, to be read first; empty where the line says it all."""
    give: Callable[[str], Awaitable[str]]
    """Does what an answer means and returns what was done, in words."""
    warning: str = ""
    """What would follow that is easily overlooked."""
    details: Sequence[str] = ()
    """Further lines below the words; where there is little room, only the first ones are shown."""
    refused: Mapping[str, str] = MappingProxyType({})
    """Keys that would be answers elsewhere, and why they are none here."""
    later: str = ASKED_AGAIN
    """What is said when the answer is put off."""
    is_brief: bool = False
    """Whether it is shown with its keys in one line, where there is room."""


def _answer(key: str, title: str, tooltip: str) -> Binding:
    action = f"screen.command('context.trust', '{key}')"
    return Binding(key, action, title, id=f"trust.{title.lower()}", tooltip=tooltip, show=False)


class TrustQuestion(Static, can_focus=True):
    """Shows the first of the questions; its letters are keys only while it has the focus."""

    DEFAULT_CSS = """
    TrustQuestion {
        height: auto; padding: 0 1; background: $surface; border-left: outer $accent;
        &:focus { border-left: outer $primary; background: $panel; }
    }
    """
    BINDINGS = [
        _answer("y", "Yes", "Yes, as asked"),
        _answer("a", "Always", "Yes, until it changes"),
        _answer("n", "Never", "No, until it changes"),
        _answer("v", "View", "View it first"),
        _answer("w", "Window", "Message too long: use a larger window"),
        _answer("c", "Compress", "Message too long: compress first"),
        _answer("o", "Fold", "Message too long: fold your oldest messages"),
        _answer("f", "File", "Message too long: send as a file, read in parts"),
        _answer("r", "Remove", "Message too long: send without attachments"),
        *(
            _answer(str(n), f"Without-{n}", "Message too long: send without this one")
            for n in range(1, 10)
        ),
        _answer("s", "Session", "Message too long: send in a new session"),
        Binding(
            "escape",
            "screen.command('context.trust', 'later')",
            "Not now",
            id="trust.later",
            tooltip="Not now",
            show=False,
        ),
    ]

    def __init__(self, reach: str) -> None:
        super().__init__(id="trust")
        self.reach = reach
        """The key that moves the focus here."""
        self.questions: list[Question] = []
        self.rows = 0
        """How many lines it takes, not counting those that are wrapped."""
        self._is_reached = False
        self.is_listening = False
        """Whether somebody listens to what hooks report."""
        self.display = False

    def ask(self, question: Question) -> None:
        """Add a question, unless one about the same subject is asked already."""
        if question.subject not in {asked.subject for asked in self.questions}:
            self.questions.append(question)
        self.show()

    def ask_first(self, question: Question) -> None:
        """Put a question before all others, in the place of one about the same subject."""
        others = [each for each in self.questions if each.subject != question.subject]
        self.questions = [question, *others]
        self.show()

    def drop(self, subject: str) -> None:
        """Remove the question about a subject, which needs no answer any more."""
        if any(each.subject == subject for each in self.questions):
            self.questions = [each for each in self.questions if each.subject != subject]
            self.show()

    def take_out(self, subjects: Collection[str]) -> list[Question]:
        """Remove the questions about some subjects, and return them."""
        taken = [each for each in self.questions if each.subject in subjects]
        if taken:
            self.questions = [each for each in self.questions if each.subject not in subjects]
            self.show()
        return taken

    def show(self) -> None:
        """Show the first question and the keys that answer it now; nothing if there is none."""
        self.display = bool(self.questions)
        if not self.questions:
            self.rows = 0
            return
        question = self.questions[0]
        more = f" (1 of {len(self.questions)})" if len(self.questions) > 1 else ""
        answers = {**question.answers, **({"v": "view"} if question.text else {})}
        keys = "   ".join(f"{key} {visible(word)}" for key, word in answers.items())
        esc = "" if LATER in answers.values() else f"   {NOT_NOW}"
        way = f"{keys}{esc}" if self._is_reached else f"{self.reach}, then   {keys}"
        lines = [Content.assemble((visible(question.words), "$foreground"), (more, "$text-muted"))]
        if question.warning:
            lines.append(Content.styled(f"  {visible(question.warning)}", "$text-warning"))
        lines += [Content(f"  {visible(detail)}") for detail in self._fitting(question.details)]
        hint = Content.styled(way, "$primary" if self._is_reached else "$text-muted")
        if question.is_brief and lines[0].cell_length + len(way) + EDGES < self.screen.size.width:
            lines = [Content("   ").join((lines[0], hint))]
        else:
            lines.append(hint)
        self.rows = len(lines)
        self.update(Content("\n").join(lines))

    def _fitting(self, details: Sequence[str]) -> Sequence[str]:
        """Return the first details, as many as leave the prompt its room, and how many follow."""
        room = min(DETAILS_SHOWN, max(0, self.screen.size.height - LEAST_HEIGHT))
        if len(details) <= room:
            return details
        more = f"and {len(details) - room} more" if room else f"{len(details)} changes"
        return [*details[:room], more]

    def on_focus(self) -> None:
        """Show that its letters are keys now."""
        self._is_reached = True
        self.show()

    def on_blur(self) -> None:
        """Show the key that leads here, as its letters are no keys any more."""
        self._is_reached = False
        self.show()

    def on_click(self) -> None:
        """Take the focus."""
        self.focus()
