"""The first screen: the name, who answers and where, the last sessions, a few hints.

It stands in the middle of an empty conversation and goes when typing starts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len, set_cell_size
from textual.content import Content
from textual.widget import Widget

from ollm_tui.core.intake import visible
from ollm_tui.tui.chat.words import (
    BETTER_MODEL,
    DEMONSTRATION_MODEL,
    FIRST_HINTS,
    KEPT_LATER,
    MARK,
    NAME,
    NOT_KEPT,
    model_words,
)
from ollm_tui.tui.keymap import Hints
from ollm_tui.tui.kit.clickable import clickable

if TYPE_CHECKING:
    from ollm_tui.engine.conversation.conversation import Conversation
    from ollm_tui.tui.browser.recent_sessions import RecentSession

DEMONSTRATION = ("embedded", DEMONSTRATION_MODEL)
"""The provider and the model that answer where nothing else was set up."""
LONGEST_TITLE = 44
"""Columns of the title of a session."""
LEAST_WIDTH = 30
"""Columns below which nothing is shown."""
NAMED, SESSIONS, HINTS, BETTER = 0, 2, 3, 4
"""The places of the parts that can be left out, from top to bottom."""
GAP = "   "


class Welcome(Widget):
    """Shows what one can begin with; takes no room once something is typed or was said."""

    DEFAULT_CSS = """
    Welcome {
        display: none; width: 1fr; height: 1fr; padding: 0 1; color: $text-muted;
        content-align: center middle; text-align: center;
    }
    """

    def __init__(self, *, unicode: bool = True, **options: Any) -> None:
        super().__init__(id="welcome", **options)
        self.auto_links = False
        self._unicode = unicode
        self._conversation: Conversation | None = None
        self._hints = Hints({})
        self._recent: Sequence[RecentSession] = ()

    def teach(
        self, conversation: Conversation | None, hints: Hints, *, is_blank: bool = True
    ) -> None:
        """Show what to begin with while the conversation is empty and nothing was begun."""
        self._conversation, self._hints = conversation, hints
        self.display = is_blank and conversation is not None and not len(conversation.state)
        if self.display:
            self.refresh()

    def offer(self, recent: Sequence[RecentSession]) -> None:
        """Offer some sessions to go on with; none where their keys lead elsewhere."""
        self._recent = recent
        self.refresh()

    def offered(self, number: str) -> str | None:
        """Return the session that is offered by a number now; None if none is."""
        numbered = {str(at): each.session_id for at, each in enumerate(self._recent, 1)}
        return numbered.get(number) if self.display else None

    def render(self) -> Content:
        """Draw as much as there is room for, what matters most in any case."""
        conversation = self._conversation
        width, height = self.content_size
        if conversation is None or width < LEAST_WIDTH:
            return Content("")
        choice = conversation.choice
        is_demonstration = (choice.provider.name, choice.model) == DEMONSTRATION
        name = MARK if self._unicode else (NAME,)
        blocks = [
            [Content.styled(line, "bold $primary") for line in name],
            self._who(conversation, width),
            self._sessions(width),
            [self._hint_row()],
            [Content(line) for line in BETTER_MODEL] if is_demonstration else [],
        ]
        for least in (HINTS, BETTER, SESSIONS, NAMED):
            if _rows(blocks) > height:
                blocks[least] = []
        if _rows(blocks) > height:
            return Content("")
        return Content("\n\n").join(Content("\n").join(block) for block in blocks if block)

    def _who(self, conversation: Conversation, width: int) -> list[Content]:
        choice = conversation.choice
        names = model_words(choice.model, choice.provider.name, choice.remote_host)
        who = next((each for each in names if cell_len(each) <= width), names[-1])
        lines = [clickable(_cut(who, width), "model.choose", style="$foreground")]
        if not conversation.is_kept:
            lines.append(Content(NOT_KEPT))
        elif not conversation.is_saved_at_once:
            lines.append(Content(KEPT_LATER))
        return lines

    def _sessions(self, width: int) -> list[Content]:
        """Return a line for each session, all of one length: so they stand below one another."""
        keys = [self._hints.tab(number) for number in range(1, len(self._recent) + 1)]
        beside = max(map(len, keys), default=0) + 2 * len(GAP) + 6
        most = max(min(LONGEST_TITLE, width - beside), 0)
        titles = [_cut(visible(each.title), most) for each in self._recent]
        longest = max(map(cell_len, titles), default=0)
        ages = max((len(each.age) for each in self._recent), default=0)
        return [
            clickable(f"{key}{GAP}", "session.go", str(number), "$accent")
            + clickable(set_cell_size(title, longest), "session.go", str(number), "$foreground")
            + clickable(f"{GAP}{each.age.rjust(ages)}", "session.go", str(number))
            for number, (key, title, each) in enumerate(
                zip(keys, titles, self._recent, strict=True), 1
            )
        ]

    def _hint_row(self) -> Content:
        return Content(GAP).join(self._hint(key, word) for key, word in FIRST_HINTS)

    def _hint(self, key: str, word: str) -> Content:
        """Return a hint; the id of a command stands for its key, and can be clicked."""
        if len(key) == 1:
            return Content.assemble((f"{key} ", "$accent"), word)
        return clickable(f"{self._hints.keys(key)[0]} ", key, style="$accent") + clickable(
            word, key
        )


def _rows(blocks: Sequence[Sequence[Content]]) -> int:
    shown = [len(block) for block in blocks if block]
    return sum(shown) + len(shown) - 1


def _cut(text: str, width: int) -> str:
    return text if cell_len(text) <= width else f"{set_cell_size(text, max(width - 1, 0))}…"
