"""Converts a small, safe part of Markdown to HTML: text is escaped first, formatted afterwards.

Knows headings, lists, rules, paragraphs, quotes, tables, code, bold, italic and web links.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import groupby

_FENCE = re.compile(r"([ \t]*)(`{3,}|~{3,})[^`]*$")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+\S")
_CLOSING_MARKS = re.compile(r"[ \t]#+$")
_ITEM = re.compile(r"([ \t]*)(?:[-*+]|(\d{1,9})[.)])[ \t]+(.*)$")
_RULE = re.compile(r"[ \t]*([-*_])[ \t]*\1[ \t]*\1[ \t\-*_]*$")
_QUOTE = re.compile(r"[ \t]*(?:>[ \t]?)+")
_DIVIDER = re.compile(r"[ \t]*\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*$")
_PIPE = re.compile(r"(?<!\\)\|")
# Made for escaped text: no quote and no angle bracket can be in it. Each alternative stops
# at its own mark, so that no input takes more than linear time.
_URL = r"https?://(?:&amp;|[^\s&()\[\]`*])+"
_INLINE = re.compile(
    r"(?<!`)(?P<ticks>`{1,3})(?!`)(?P<code>[^`]+)(?P=ticks)(?!`)"
    rf"|\[(?P<label>[^\[\]\n]+)\]\((?P<target>{_URL})\)"
    rf"|(?P<url>{_URL}(?<![.,;:!?]))"
    r"|\*\*(?P<bold>[^*\n]+)\*\*"
    r"|\*(?P<star>[^*\s](?:[^*\n]*[^*\s])?)\*"
    r"|(?<!\w)_(?P<under>[^_\s](?:[^_\n]*[^_\s])?)_(?!\w)"
)


@dataclass
class _Segment:
    """The lines inside one code fence, or between two."""

    fence: str = ""
    indent: str = ""
    lines: list[str] = field(default_factory=list[str])
    closed: bool = False


def markdown_html(text: str) -> str:
    """Return foreign Markdown as HTML; markup in the text itself is escaped."""
    return "\n".join(_segment_html(segment) for segment in _segments(text))


def unclosed_fence(text: str) -> str:
    """Return the line that closes the code block a text leaves open; empty if there is none."""
    *_, last = _segments(text)
    return last.indent + last.fence if last.fence and not last.closed else ""


def _segments(text: str) -> list[_Segment]:
    """Split a text into code blocks and what is between them; there is at least one segment."""
    segments = [_Segment()]
    for line in text.split("\n"):
        current = segments[-1]
        mark = _FENCE.match(line)
        if current.fence and not current.closed:
            if line.strip().startswith(current.fence) and not line.strip().strip(current.fence[0]):
                current.closed = True
            else:
                current.lines.append(line.removeprefix(current.indent))
        elif mark:
            segments.append(_Segment(mark[2], mark[1]))
        else:
            if current.closed:
                segments.append(_Segment())
            segments[-1].lines.append(line)
    return segments


def _segment_html(segment: _Segment) -> str:
    if segment.fence:
        return f"<pre><code>{escape(chr(10).join(segment.lines))}</code></pre>"
    return _lines_html(segment.lines)


def _lines_html(lines: Iterable[str]) -> str:
    groups = groupby(_classified(lines), key=lambda pair: pair[0])
    return "\n".join(_group_html(kind, [line for _, line in lines]) for kind, lines in groups)


def _classified(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    kind = "blank"
    for line in lines:
        kind = _kind(line, kind)
        yield kind, line


def _kind(line: str, before: str) -> str:
    """Return what a line is; `before` is the kind of the line above."""
    text = line.strip()
    if not text:
        return "blank"
    if text[0] in "|>":
        return "table" if text[0] == "|" else "quote"
    if _HEADING.match(line):
        return "heading"
    if _RULE.match(line):
        return "rule"
    item = _ITEM.match(line)
    if item:
        return "ol" if item[2] else "ul"
    if before in ("ol", "ul") and line[0] in " \t":
        return before
    return "p"


def _group_html(kind: str, lines: list[str]) -> str:
    if kind == "blank":
        return ""
    if kind == "rule":
        return "<hr>" * len(lines)
    if kind == "heading":
        return "\n".join(map(_heading_html, lines))
    if kind == "quote":
        inside = _lines_html(_QUOTE.sub("", line, count=1) for line in lines)
        return f"<blockquote>\n{inside}\n</blockquote>"
    if kind == "table" and is_table(lines):
        return table_html(lines, _inline_html)
    if kind in ("p", "table"):
        return f"<p>{_inline_html(chr(10).join(lines))}</p>"
    return _list_html(kind, lines)


def _heading_html(line: str) -> str:
    marked = line.strip()
    text = marked.lstrip("#")
    # The first two levels are those of the page itself: its title and the speakers.
    level = min(6, len(marked) - len(text) + 2)
    return f"<h{level}>{_inline_html(_CLOSING_MARKS.sub('', text).strip())}</h{level}>"


def _list_html(kind: str, lines: list[str]) -> str:
    first = _ITEM.match(lines[0])
    start = f' start="{int(first[2])}"' if first and first[2] else ""
    items: list[str] = []
    for line in lines:
        item = _ITEM.match(line)
        if item:
            nested = ' class="nested"' if len(item[1]) > 1 else ""
            items.append(f"<li{nested}>{_inline_html(item[3])}")
        else:
            items[-1] += f"\n{_inline_html(line.strip())}"
    body = "".join(f"{item}</li>\n" for item in items)
    return f"<{kind}{start}>\n{body}</{kind}>"


def is_table(lines: Sequence[str]) -> bool:
    """Return whether lines that begin with a pipe are a table: the second one is a divider."""
    return len(lines) > 1 and _DIVIDER.match(lines[1]) is not None


def table_html(lines: Sequence[str], inline: Callable[[str], str]) -> str:
    """Return a table; `inline` makes HTML of the text in a cell."""
    head, divider, *body = map(_cells, lines)
    classes = [_class_of(cell) for cell in divider[: len(head)]]
    classes += [""] * (len(head) - len(classes))

    def row(cells: Sequence[str], tag: str) -> str:
        # As GitHub does: missing cells are empty, and those beyond the head are dropped.
        filled = [*cells, *[""] * len(head)][: len(head)]
        parts = (
            f"<{tag}{kind}>{inline(cell)}</{tag}>"
            for kind, cell in zip(classes, filled, strict=True)
        )
        return f"<tr>{''.join(parts)}</tr>"

    rows = "\n".join(row(cells, "td") for cells in body)
    top = f"<thead>{row(head, 'th')}</thead>"
    return f'<div class="wide"><table>\n{top}\n<tbody>\n{rows}\n</tbody>\n</table></div>'


def _cells(line: str) -> list[str]:
    inside = line.strip().removeprefix("|").removesuffix("|")
    return [cell.strip().replace("\\|", "|") for cell in _PIPE.split(inside)]


def _class_of(divider: str) -> str:
    if not divider.endswith(":"):
        return ""
    return ' class="middle"' if divider.startswith(":") else ' class="right"'


def _inline_html(text: str) -> str:
    return _INLINE.sub(_formatted, escape(text))


def _formatted(found: re.Match[str]) -> str:
    """Return the HTML of one match of `_INLINE`."""
    group, text = found.lastgroup, found[found.lastgroup or 0]
    if group == "code":
        return f"<code>{text}</code>"
    if group == "target":
        return f'<a class="named" href="{text}" rel="noopener noreferrer">{found["label"]}</a>'
    if group == "url":
        return f'<a href="{text}" rel="noopener noreferrer">{text}</a>'
    tag = "strong" if group == "bold" else "em"
    return f"<{tag}>{_INLINE.sub(_formatted, text)}</{tag}>"
