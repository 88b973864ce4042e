"""The styles of the chat stream, made from a theme's colours and mixtures of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.theme import Theme

from ollm_tui.tui.stream.markdown.styles import MarkdownStyles
from ollm_tui.tui.stream.transcript.entry import FoldKind, Speaker, Tone
from ollm_tui.tui.themes import quiet_colour

_MARKS: dict[Speaker, str] = {"user": "▌ ", "assistant": "┃ ", "note": "  ", "error": "! "}
_PLAIN_MARKS: dict[Speaker, str] = {"user": "> ", "assistant": "| ", "note": "  ", "error": "! "}
_NO_STYLE = Style()


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
    """The title of a fold."""
    reasoning: Style
    """The text of an open fold of reasoning."""
    cursor: Style
    """The background of the messages under the cursor."""
    cursor_mark: Style
    hit: Style
    """What the search has found."""
    current_hit: Style
    news: Style
    """The label that says there is more below."""
    unicode: bool = True
    gap: int = 1
    """Lines that stay free between entries."""
    stamps: bool = False
    """Whether the time of messages stands at the right edge."""
    column: int = 0
    """The most columns of text; 0 is all there are."""
    is_centred: bool = False
    """Whether the column stands in the middle of a wide terminal."""
    user_ground: Style = _NO_STYLE
    """The background of the user's own messages."""
    user_cursor: Style = _NO_STYLE
    """The background of those under the cursor."""
    tones: Mapping[Tone, Style] = field(default_factory=dict[Tone, Style])
    """The colours of the tones; a tone without one looks as usual."""

    def mark(self, speaker: Speaker, under_cursor: bool = False) -> Segment:
        """Return the margin of a speaker's lines."""
        if under_cursor:
            return Segment("▌ " if self.unicode else "# ", self.cursor_mark)
        marks = _MARKS if self.unicode else _PLAIN_MARKS
        styles = {"user": self.user_mark, "assistant": self.assistant_mark, "error": self.error}
        return Segment(marks[speaker], styles.get(speaker, self.note))

    def ground(self, speaker: Speaker, under_cursor: bool = False) -> Style:
        """Return the background of a speaker's lines."""
        if under_cursor:
            return (self.user_cursor or self.cursor) if speaker == "user" else self.cursor
        return self.user_ground if speaker == "user" else _NO_STYLE

    def words(self, speaker: Speaker) -> Style:
        """Return the style of text that is not Markdown."""
        return {"user": self.user, "error": self.error}.get(speaker, self.note)

    def folded(self, kind: FoldKind) -> Style:
        """Return the style of the text of an open fold."""
        return self.reasoning if kind == "reasoning" else self.markdown.code_block

    def toned(self, tone: Tone, *, as_title: bool = False) -> Style:
        """Return the style of a title, or of a line of an open fold, in a tone."""
        usual = self.fold if as_title else self.markdown.code_block
        return usual + self.tones[tone] if tone in self.tones else usual

    @property
    def writing_mark(self) -> str:
        """The mark where the next word of an answer will stand."""
        return "▍" if self.unicode else "_"

    def fold_mark(self, is_open: bool, tone: Tone = "") -> str:
        """Return what stands before the title of a fold."""
        marks = "▸▾" if self.unicode else "+-"
        if tone == "running" and not is_open:
            return "● " if self.unicode else "* "
        return f"{marks[is_open]} "

    @property
    def news_text(self) -> str:
        """The label at the bottom when there is more below."""
        return " new ↓ " if self.unicode else " new v "


FAINT = 0.72
"""How far the text colour is mixed towards the background, for rules and borders."""
SOFT, HINTED = 0.09, 0.35
"""How far the background is mixed towards a colour: under the cursor, and behind hits."""
TINTED, TINTED_CURSOR = 0.10, 0.24
"""How far it is mixed towards the user's colour: behind the user's words, and under the cursor."""


class Inks:
    """Makes styles from the colours of a theme."""

    def __init__(self, theme: Theme) -> None:
        self.theme = theme
        self.text = Color.parse(theme.foreground or "white")
        self.ground = Color.parse(theme.background or "black")

    def towards_ground(self, share: float) -> str:
        """Return the text colour, mixed this far (0 to 1) towards the background."""
        return self.text.blend(self.ground, share).hex

    def tinted(self, share: float) -> str:
        """Return the background, mixed this far (0 to 1) towards the user's colour."""
        return self.ground.blend(Color.parse(self.theme.accent or "yellow"), share).hex

    def style(self, marks: str = "", colour: str | None = None, on: str | None = None) -> Style:
        """Return a style from words such as "bold" and from colours."""
        words = [marks, colour or "", f"on {on}" if on else ""]
        return Style.parse(" ".join(word for word in words if word) or "none")


