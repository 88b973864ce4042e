"""Reading objects of earlier programs: known fields are taken, and nothing else is lost."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import Any, cast

import msgspec

from ollm_tui.core import clock
from ollm_tui.core.session.message import Value

Tree = dict[str, Any]

ORIGINAL = "original"
"""The field that keeps values of fields we know by name but could not read."""

_EMPTY: tuple[Any, ...] = (None, "", [], {})
_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
_DIGITS_OF_A_NUMBER = 9
"""At least so many digits are seconds or milliseconds; fewer may be a date like 20260127."""


class ForeignObject:
    """An object of older data. Reading a field takes it out; `rest` is what was not taken."""

    def __init__(self, tree: Tree) -> None:
        self._rest = dict(tree)

    def text(self, name: str) -> str | None:
        """Take a field that holds text; a whole number counts as its digits."""
        value = self._rest.get(name)
        if type(value) is int:  # a bool is no number here
            value = str(value)
        if not isinstance(value, str) or not value:
            return None
        del self._rest[name]
        return value

    def time(self, *names: str) -> str | None:
        """Take the first of these fields that holds a time."""
        for name in names:
            moment = time_of(self._rest.get(name))
            if moment:
                del self._rest[name]
                return moment
        return None

    def count(self, name: str) -> int | None:
        """Take a field that holds a whole number from 0 on."""
        value = self._rest.get(name)
        if type(value) is not int or value < 0:
            return None
        del self._rest[name]
        return value

    def items(self, name: str) -> list[Any] | None:
        """Take a field that holds a list."""
        return cast("list[Any] | None", self._take(name, list))

    def objects(self, name: str) -> list[tuple[int, Tree]] | None:
        """Take the objects of a list with their positions; other items stay in the field."""
        items = self.items(name)
        if items is None:
            return None
        self._rest[name] = [item for item in items if not isinstance(item, dict)]
        return [
            (index, cast(Tree, item)) for index, item in enumerate(items) if isinstance(item, dict)
        ]

    def tree(self, name: str) -> Tree | None:
        """Take a field that holds an object."""
        return cast("Tree | None", self._take(name, dict))

    def valid(self, kind: type[Value], *names: str) -> Tree:
        """Take those of these fields that fit the types of `kind` as they are."""
        types = {field.encode_name: field.type for field in msgspec.structs.fields(kind)}
        return {name: self._rest.pop(name) for name in names if self._fits(name, types[name])}

    def own_id(self, derived: str, taken: set[str]) -> str:
        """Return the object's own id, or the derived one if that is missing or taken."""
        identifier = self.text("id")
        if identifier in taken:
            self.keep("id", identifier)
            identifier = None
        return fresh_id(identifier or derived, taken)

    def keep(self, name: str, value: Any) -> None:
        """Put back a field that turned out not to be understood."""
        self._rest[name] = value

    def rest(self, kind: type[Value]) -> Tree:
        """Return what was not taken, without anything that looks like a field of `kind`."""
        known = {field.encode_name for field in msgspec.structs.fields(kind)} | {ORIGINAL}
        kept = {name: value for name, value in self._rest.items() if name not in known}
        unread = {
            name: value
            for name, value in self._rest.items()
            if name in known and value not in _EMPTY
        }
        return kept | {ORIGINAL: unread} if unread else kept

    def _take(self, name: str, kind: type) -> object:
        return self._rest.pop(name) if isinstance(self._rest.get(name), kind) else None

    def _fits(self, name: str, kind: Any) -> bool:
        if self._rest.get(name) in _EMPTY:
            return False
        try:
            msgspec.convert(self._rest[name], kind)
        except (msgspec.ValidationError, UnicodeEncodeError):  # the latter for a lone surrogate
            return False
        return True


def time_of(value: object) -> str | None:
    """Return the time a value means, however it is written; None if it is no time."""
    try:
        if isinstance(value, str):
            return _time_of_text(value)
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            return clock.from_number(value)
    except (ValueError, OverflowError, OSError):
        pass
    return None


def _time_of_text(text: str) -> str | None:
    # Checked first: fromisoformat reads 1712121200000 as a day in the year 1712.
    if len(text) >= _DIGITS_OF_A_NUMBER and text.isascii() and text.isdecimal():
        return time_of(int(text))
    moment = clock.parse(text)
    return clock.iso(moment) if moment >= _EARLIEST else None


def derived_id(session_id: str, *place: str | int) -> str:
    """Make an id for what has none: the same at every reading, another for every place."""
    name = "\0".join(map(str, (session_id, *place)))
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def fresh_id(identifier: str, taken: set[str]) -> str:
    """Return an id that is not taken, this one or one derived from it, and take it."""
    while identifier in taken:
        identifier = derived_id(identifier)
    taken.add(identifier)
    return identifier
