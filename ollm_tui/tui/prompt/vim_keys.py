"""The keys of vim: modes, counts, operators and registers, on a text and the place of a cursor.

It knows no widget: each key gives a step that says what to change and where the cursor goes.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from ollm_tui.tui.prompt.vim_motions import (
    Target,
    first_word,
    found_character,
    line_end,
    line_start,
    lines_away,
    next_word,
    on_a_character,
    text_object,
    word_before,
    word_end,
)

Mode = Literal["insert", "normal", "visual", "visual line"]
Action = Literal["", "undo", "redo", "earlier", "later"]

_COMMAND = re.compile(r"([1-9]\d*)?(?:([dcy])([1-9]\d*)?)?(.*)", re.DOTALL)
_VISUAL = re.compile(r"([1-9]\d*)?()()(.*)", re.DOTALL)
MOST_TIMES = 1_000
"""The largest count that is followed."""
OPPOSITE = {"f": "F", "F": "f", "t": "T", "T": "t"}
SHORT = {"D": "d$", "C": "c$", "Y": "yy", "x": "dl", "X": "dh", "s": "cl", "S": "cc"}
"""Keys that stand for others."""


class Change(NamedTuple):
    """A part of the text that is replaced."""

    start: int
    end: int
    text: str = ""


class Step(NamedTuple):
    """What one key does."""

    cursor: int
    change: Change | None = None
    action: Action = ""


class Register(NamedTuple):
    """What was cut or copied last."""

    text: str = ""
    is_linewise: bool = False


class VimKeys:
    """The state of the keys between one and the next."""

    def __init__(self) -> None:
        self.mode: Mode = "insert"
        self.anchor = 0
        """Where the selection of a visual mode began."""
        self.pending = ""
        """The keys of a command that is not complete yet."""
        self._register = Register()
        self._found = ("", "")
        """How and what f F t T looked for last."""

    @property
    def is_visual(self) -> bool:
        """Whether a selection is being made."""
        return self.mode in ("visual", "visual line")

    def selected(self, text: str, cursor: int) -> tuple[int, int]:
        """Return the part that a visual mode has selected."""
        first, last = sorted((self.anchor, cursor))
        if self.mode == "visual line":
            return line_start(text, first), line_end(text, last)
        return first, min(last + 1, len(text))

    def leave(self, text: str, cursor: int) -> Step:
        """Go back to the normal mode, as Esc does."""
        was_insert, self.pending = self.mode == "insert", ""
        self.mode = "normal"
        back = cursor - 1 if was_insert and cursor > line_start(text, cursor) else cursor
        return Step(on_a_character(text, back))

    def press(self, key: str, text: str, cursor: int) -> Step:
        """Take a character outside of the insert mode; without effect, the step only stays."""
        self.pending += key
        pattern = _VISUAL if self.is_visual else _COMMAND
        times, operator, again, rest = (part or "" for part in _groups(pattern, self.pending))
        if rest in SHORT and not operator and not self.is_visual:
            operator, rest = SHORT[rest]
        takes_object = bool(operator) or self.is_visual
        if not rest or rest in "gfFtTr" or (takes_object and rest in "ia"):
            return Step(cursor)
        self.pending = ""
        count = min(int(times or 1) * int(again or 1), MOST_TIMES)
        has_count = bool(times or again)
        if operator:
            return self._operate(operator, rest, text, cursor, count, has_count)
        step = self._visual(rest, text, cursor) if self.is_visual else None
        step = step or self._command(rest, text, cursor, count)
        if step:
            return step
        target = self._motion(rest, text, cursor, count, has_count)
        if target is None:
            return Step(cursor)
        if target.place == cursor and rest in "jk" and not self.is_visual:
            return Step(cursor, action="later" if rest == "j" else "earlier")
        return Step(on_a_character(text, target.place))

    # Operators

    def _operate(
        self, operator: str, rest: str, text: str, cursor: int, count: int, has_count: bool
    ) -> Step:
        if rest == operator:
            last = lines_away(text, cursor, count - 1)
            return self._take_lines(operator, text, cursor, last)
        if rest[0] in "ia":
            part = text_object(text, cursor, rest[0] == "a", rest[1])
            return self._take(operator, text, *part) if part else Step(cursor)
        if operator == "c" and rest in "wW" and not text[cursor : cursor + 1].isspace():
            # As vim has it, cw leaves the blank behind the word. A word of one letter ends here.
            end = cursor - 1
            for _ in range(count):
                end = word_end(text, end, rest == "W")
            return self._take("c", text, cursor, end + 1)
        target = self._motion(rest, text, cursor, count, has_count)
        if target is None:
            return Step(cursor)
        if target.is_linewise:
            return self._take_lines(operator, text, *sorted((cursor, target.place)))
        start, end = sorted((cursor, target.place))
        end = min(end + target.is_inclusive, len(text))
        if rest in "wW":
            kept = text[start:end].rstrip()
            if "\n" in text[start + len(kept) : end]:
                end = text.index("\n", start + len(kept))
        return self._take(operator, text, start, end)

    def _take(self, operator: str, text: str, start: int, end: int) -> Step:
        self._register = Register(text[start:end])
        if operator == "y":
            self.mode = "normal"
            return Step(start)
        self.mode = "insert" if operator == "c" else "normal"
        left = text[:start] + text[end:]
        cursor = start if operator == "c" else on_a_character(left, start)
        return Step(cursor, Change(start, end) if end > start else None)

    def _take_lines(self, operator: str, text: str, first: int, last: int) -> Step:
        start, end = line_start(text, first), line_end(text, last)
        self._register = Register(text[start:end], is_linewise=True)
        self.mode = "insert" if operator == "c" else "normal"
        if operator == "y":
            return Step(first)
        if operator == "c":
            return Step(start, Change(start, end))
        if end < len(text):
            end += 1
        else:
            start = max(start - 1, 0)
        left = text[:start] + text[end:]
        return Step(
            first_word(left, min(start + (start > 0 and end == len(text)), len(left))),
            Change(start, end),
        )

    # Commands

    def _visual(self, rest: str, text: str, cursor: int) -> Step | None:
        start, end = self.selected(text, cursor)
        match rest:
            case "d" | "x" | "c" | "s" | "y":
                operator = {"x": "d", "s": "c"}.get(rest, rest)
                if self.mode == "visual line":
                    return self._take_lines(operator, text, start, end)
                return self._take(operator, text, start, end)
            case "p" | "P":
                pasted, self.mode = self._register.text, "normal"
                self._register = Register(text[start:end])
                return Step(max(start + len(pasted) - 1, 0), Change(start, end, pasted))
            case "~":
                self.mode = "normal"
                return Step(start, Change(start, end, text[start:end].swapcase()))
            case "o":
                self.anchor, cursor = cursor, self.anchor
                return Step(cursor)
            case "v" | "V":
                wanted: Mode = "visual" if rest == "v" else "visual line"
                self.mode = "normal" if self.mode == wanted else wanted
                return Step(cursor)
            case _ if rest[0] in "ia":
                part = text_object(text, cursor, rest[0] == "a", rest[1])
                if part is None:
                    return Step(cursor)
                self.anchor = part[0]
                return Step(part[1] - 1)
            case _:
                return None

    def _command(self, rest: str, text: str, cursor: int, count: int) -> Step | None:
        start, end = line_start(text, cursor), line_end(text, cursor)
        match rest:
            case "i" | "a" | "I" | "A" | "o" | "O" if not self.is_visual:
                return self._insert(rest, text, cursor)
            case "v" | "V":
                self.mode, self.anchor = "visual" if rest == "v" else "visual line", cursor
                return Step(cursor)
            case "u":
                return Step(cursor, action="undo")
            case "p" | "P":
                return self._paste(rest, text, cursor, count)
            case "~" if cursor < end:
                last = min(cursor + count, end)
                swapped = text[cursor:last].swapcase()
                return Step(min(last, max(end - 1, start)), Change(cursor, last, swapped))
            case "J" if end < len(text):
                blanks = len(text[end + 1 :]) - len(text[end + 1 :].lstrip(" \t"))
                return Step(end, Change(end, end + 1 + blanks, " "))
            case _ if rest[0] == "r" and len(rest) == 2 and cursor + count <= end:
                return Step(cursor + count - 1, Change(cursor, cursor + count, rest[1] * count))
            case _:
                return None

    def _insert(self, how: str, text: str, cursor: int) -> Step:
        self.mode = "insert"
        start, end = line_start(text, cursor), line_end(text, cursor)
        match how:
            case "a":
                return Step(min(cursor + 1, end))
            case "I":
                return Step(first_word(text, cursor))
            case "A":
                return Step(end)
            case "o":
                return Step(end + 1, Change(end, end, "\n"))
            case "O":
                return Step(start, Change(start, start, "\n"))
            case _:
                return Step(cursor)

    def _paste(self, how: str, text: str, cursor: int, count: int) -> Step:
        piece, is_linewise = self._register
        if not piece and not is_linewise:
            return Step(cursor)
        start, end = line_start(text, cursor), line_end(text, cursor)
        if is_linewise:
            lines = "\n".join([piece] * count)
            if how == "p":
                return Step(end + 1, Change(end, end, f"\n{lines}"))
            return Step(start, Change(start, start, f"{lines}\n"))
        place = min(cursor + (how == "p"), end)
        return Step(place + len(piece) * count - 1, Change(place, place, piece * count))

    # Motions

    def _motion(
        self, rest: str, text: str, cursor: int, count: int, has_count: bool
    ) -> Target | None:
        match rest:
            case "h" | "l":
                start, end = line_start(text, cursor), line_end(text, cursor)
                moved = cursor + (count if rest == "l" else -count)
                return Target(max(start, min(moved, end)))
            case "j" | "k":
                moved = lines_away(text, cursor, count if rest == "j" else -count)
                return Target(moved, is_linewise=True)
            case "0":
                return Target(line_start(text, cursor))
            case "^":
                return Target(first_word(text, cursor))
            case "$":
                return Target(line_end(text, lines_away(text, cursor, count - 1)))
            case "gg" | "G":
                number = count if has_count else 1 if rest == "gg" else text.count("\n") + 1
                return Target(first_word(text, lines_away(text, 0, number - 1)), is_linewise=True)
            case "w" | "W" | "b" | "B" | "e" | "E":
                return self._by_words(rest, text, cursor, count)
            case ";" | ",":
                how, wanted = self._found
                how = OPPOSITE.get(how, "") if rest == "," else how
                return found_character(text, cursor, how, wanted, count) if how else None
            case _ if rest[0] in "fFtT" and len(rest) == 2:
                self._found = (rest[0], rest[1])
                return found_character(text, cursor, rest[0], rest[1], count)
            case _:
                return None

    def _by_words(self, rest: str, text: str, cursor: int, count: int) -> Target:
        step = {"w": next_word, "b": word_before, "e": word_end}[rest.lower()]
        for _ in range(count):
            cursor = step(text, cursor, rest.isupper())
        return Target(cursor, is_inclusive=rest in "eE")


def _groups(pattern: re.Pattern[str], typed: str) -> tuple[str | None, ...]:
    found = pattern.match(typed)
    assert found, "the patterns match any text"
    return found.groups()
