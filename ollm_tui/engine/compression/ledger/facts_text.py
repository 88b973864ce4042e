"""Splits a text into the pieces facts are read from: sentences, items, headings, code lines.

Every step is linear in the text, and no piece is longer than a window, whatever was pasted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

from ollm_tui.core.intake import clean
from ollm_tui.engine.compression.ledger.facts_words import word_set

WINDOW = 600
"""Characters of one piece at most: longer than sentences are, short enough for any search."""

Shape = Literal["prose", "item", "open", "done", "heading", "code"]

_JOIN_FROM = 50
"""A line of at least this length that ends in mid-sentence was wrapped: the next one goes on."""

_FENCE = re.compile(r" {0,12}(`{3,40}|~{3,40})[ \t]{0,8}([^`\n]{0,200})")
_ITEM = re.compile(r"[ \t>]{0,40}(?:[-*+•–▪‣☐☑✓✔✅✗✘]|\d{1,3}[.)])[ \t]+(?:\[([ xX✓✔-])\][ \t]*)?")
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]+")
_QUOTE = re.compile(r"[ \t]{0,8}(?:>[ \t]?){1,8}")
_ROW = re.compile(r"[ \t]{0,8}\|")
_LONG_WORD = re.compile(r"(?:[^\W\d_]{3,}|%|\.\d{1,4}|[^\W\d_] \d{1,6}|\d ?[a-zA-Z]{1,2})$")
"""Behind such a word, or a quantity, a point ends a sentence, though the next one may begin with a
small letter."""
_BREAK = re.compile(r"""[.!?。！？]{1,3}["'”’)\]*_]{0,3}[ \t]+""")
_ABBREVIATIONS = word_set(
    "e.g i.e etc vs approx ca cf dr mr mrs ms no nr st fig incl max min z.b d.h usw bzw p.ej "
    "resp dept config conf inkl evtl vol sec ext ref art abs rev std avg est tel ver cont dir"
)
_ORDINALS = word_set("der den dem am vom zum bis ab seit")
"""Before these a number with a point is a day: "am 30. April"."""
_CLOSED = ".!?:;。！？"
_DONE_MARKS = "☑✓✔✅"
_DONE = word_set(
    "done finished complete completed fixed closed merged shipped resolved cancelled canceled "
    "dropped skipped erledigt fertig fait terminé hecho ✓ ✔ ✅ ☑"
)
_OPEN = word_set("todo to-do open pending missing tbd wip offen ausstehend pendiente ☐")
"""What the last cell of a row, or what stands behind a colon, tells of a task."""

# What a chat template or a lenient reader of replies could take for its own syntax. Only the
# first character is replaced, by one that no template knows, so nothing can be put together
# from what is left.
_SPECIAL = re.compile(
    r"<(?=[|｜])|(?<=[|｜])>"
    r"|<(?=/?(?:tool|func|think|invoke|antml|parameter|system|user|assistant|human|im_|bos|eos"
    r"|start_of|end_of|s>|<SYS))"
    r"|\[(?=/?(?:INST|TOOL|AVAILABLE_TOOLS|SYSTEM_PROMPT))",
    re.IGNORECASE,
)
_LOOKALIKE = {"<": "‹", ">": "›", "[": "("}
_FENCE_RUN = re.compile(r"`{3,}|~{3,}")
_CALL_KEYS = re.compile(r"""["'](?:arguments|parameters|tool_calls|function_call)["']\s{0,8}:""")


class Piece(NamedTuple):
    """A sentence, an item (perhaps with a check box), a heading, or one line of fenced code."""

    text: str
    shape: Shape = "prose"
    info: str = ""
    """What stands behind the opening fence of a code line."""


