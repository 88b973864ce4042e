"""A page of lines to read: what a tool would do, did or printed, and what tools may do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import Static

from ollm_tui.core.intake import clean, visible
from ollm_tui.tui.kit.diff_lines import DiffLines, TonedLine, exact_lines
from ollm_tui.tui.kit.reading import ReadingScreen
from ollm_tui.tui.stream.entries.tool_entries import ToolBlock, block_title
from ollm_tui.tui.tools.words import MODES, NO_GRANTS, NO_SANDBOX, NO_TOOLS, PAGE_KEYS

if TYPE_CHECKING:
    from ollm_tui.engine.tools.conversation_tools import ConversationTools
    from ollm_tui.services.safety.grants import Grant


class ToolPage(ReadingScreen):
    """Shows lines on the whole screen."""

    PAGE = DiffLines
    AUTO_FOCUS = ""
    DEFAULT_CSS = """
    ToolPage {
        layout: vertical; background: $background;
        & #heading { height: 1; padding: 0 1; background: $surface; color: $primary; }
        & DiffLines { height: 1fr; padding: 0 1; background: $background; }
        & #keys { height: 1; padding: 0 1; color: $text-muted; background: $surface; }
    }
    """
    BINDINGS = [
        Binding("escape,q,v", "close", "Close", id="toolpage.close", tooltip="Close the page"),
        Binding("j,down", "scroll(1)", "Down", id="toolpage.down", tooltip="A line down"),
        Binding("k,up", "scroll(-1)", "Up", id="toolpage.up", tooltip="A line up"),
        Binding(
            "pagedown,space", "page(1)", "Page down", id="toolpage.page_down", tooltip="A page on"
        ),
        Binding("pageup", "page(-1)", "Page up", id="toolpage.page_up", tooltip="A page back"),
        Binding("g,home", "edge(0)", "Top", id="toolpage.top", tooltip="To the top"),
        Binding("G,end", "edge(1)", "End", id="toolpage.end", tooltip="To the end"),
    ]

    def __init__(self, title: str, lines: Sequence[TonedLine], keys: str = PAGE_KEYS) -> None:
        super().__init__()
        self._heading = visible(title)
        self._page = DiffLines(lines)
        self._keys = keys

    @property
    def end_was_seen(self) -> bool:
        """Whether the end of the page was shown."""
        return self._page.end_was_seen

    def compose(self) -> ComposeResult:
        """Lay out the title, the lines and the keys."""
        yield Static(Content(self._heading), id="heading", markup=False)
        yield self._page
        yield Static(Content(self._keys), id="keys")


def permission_lines(tools: ConversationTools, grants: Sequence[Grant]) -> list[TonedLine]:
    """Return the lines about everything that decides what happens unasked."""
    lines = list(_section("Asking", f"{tools.approval_mode}: {MODES[tools.approval_mode]}"))
    lines += [TonedLine("  Shift+Tab changes it", "quiet"), TonedLine("")]
    lines += [*_section("What holds commands", tools.sandbox_words or NO_SANDBOX), TonedLine("")]
    lines += [*_section("Tools the model has", *(tools.offered or (NO_TOOLS,))), TonedLine("")]
    said = [line for grant in grants for line in _grant_words(grant)]
    lines += _section("What you said for good", *(said or (NO_GRANTS,)))
    if grants:
        lines.append(TonedLine("  /tools clear forgets all of it", "quiet"))
    return lines


def output_lines(
    blocks: Iterable[ToolBlock], whole: Callable[[str], str | None]
) -> Iterator[TonedLine]:
    """Yield all that calls printed, also what the model was not given."""
    for block in blocks:
        yield TonedLine(block_title(block), "running")
        text = whole(block.call.call_id) or block.output
        yield from map(TonedLine, clean(text).rstrip("\n").split("\n"))
        yield TonedLine("")


def _grant_words(grant: Grant) -> Iterator[str]:
    subject = grant.subject
    where = f" · in {subject.place}" if subject.place else ""
    yield f"{grant.answer} in this {grant.scope} · {subject.tool}{where}"
    yield from (f"    {line.text}" for line in exact_lines(subject.code))


def _section(title: str, *facts: str) -> Iterator[TonedLine]:
    yield TonedLine(title, "running")
    yield from (TonedLine(f"  {visible(fact)}") for fact in facts)
