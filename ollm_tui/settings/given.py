"""What a source says about a key, before the schema has checked it.

All values are text here, so that `yes`, `0.7` and `null` mean the same in a file, an environment
variable and an argument, and a word stays a word where the schema takes a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from ollm_tui.settings.keys import KeyPath
from ollm_tui.settings.warning import quoted

NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})
# Leading zeros are decimal as in YAML 1.2: nobody who writes 010 sessions means eight.
_WHOLE = re.compile(r"[-+]?[0-9][0-9_]{0,30}", re.ASCII)
_BASED = re.compile(r"0x[0-9a-fA-F]{1,16}|0o[0-7]{1,20}", re.ASCII)
_REAL = re.compile(r"[-+]?([0-9]{1,30}\.?[0-9]{0,30}|\.[0-9]{1,30})([eE][-+]?[0-9]{1,3})?")


class GivenText(msgspec.Struct, frozen=True):
    """One word or number, as it was written."""

    text: str
    quoted: bool = False
    """Whether it stood in quotes: then it never means null."""

    def readings(self) -> Iterator[object]:
        """Yield everything the text may mean; the first that fits the schema is taken."""
        if not self.quoted and self.text in NULLS:
            yield None
            return
        word = self.text.strip()
        if word.lower() in _TRUE:
            yield True
        if word.lower() in _FALSE:
            yield False
        if _WHOLE.fullmatch(word):
            yield int(word.replace("_", ""))
        elif _BASED.fullmatch(word):
            yield int(word, 0)
        elif _REAL.fullmatch(word):
            yield float(word)
        yield self.text

    def described(self) -> str:
        """Return the text as a warning shows it."""
        return "nothing" if self.text in NULLS and not self.quoted else quoted(self.text)


class GivenList(msgspec.Struct, frozen=True):
    """A list of words."""

    items: tuple[str, ...]

    def readings(self) -> Iterator[object]:
        """Yield the list: it has one meaning only."""
        yield self.items

    def described(self) -> str:
        """Return the list as a warning shows it."""
        return quoted(", ".join(self.items)) if self.items else "an empty list"


class GivenEntry(msgspec.Struct, frozen=True):
    """A name in a table; its fields are given by keys of their own."""

    def readings(self) -> Iterator[object]:
        """Yield an entry in which everything is at its default."""
        yield {}

    def described(self) -> str:
        """Return what a warning calls it."""
        return "an entry"


class GivenOther(msgspec.Struct, frozen=True):
    """Something no key takes as its value, such as a mapping."""

    what: str

    def readings(self) -> Iterator[object]:
        """Yield nothing: it has no meaning."""
        return iter(())

    def described(self) -> str:
        """Return what it is, without its content."""
        return self.what


Given = GivenText | GivenList | GivenEntry | GivenOther


class Assignment(msgspec.Struct, frozen=True):
    """What one source gives for one key."""

    path: KeyPath
    """The key in the spelling of the schema."""
    written: str
    """The key as the source spells it, printable."""
    given: Given
    source: str
    """The file, or the name of a source that is none."""
    line: int | None = None
