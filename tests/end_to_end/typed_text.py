"""A model of a text that is typed: what keys make of it, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

LETTERS = "abcdefgxyzéßд𝒳"
"""Of one to four bytes, and one cell wide."""
PASTE = "\x1b[200~{}\x1b[201~"
BACKSPACE, LEFT, RIGHT, UP, DOWN = "\x7f", "\x1b[D", "\x1b[C", "\x1b[A", "\x1b[B"
HOME, END, TO_START, TO_END, WORD_LEFT, NEW_LINE = "\x01", "\x05", "\x15", "\x0b", "\x17", "\n"
ALT_ENTER, DELETE = "\x1b\r", "\x1b[3~"


class TypedText:
    """A text and a cursor in it."""

    def __init__(self) -> None:
        self.text = ""
        self._cursor = 0
        self._keys: dict[str, Callable[[], None]] = {
            BACKSPACE: lambda: self._remove(self._cursor - 1, self._cursor),
            DELETE: lambda: self._remove(self._cursor, self._cursor + 1),
            LEFT: lambda: self._go(self._cursor - 1),
            RIGHT: lambda: self._go(self._cursor + 1),
            HOME: self._home,
            END: lambda: self._go(self._end),
            UP + END: self._line_up,
            DOWN + END: self._line_down,
            TO_START: lambda: self._remove(
                min(self._start, max(self._cursor - 1, 0)), self._cursor
            ),
            TO_END: lambda: self._remove(self._cursor, max(self._end, self._cursor + 1)),
            WORD_LEFT: self._remove_word,
            NEW_LINE: lambda: self.insert("\n"),
            ALT_ENTER: lambda: self.insert("\n"),
        }

    def insert(self, text: str) -> None:
        """Type or paste a text."""
        self.text = self.text[: self._cursor] + text + self.text[self._cursor :]
        self._cursor += len(text)

    def press(self, keys: str) -> str:
        """Press one of the keys; returns what a terminal sends for it."""
        self._keys[keys]()
        return keys

    def any_key(self, random: Random) -> str:
        """Press a key by chance; returns what a terminal sends for it."""
        kind = random.random()
        if kind < 0.55:
            letter = random.choice(LETTERS + "   ")
            self.insert(letter)
            return letter
        if kind < 0.6:
            words = "".join(random.choices(LETTERS + " \n", k=random.randint(1, 9)))
            self.insert(words)
            return PASTE.format(words)
        keys = random.choice(list(self._keys))
        is_at_edge = keys == UP + END and not self.text[: self._start]
        if is_at_edge or (keys == TO_END and self._start == self._end):
            keys = LEFT  # the others lead to earlier prompts, or take the whole empty line
        return self.press(keys)

    def clear(self) -> str:
        """Remove everything; returns the keys for that."""
        keys = RIGHT * (len(self.text) - self._cursor) + BACKSPACE * len(self.text)
        self.text, self._cursor = "", 0
        return keys

    @property
    def _start(self) -> int:
        return self.text.rfind("\n", 0, self._cursor) + 1

    @property
    def _end(self) -> int:
        end = self.text.find("\n", self._cursor)
        return len(self.text) if end < 0 else end

    def _go(self, place: int) -> None:
        self._cursor = min(max(place, 0), len(self.text))

    def _remove(self, start: int, end: int) -> None:
        start = max(start, 0)
        self.text = self.text[:start] + self.text[end:]
        self._cursor = start

    def _remove_word(self) -> None:
        before = self.text[self._start : self._cursor].rstrip(" ")
        if self._cursor == self._start:
            self._remove(self._cursor - 1, self._cursor)
        else:
            self._remove(self._start + before.rfind(" ") + 1, self._cursor)

    def _home(self) -> None:
        """Go to the first word of the line; from there, or from before it, to the line's start."""
        line = self.text[self._start : self._end]
        indent = len(line) - len(line.lstrip(" ")) if line.strip(" ") else 0
        column = self._cursor - self._start
        self._go(self._start + (indent if column == 0 or column > indent else 0))

    def _line_up(self) -> None:
        self._go(self._start - 1)

    def _line_down(self) -> None:
        if self._end < len(self.text):
            self._go(self._end + 1)
        self._go(self._end)