@lru_cache(maxsize=4096)
def one_line(text: str, limit: int, around: str = "") -> str:
    """Foreign text as one harmless line of a prompt, shortened at word borders.

    Where it is too long, the part with the words of `around` is kept.
    """
    line = _harmless(" ".join(clean(text[: WINDOW * 4]).split()))
    if len(line) <= limit:
        return line
    at = max(line.lower().find(around.lower()), 0) if around else 0
    start = 0 if at < limit * 2 // 3 else _border(line, at - limit // 2)
    cut = line[start : start + limit]
    if start + limit < len(line):
        end = cut.rfind(" ")
        cut = (cut[:end] if end > limit // 2 else cut[: limit - 1]).rstrip(" ,;:–—-") + "…"
    return ("…" + cut[: limit + 8]) if start else cut


def pieces(text: str) -> Iterator[Piece]:
    """Everything a message says, in order."""
    fence = info = ""
    paragraph = ""
    for line in clean(text).split("\n"):
        mark = _FENCE.match(line)
        if mark and (not fence or (mark[1].startswith(fence) and not mark[2].strip())):
            yield from _sentences(paragraph)
            paragraph = ""
            fence, info = ("", "") if fence else (mark[1], mark[2].strip())
            if fence and info:
                yield Piece("", "code", info)
        elif fence:
            yield from (Piece(part, "code", info) for part in _windows(line))
        else:
            paragraph, finished = _grown(paragraph, line)
            yield from finished
    yield from _sentences(paragraph)


def _grown(paragraph: str, line: str) -> tuple[str, tuple[Piece, ...]]:
    """The paragraph with one more line, and what is finished by it."""
    line = _QUOTE.sub("", line, count=1) if line.lstrip()[:1] == ">" else line
    if item := _ITEM.match(line):
        finished = (*_sentences(paragraph), *_item(line, item))
        return "", finished
    if _HEADING.match(line):
        heading = Piece(_HEADING.sub("", line, count=1)[:WINDOW], "heading")
        return "", (*_sentences(paragraph), heading)
    bare = line.strip()
    if _ROW.match(line):
        row = _row(bare)
        return "", (*_sentences(paragraph), *(_with_status(row) or _sentences(row)))
    if not bare or not _goes_on(paragraph, bare):
        return bare, tuple(_sentences(paragraph))
    return f"{paragraph} {bare}", ()


def _goes_on(paragraph: str, line: str) -> bool:
    if not paragraph or paragraph[-1] in _CLOSED or len(paragraph) > WINDOW:
        return False
    return len(paragraph) >= _JOIN_FROM or line[0].islower()


def _item(line: str, mark: re.Match[str]) -> Iterator[Piece]:
    rest = line[mark.end() :].strip()
    rest = _row(rest) if " | " in rest else rest
    box = mark[1]
    done = (box and box in "xX✓✔") or any(sign in mark[0] for sign in _DONE_MARKS)
    if done or box or "☐" in mark[0]:
        yield Piece(rest[:WINDOW], "done" if done else "open")
        return
    if stated := _with_status(rest):
        yield from stated
        return
    found = list(_sentences(rest))
    yield from (Piece(piece.text, "item") for piece in found)


def _row(line: str) -> str:
    """A row of a table as a statement: the first cell is what the others tell of."""
    first, *others = [cell.strip() for cell in line.split("|") if cell.strip(" \t:-")] or [""]
    return f"{first}: {', '.join(others)}" if others else first


def _with_status(text: str) -> tuple[Piece, ...]:
    """A task with its status behind it ("load test: open") as the check box it could be."""
    task, _, status = text.rstrip(" .!").rpartition(": ")
    if not task or status.lower() not in _DONE | _OPEN:
        return ()
    return (Piece(task[:WINDOW], "done" if status.lower() in _DONE else "open"),)


def _sentences(text: str) -> Iterator[Piece]:
    start = 0
    for found in _BREAK.finditer(text):
        before = text[max(start, found.start() - 12) : found.start()]
        if text[found.end() : found.end() + 1].islower() and not _LONG_WORD.search(before):
            continue
        if found[0][0] == "." and _is_abbreviated(before):
            continue
        yield from map(Piece, _windows(text[start : found.end()].strip()))
        start = found.end()
    yield from map(Piece, _windows(text[start:].strip()))


def _is_abbreviated(before: str) -> bool:
    """Whether the point behind these words ends no sentence."""
    words = before.lower().split()[-2:]
    if not words:
        return False
    day = words[-1].isdigit() and len(words) > 1 and words[0] in _ORDINALS
    counted = len(words) > 1 and words[0].isdigit() and words[-1] == "ms"
    return day or (words[-1].lstrip("(") in _ABBREVIATIONS and not counted)


def _windows(text: str) -> Iterator[str]:
    start = 0
    while len(text) - start > WINDOW:
        end = text.rfind(" ", start + WINDOW // 2, start + WINDOW)
        end = end if end > 0 else start + WINDOW
        yield text[start:end]
        start = end
    if text[start:].strip():
        yield text[start:]


def _border(line: str, at: int) -> int:
    """The start of the clause or word that `at` lies in."""
    for mark in (". ", "; ", ", ", " "):
        found = line.rfind(mark, max(at - 60, 0), at)
        if found >= 0:
            return found + len(mark)
    return at


def _harmless(line: str) -> str:
    if "<" in line or ">" in line or "[" in line:
        line = _SPECIAL.sub(lambda found: _LOOKALIKE[found[0]], line)
    if "```" in line or "~~~" in line:
        line = _FENCE_RUN.sub(lambda found: "'" if found[0][0] == "`" else "~", line)
    if ":" in line and _CALL_KEYS.search(line):
        return line.replace('"', "'").replace("{", "(").replace("}", ")")
    return line