def transcript_styles(
    theme: Theme,
    *,
    unicode: bool = True,
    compact: bool = False,
    stamps: bool = False,
    column: int = 0,
    is_centred: bool = False,
    copy_hint: str = "c copy",
) -> TranscriptStyles:
    """Return the styles of the stream in a theme."""
    inks = Inks(theme)
    quiet = quiet_colour(theme)
    return TranscriptStyles(
        markdown=_markdown_styles(inks, copy_hint),
        user=inks.style(colour=theme.foreground),
        user_mark=inks.style(colour=theme.accent),
        assistant_mark=inks.style(colour=theme.primary),
        note=inks.style("italic", quiet),
        error=inks.style(colour=theme.error),
        footer=inks.style(colour=quiet),
        fold=inks.style(colour=quiet),
        reasoning=inks.style("italic", quiet),
        cursor=inks.style(on=inks.ground.blend(inks.text, SOFT).hex),
        cursor_mark=inks.style(colour=theme.foreground),
        hit=inks.style(on=inks.ground.blend(Color.parse(theme.warning or "yellow"), HINTED).hex),
        current_hit=inks.style("bold", theme.background, on=theme.warning),
        news=inks.style("bold", theme.background, on=theme.accent),
        unicode=unicode,
        gap=0 if compact else 1,
        stamps=stamps,
        column=column,
        is_centred=is_centred,
        user_ground=inks.style(on=inks.tinted(TINTED)),
        user_cursor=inks.style(on=inks.tinted(TINTED_CURSOR)),
        tones={
            "running": inks.style(colour=theme.accent),
            "failed": inks.style(colour=theme.error),
            "stopped": inks.style(colour=theme.warning),
            "quiet": inks.style(colour=quiet),
            "added": inks.style(colour=theme.success),
            "gone": inks.style(colour=theme.error),
        },
    )


def _markdown_styles(inks: Inks, copy_hint: str) -> MarkdownStyles:
    theme, style = inks.theme, inks.style
    quiet, faint = quiet_colour(theme), inks.towards_ground(FAINT)
    return MarkdownStyles(
        text=style(colour=theme.foreground),
        heading=(
            style("bold underline", theme.primary),
            style("bold", theme.primary),
            style("bold", theme.primary),
            style("bold", theme.foreground),
            style("bold italic", theme.foreground),
            style("italic", quiet),
        ),
        strong=style("bold"),
        emphasis=style("italic"),
        strike=style("strike", quiet),
        code=style(colour=theme.accent, on=theme.surface),
        code_block=style(colour=theme.foreground, on=theme.surface),
        code_label=style(colour=quiet, on=theme.surface),
        copy_hint=copy_hint,
        quote_bar=style(colour=theme.secondary),
        link=style("underline", theme.primary),
        link_target=style("not underline", quiet),
        rule=style(colour=faint),
        table_border=style(colour=faint),
        table_head=style("bold", theme.primary),
        bullet=style(colour=theme.secondary),
        task_open=style(colour=quiet),
        task_done=style(colour=theme.success),
        tokens={
            "Comment": style("italic", quiet),
            "Keyword": style(colour=theme.primary),
            "Keyword.Constant": style(colour=theme.accent),
            "Operator.Word": style(colour=theme.primary),
            "Name.Function": style(colour=theme.secondary),
            "Name.Class": style("bold", theme.secondary),
            "Name.Builtin": style(colour=theme.secondary),
            "Name.Decorator": style(colour=theme.accent),
            "Name.Tag": style(colour=theme.primary),
            "Name.Attribute": style(colour=theme.secondary),
            "Literal.String": style(colour=theme.success),
            "Literal.Number": style(colour=theme.accent),
            "Generic.Deleted": style(colour=theme.error),
            "Generic.Inserted": style(colour=theme.success),
            "Generic.Heading": style("bold"),
            "Generic.Prompt": style(colour=quiet),
        },
    )
