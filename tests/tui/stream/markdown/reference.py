"""The lines markdown-it's reading of a text comes to, drawn the way the chat draws them.

Wide enough that nothing wraps, without blank lines: what is left is structure and text.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ollm_tui.tui.stream.markdown.text import MarkdownText
from tests.tui.stream.markdown.screen import STYLES

WIDTH = 300
_BULLETS = "•◦▪"


def drawn_lines(source: str) -> list[str]:
    """What is on the screen, without blank lines, bars alone and rules under table heads."""
    text = MarkdownText(STYLES, WIDTH)
    text.feed(source)
    text.finish()
    lines = [text.strip(y).text for y in range(text.line_count)]
    return [_squeezed(line) for line in lines if line.strip(" ▎─┼") or _is_rule(line)]


def reference_lines(source: str) -> list[str]:
    """The same lines, from markdown-it's tokens."""
    reader = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    drawing = _Drawing()
    for token in reader.parse(source):
        drawing.take(token)
    return [_squeezed(line) for line in drawing.lines if line.strip(" ▎")]


def _is_rule(line: str) -> bool:
    return "─" in line and "┼" not in line


def _squeezed(line: str) -> str:
    """A line with the spaces kept that show how deep it is, and one of any others."""
    text = line.lstrip(" ▎")
    return line[: len(line) - len(text)] + " ".join(text.split())


@dataclass
class _Item:
    mark: str
    is_drawn: bool = False


@dataclass
class _List:
    number: int | None
    delimiter: str = "."


@dataclass
class _Drawing:
    lines: list[str] = field(default_factory=list[str])
    containers: list[str | _Item] = field(default_factory=list["str | _Item"])
    lists: list[_List] = field(default_factory=list[_List])
    row: list[str] | None = None

    def take(self, token: Token) -> None:
        match token.type:
            case "blockquote_open":
                self.containers.append("▎ ")
            case "bullet_list_open":
                self.lists.append(_List(None))
            case "ordered_list_open":
                self.lists.append(_List(int(token.attrs.get("start", 1)), token.markup))
            case "list_item_open":
                self.containers.append(_Item(self._mark()))
            case "list_item_close":
                self._close_item()
            case "blockquote_close":
                self.containers.pop()
            case "bullet_list_close" | "ordered_list_close":
                self.lists.pop()
            case "inline" if self.row is not None:
                self.row.append(_inline(token).replace("\n", " "))
            case "inline":
                targets: list[str] = []
                text = _inline(token, targets)
                self._draw([*text.split("\n"), *dict.fromkeys(targets)])
            case "hr":
                self._draw(["─" * (WIDTH - self._indent())])
            case "fence" | "code_block":
                self._code(token)
            case "html_block":
                self._draw(token.content.removesuffix("\n").expandtabs(4).split("\n"))
            case "tr_open":
                self.row = []
            case "tr_close":
                self._draw([" │ ".join(self.row or [])])
                self.row = None
            case _:
                pass

    def _mark(self) -> str:
        current = self.lists[-1]
        if current.number is None:
            depth = sum(one.number is None for one in self.lists) - 1
            return f" {_BULLETS[depth % 3]} "
        current.number += 1
        return f"{current.number - 1:>2}{current.delimiter} "

    def _close_item(self) -> None:
        item = self.containers[-1]
        assert isinstance(item, _Item)
        if not item.is_drawn:
            self._draw([""])
        self.containers.pop()

    def _code(self, token: Token) -> None:
        language = token.info.split()[0] if token.info.split() else ""
        lines = token.content.removesuffix("\n").expandtabs(4).split("\n")
        if language:
            self._draw([f"{language} · c copy".rjust(WIDTH - self._indent() - 1)])
        self._draw([f"  {line}" for line in lines])

    def _indent(self) -> int:
        return sum(2 if isinstance(one, str) else len(one.mark) for one in self.containers)

    def _draw(self, texts: list[str]) -> None:
        for text in texts:
            lead = ""
            for container in self.containers:
                if isinstance(container, str):
                    lead += container
                else:
                    lead += " " * len(container.mark) if container.is_drawn else container.mark
                    container.is_drawn = True
            self.lines.append(lead + text)


def _inline(token: Token, targets: list[str] | None = None) -> str:
    """The text; the addresses of links go to `targets`, or stand behind them without that."""

    def lead_to(target: str) -> str:
        if targets is None:
            return f" ({target})"
        targets.append(target)
        return ""

    shown: list[str] = []
    links: list[tuple[str, int]] = []
    for child in token.children or []:
        match child.type:
            case "text" | "code_inline" | "html_inline":
                shown.append(child.content)
            case "softbreak":
                shown.append(" ")
            case "hardbreak":
                shown.append("\n")
            case "image":
                shown.append(f"[image: {_inline(child, targets)}]")
                shown.append(lead_to(str(child.attrs["src"])))
            case "link_open":
                links.append((str(child.attrs["href"]), len(shown)))
            case "link_close":
                target, start = links.pop()
                if target and "".join(shown[start:]) != target:
                    shown.append(lead_to(target))
            case _:
                pass
    return "".join(shown)
