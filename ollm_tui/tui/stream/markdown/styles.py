"""How each part of a Markdown text looks, and how looks add up where parts overlap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rich.style import Style

# Looks are bits: text that is strong, struck out and a link at once has one number.
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
    """One style for each part of a text; built by the code that knows the theme."""

    text: Style
    heading: tuple[Style, Style, Style, Style, Style, Style]
    """The styles of levels 1 to 6."""
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
    copy_hint: str = "c copy"
    """What stands beside the language of a block: how to copy it."""
    tokens: Mapping[str, Style] = field(default_factory=dict[str, Style])
    """Pygments' token names without `Token.`: a name also covers all names below it."""


class Palette:
    """The styles of one text, with every combination that occurs computed once."""

    def __init__(self, styles: MarkdownStyles) -> None:
        self.styles = styles
        self._combined: dict[tuple[Style, int], Style] = {}
        self._tokens: dict[str, Style] = {}
        # Where parts overlap, the colours of the later ones win.
        self._parts = (
            (STRONG, styles.strong),
            (EMPHASIS, styles.emphasis),
            (STRIKE, styles.strike),
            (LINK, styles.link),
            (CODE, styles.code),
            (TARGET, styles.link_target),
        )

    def combined(self, base: Style, look: int) -> Style:
        """Return the style of text with all the looks in `look` on top of a base style."""
        if not look:
            return base
        known = self._combined.get((base, look))
        if known is None:
            known = sum((style for part, style in self._parts if look & part), start=base)
            self._combined[base, look] = known
        return known

    def token(self, name: str) -> Style:
        """Return the style of a code token, by its own name or the nearest name above it."""
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
