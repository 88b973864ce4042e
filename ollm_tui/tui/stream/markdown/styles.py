"""How each part of a Markdown text looks, and how looks add up where parts overlap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rich.style import Style

PLAIN = 0
STRONG = 1
EMPHASIS = 2
STRIKE = 4
CODE = 8
LINK = 16
TARGET = 32
"""The address shown after the text of a link."""


@dataclass(frozen=True)
class MarkdownStyles:
    """One style for each part; whoever knows the theme builds it."""

    text: Style
    heading: tuple[Style, Style, Style, Style, Style, Style]
    """Levels 1 to 6."""
    strong: Style
    emphasis: Style
    strike: Style
    code: Style
    """Code within a line of text."""
    code_block: Style
    """Code on lines of its own: text colour and the background of the whole block."""
    code_label: Style
    """The language above a block, and the mark of a continued line."""
    quote_bar: Style
    link: Style
    link_target: Style
    rule: Style
    table_border: Style
    table_head: Style
    bullet: Style
    task_open: Style
    task_done: Style
    tokens: Mapping[str, Style] = field(default_factory=dict[str, Style])
    """Pygments' token names without `Token.`: a name also covers all names below it."""


class Palette:
    """The styles of one text, with every combination that occurs computed once."""

    def __init__(self, styles: MarkdownStyles) -> None:
        self.styles = styles
        self._combined: dict[tuple[Style, int], Style] = {}
        self._tokens: dict[str, Style] = {}
        self._parts = (
            (STRONG, styles.strong),
            (EMPHASIS, styles.emphasis),
            (STRIKE, styles.strike),
            (LINK, styles.link),
            (CODE, styles.code),
            (TARGET, styles.link_target),
        )

    def combined(self, base: Style, look: int) -> Style:
        """The style of text with all the looks in `look` on top of a base."""
        if not look:
            return base
        known = self._combined.get((base, look))
        if known is None:
            known = sum((style for part, style in self._parts if look & part), start=base)
            self._combined[base, look] = known
        return known

    def token(self, name: str) -> Style:
        """The style of a code token, by its own name or the nearest name above it."""
        known = self._tokens.get(name)
        if known is None:
            above = name
            while above and above not in self.styles.tokens:
                above = above.rpartition(".")[0]
            known = self.styles.code_block
            if above:
                known += self.styles.tokens[above]
            self._tokens[name] = known
        return known


def default_dark() -> MarkdownStyles:
    """Calm colours on a dark ground, for use without a theme."""
    accent, quiet, ground = "#8ab4f8", "#7d8794", "#1f242c"
    return MarkdownStyles(
        text=Style.parse("#d8dee4"),
        heading=(
            Style.parse(f"bold underline {accent}"),
            Style.parse(f"bold {accent}"),
            Style.parse("bold #a9c4ee"),
            Style.parse("bold #d8dee4"),
            Style.parse("bold italic #b4bdc7"),
            Style.parse(f"italic {quiet}"),
        ),
        strong=Style.parse("bold #eef2f6"),
        emphasis=Style.parse("italic"),
        strike=Style.parse("strike dim"),
        code=Style.parse(f"#f0b86e on {ground}"),
        code_block=Style.parse(f"#d8dee4 on {ground}"),
        code_label=Style.parse(f"{quiet} on {ground}"),
        quote_bar=Style.parse("#7fa39a"),
        link=Style.parse(f"underline {accent}"),
        link_target=Style.parse(f"not underline {quiet}"),
        rule=Style.parse("#3c4552"),
        table_border=Style.parse("#3c4552"),
        table_head=Style.parse(f"bold {accent}"),
        bullet=Style.parse("#7fa39a"),
        task_open=Style.parse(quiet),
        task_done=Style.parse("#8cc790"),
        tokens={
            "Comment": Style.parse(f"italic {quiet}"),
            "Keyword": Style.parse("#c3a6ff"),
            "Keyword.Constant": Style.parse("#f0b86e"),
            "Operator.Word": Style.parse("#c3a6ff"),
            "Name.Function": Style.parse("#8ab4f8"),
            "Name.Class": Style.parse("#e5c07b"),
            "Name.Builtin": Style.parse("#7fc1ca"),
            "Name.Decorator": Style.parse("#e5c07b"),
            "Name.Tag": Style.parse("#8ab4f8"),
            "Name.Attribute": Style.parse("#7fc1ca"),
            "Literal.String": Style.parse("#8cc790"),
            "Literal.Number": Style.parse("#f0b86e"),
            "Generic.Deleted": Style.parse("#e88388"),
            "Generic.Inserted": Style.parse("#8cc790"),
            "Generic.Heading": Style.parse("bold"),
            "Generic.Prompt": Style.parse(quiet),
        },
    )
