"""How the chat stream looks; whoever knows the theme builds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rich.segment import Segment
from rich.style import Style

from ollm_tui.tui.stream.markdown.styles import MarkdownStyles
from ollm_tui.tui.stream.transcript.entry import Speaker
from ollm_tui.tui.stream.transcript.fold import FoldKind, Tone

_MARKS: dict[Speaker, str] = {"user": "▌ ", "assistant": "┃ ", "note": "  ", "error": "! "}
_PLAIN_MARKS: dict[Speaker, str] = {"user": "> ", "assistant": "| ", "note": "  ", "error": "! "}


@dataclass(frozen=True)
class TranscriptStyles:
    """One style for each part of the stream."""

    markdown: MarkdownStyles
    user: Style
    user_mark: Style
    assistant_mark: Style
    note: Style
    error: Style
    footer: Style
    fold: Style
    """The line of a fold."""
    reasoning: Style
    """What a model thought, when it is open."""
    cursor: Style
    """The ground of the messages under the cursor."""
    cursor_mark: Style
    hit: Style
    """What was searched for."""
    current_hit: Style
    news: Style
    """The words that say that there is more below."""
    unicode: bool = True
    gap: int = 1
    """Lines that stay free between entries."""
    tones: Mapping[Tone, Style] = field(default_factory=dict[Tone, Style])
    """The colours of what is not meant as usual."""

    def mark(self, speaker: Speaker, under_cursor: bool = False) -> Segment:
        """The margin of a speaker's lines."""
        if under_cursor:
            return Segment("▌ " if self.unicode else "# ", self.cursor_mark)
        marks = _MARKS if self.unicode else _PLAIN_MARKS
        styles = {"user": self.user_mark, "assistant": self.assistant_mark, "error": self.error}
        return Segment(marks[speaker], styles.get(speaker, self.note))

    def words(self, speaker: Speaker) -> Style:
        """The words of whoever does not write Markdown."""
        return {"user": self.user, "error": self.error}.get(speaker, self.note)

    def folded(self, kind: FoldKind) -> Style:
        """The text of an open fold."""
        return self.reasoning if kind == "reasoning" else self.markdown.code_block

    def toned(self, tone: Tone, *, as_title: bool = False) -> Style:
        """A title, or a line of an open fold, as it is meant."""
        usual = self.fold if as_title else self.markdown.code_block
        return usual + self.tones[tone] if tone in self.tones else usual

    def fold_mark(self, is_open: bool, tone: Tone = "") -> str:
        """What stands before the title of a fold."""
        marks = "▸▾" if self.unicode else "+-"
        if tone == "running" and not is_open:
            return "● " if self.unicode else "* "
        return f"{marks[is_open]} "

    @property
    def news_text(self) -> str:
        """What is said at the bottom when there is more below."""
        return " new ↓ " if self.unicode else " new v "
