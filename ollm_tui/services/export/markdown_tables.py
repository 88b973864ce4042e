"""Tables of Markdown as HTML: lines between pipes, the second of which says how they stand."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

_DIVIDER = re.compile(r"[ \t]*\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*$")
_PIPE = re.compile(r"(?<!\\)\|")


def is_table(lines: Sequence[str]) -> bool:
    """Whether lines that begin with a pipe are a table; a divider below the head makes it one."""
    return len(lines) > 1 and _DIVIDER.match(lines[1]) is not None


def table_html(lines: Sequence[str], inline: Callable[[str], str]) -> str:
    """The table; `inline` makes HTML of what stands in a cell."""
    head, divider, *body = map(_cells, lines)
    classes = [_class_of(cell) for cell in divider[: len(head)]]
    classes += [""] * (len(head) - len(classes))

    def row(cells: Sequence[str], tag: str) -> str:
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
