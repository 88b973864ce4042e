"""Rules for secrets in tables, whose names are in the first line: Markdown, CSV, SQL, listings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache, partial

from ollm_tui.services.redaction.rule import REACH_BACK, Rule, Span, compiled, words
from ollm_tui.services.redaction.values import Name, is_secret

_MOST_ROWS = 100
_ROW_CHARACTERS = 150
"""Characters of a row at most: with so many rows, a table is shorter than what a stream holds
back."""
_HEAD_CHARACTERS = 200
_NEAR = _HEAD_CHARACTERS + 80
"""Characters from a name to the end of its line, or to the rows, at most."""

_CELL_BEGINS = r"(?:\A|(?<=\n)|(?<=[,;|\t_\"])|(?<=[,;|] )|(?<= {2}))"
_CELL_ENDS = r"[*`\"]{0,3}(?=[ \t]{0,20}(?:[|,;\t\r\n]|\Z)| {2})"
_HEAD = rf"[\w .()*`\"'/|,;\t-]{{0,{_HEAD_CHARACTERS}}}+"
_HEAD_CELL = r"[\w .()*`\"'/-]{1,40}"
_CODE = r"\A[ \t]{2,}[^|\s]|\(|[,;][ \t]*\Z"
"""What the first line of a table has not: a list in a program has it."""
_RULER = rf"[ \t|+:=-]{{3,{_ROW_CHARACTERS}}}\r?\n"
_ROW = rf"(?=[^\n]{{0,{_ROW_CHARACTERS}}}(?:[|,;\t]|[ ]{{2}}))[^\n]{{1,{_ROW_CHARACTERS}}}"
_ROWS = rf"(?:{_ROW}(?:\n|\Z)){{1,{_MOST_ROWS}}}"
_LINE = r"[^\r\n]+"
_BY_SPACES = r"[^ \t](?:[^ \t]|[ \t](?![ \t]))*"
"""A cell where only spaces separate them."""

_INSERT = r"(?i)\binsert[ \t]{1,4}into[ \t]{1,4}[\w.`\"]{1,60}[ \t]{0,4}\(\Z"
_NAME_ENDS = r"[`\"\]]?[ \t]{0,4}"
_VALUES = rf"(?:,[^()\n]{{0,{_HEAD_CHARACTERS}}})?\)\s{{1,20}}(?i:values)\s{{0,20}}"
_OPEN_VALUES = rf"(?:,[^()\n]{{0,{_HEAD_CHARACTERS}}})?(?:\)\s{{0,20}}[A-Za-z]{{0,6}}\s{{0,20}})?"
_TUPLE = r"\((?:[^()'\"\n]|'[^'\n]{0,200}'|\"[^\"\n]{0,200}\"){1,600}\)"
_ITEM = r"\s*('[^'\n]{0,200}'|\"[^\"\n]{0,200}\"|[^,()'\"]{1,100})\s*(?:,|\Z)"
_QUOTES = "\"'`* "


def _cells(known: Name, match: re.Match[str]) -> list[Span]:
    """The secrets in the column below a name."""
    text, at = match.string, match.start()
    line = text.rfind("\n", max(0, at - REACH_BACK), at) + 1
    if line == 0 and at > REACH_BACK:
        return []
    head = text[line : match.end("head")]
    names = _names(head)
    column = next((number for number, (_, end) in enumerate(names) if end > at - line), None)
    if column is None:
        return []
    below = compiled(_ROWS).match(text, match.end())
    end = below.end() if below else match.end()
    lines = compiled(_LINE).finditer(text, match.end(), end)
    rows = (list(_spans(text, *line.span(), head)) for line in lines)
    found = _secrets(known, text, (row[column] for row in rows if len(row) == len(names)))
    return [*found, (end, end)]  # no line of a table is the head of another one


@lru_cache(maxsize=256)
def _names(head: str) -> tuple[Span, ...]:
    """The cells of a line, if it can be the first one of a table."""
    if compiled(_CODE).search(head):
        return ()
    names = tuple(_spans(head, 0, len(head), head))
    is_head = len(names) > 1 and all(compiled(_HEAD_CELL).fullmatch(head, *name) for name in names)
    return names if is_head else ()


def _items(known: Name, match: re.Match[str]) -> list[Span]:
    """The secrets in the rows that a statement of SQL puts into a table."""
    text, at = match.string, match.start()
    opened = text.rfind("(", max(0, at - REACH_BACK), at)
    if opened < 0 or not compiled(_INSERT).search(text, max(0, at - REACH_BACK), opened + 1):
        return []
    column = text.count(",", opened, at)
    tuples = compiled(_TUPLE).finditer(text, match.start("rows"), match.end("rows"))
    rows = (
        [
            item.span(1)
            for item in compiled(_ITEM).finditer(text, found.start() + 1, found.end() - 1)
        ]
        for found in tuples
    )
    return _secrets(known, text, (row[column] for row in rows if len(row) > column))


def _secrets(known: Name, text: str, cells: Iterator[Span]) -> list[Span]:
    found: list[Span] = []
    for start, end in cells:
        value = text[start:end].strip(_QUOTES)
        is_quoted = text[start:end].strip()[:1] in ("'", '"')
        is_called = not is_quoted and "(" in value
        if not is_called and is_secret(value, known, "quoted" if is_quoted else "handed"):
            begin = text.index(value, start, end)
            found.append((begin, begin + len(value)))
    return found


def _spans(text: str, start: int, end: int, head: str) -> Iterator[Span]:
    """The cells of a line, by what separates those of the head; bars around it are no cells."""
    mark = next((mark for mark in "|\t;," if mark in head), "")
    line = text[start:end]
    outer = " |" if mark == "|" else " "
    begin = start + len(line) - len(line.lstrip(outer))
    cell = f"[^{mark}]+" if mark else _BY_SPACES
    for found in compiled(cell).finditer(text, begin, start + len(line.rstrip(outer))):
        yield found.span()


def _rules(kind: str, anchors: tuple[str, ...], name: str, known: Name) -> tuple[Rule, ...]:
    table = Rule(
        kind,
        anchors,
        rf"(?P<head>{_CELL_BEGINS}(?i:{name}){_CELL_ENDS}{_HEAD})(?<![,;])\r?\n(?:{_RULER})?(?={_ROW}(?:\n|\Z))",
        partial(_cells, known),
        any_case=True,
        needs=("\n", _NEAR),
        unfinished=(
            rf"{_CELL_BEGINS}(?i:{name})(?:[*`\"]{{0,3}}[ \t]{{0,20}}\Z|{_CELL_ENDS}{_HEAD}\r?"
            rf"(?:\Z|\n(?:{_RULER})?(?:{_ROW}\n){{0,{_MOST_ROWS}}}[^\n]{{0,{_ROW_CHARACTERS}}}\Z))"
        ),
    )
    statement = Rule(
        kind,
        anchors,
        rf"(?i:{name}){_NAME_ENDS}{_VALUES}(?P<rows>(?:{_TUPLE}[\s,]{{0,20}}){{1,{_MOST_ROWS}}})",
        partial(_items, known),
        any_case=True,
        needs=("values", _NEAR),
        unfinished=(
            rf"(?i:{name}){_NAME_ENDS}{_OPEN_VALUES}(?:{_TUPLE}[\s,]{{0,20}}){{0,{_MOST_ROWS}}}"
            r"(?:\([^()\n]{0,600})?\Z"
        ),
    )
    return (table, statement)


COLUMNS: tuple[Rule, ...] = (
    *_rules(
        "password",
        words("pass pw kennwort contraseña"),
        r"(?:pass(?:w(?:or)?d|wort|phrase)?|pwd?|kennwort|contraseña)s?",
        "password",
    ),
    *_rules("token", words("secret token"), r"(?:secret(?:[ _-]key)?|token)s?", "secret"),
    *_rules("key", ("api_key", "api key", "api-key", "apikey"), r"api[ _-]?keys?", "secret"),
)
