"""A tool call, reduced to what shows whether the same is asked again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple, cast

from ollm_tui.engine.loops import evidence, waiting
from ollm_tui.engine.loops.canonical import call_digest, shape_digest
from ollm_tui.engine.loops.normalising import words_of

READ = 400
"""Characters of an argument that are read for paths and words."""
LONGEST_NAME = 40
"""Characters up to which a first argument may be the name of what a call is about."""

_PATHS = ("path", "file_path", "file", "filename", "filepath")
_CODE = ("code", "command", "cmd", "patch", "input", "script")
_SOUGHT = frozenset(("pattern", "query", "regex", "glob", "q", "search_term"))
_REMARKS = frozenset(("description", "reason", "explanation", "purpose", "thought", "comment"))

_QUOTES = str.maketrans("", "", "'\"")
_HERE = re.compile(r"(?<![\w.~$/])\./+|(?<=/)\./+|(?<=[^:/]/)/+")
"""Parts of a path that lead nowhere: ./a, a/./b, a//b."""
_LAST_SLASH = re.compile(r"(?<=[\w.])/+(?=\s|\Z)")
_PATH = re.compile(r"[\w~@+.:-]*/[\w~@+./:-]*\w|[\w+-]+\.[A-Za-z]\w{0,5}\b")
_PATCH = ("***", "---", "diff ")
_NUMBERED_COMMENT = re.compile(r"(?:(?<!\S)(?:#|//|--)|/\*|<!--)[^\n]*\d[^\n]*")
_QUOTED = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'")
_DIGITS = re.compile(r"\d+")
_FLAG = re.compile(r"(?<!\S)-{1,2}[A-Za-z][\w-]*")
_TERM = re.compile(r"[^\W\d_]{3,}(?=\d*(?:\W|\Z))|\w+")
_JOINTS = str.maketrans("", "", "-_")


class Call(NamedTuple):
    """A call that was made, with all that is compared of it."""

    id: str
    name: str
    digest: str
    shape: str
    """A digest that is equal for calls that differ only in numbers."""
    shown: str
    program: str
    """A digest that is equal for calls that differ only in numbers in comments."""
    remark: str
    """The same for numbers in quotes, too: what a program says to its user."""
    subject: str
    """The file or thing that the call is about; empty if it names none, or searches."""
    place: str
    """Where a search looks."""
    runs_code: bool
    words: frozenset[str]
    terms: frozenset[str]
    """The words without case, punctuation, flags and versions."""
    arguments: frozenset[str]
    """The terms of code without its first word, the program."""
    sleeps: bool
    waits: bool

    @classmethod
    def of(cls, name: str, args: object, call_id: str) -> Call:
        """Read a call once; its arguments are not kept."""
        given = _mapping(args)
        code = next((text for key in _CODE if (text := _text(given.get(key)))), "")
        named = _spelled(given, code)
        spelled = named if given else args
        texts = [_text(value)[:READ] for value in given.values()]
        texts += [str(value) for value in given.values() if isinstance(value, int | float)]
        return cls(
            id=call_id,
            name=name,
            digest=call_digest(name, spelled),
            shape=shape_digest(name, spelled),
            shown=evidence.shown_call(name, args),
            program=call_digest(name, {key: _program(value) for key, value in named.items()}),
            remark=call_digest(name, {key: _unquoted(value) for key, value in named.items()}),
            subject=_subject(given, code[:READ]),
            place=_named_path(given) if _SOUGHT & given.keys() else "",
            runs_code=bool(code),
            words=words_of(_asked(given)),
            terms=_terms(texts),
            arguments=_terms([code[:READ].strip().partition(" ")[2]]) if code else frozenset(),
            sleeps=waiting.sleeps(name, given),
            waits=waiting.waits(given, code),
        )

    @property
    def names_a_subject(self) -> bool:
        """Whether an argument is what the call is about; code may mention much."""
        return bool(self.subject) and not self.runs_code

    def is_like(self, other: Call) -> bool:
        """Whether both calls ask the same in another way.

        Either one has all the words of the other, or they are pages of one thing.
        """
        is_page = bool(self.subject) and (self.shape, self.subject) == (other.shape, other.subject)
        return self.name == other.name and (
            is_page or self.terms <= other.terms or self.terms >= other.terms
        )

    def has_arguments_of(self, other: Call) -> bool:
        """Whether another program is given the same words: grep and rg find the same lines."""
        return self.runs_code and len(self.arguments) > 1 and self.arguments == other.arguments

    def is_about_the_same(self, other: Call) -> bool:
        """Whether both calls may be about the same file or thing."""
        one, two = self.subject, other.subject
        if not _PATH.search(one) or not _PATH.search(two):
            return True
        return same_place(one, two)

    def seeks_the_same(self, other: Call) -> bool:
        """Whether both look for the same words, whichever tools and patterns they use."""
        one, two = self._sought, other._sought
        return bool(one) and bool(two) and (one <= two or one >= two)

    @property
    def _sought(self) -> frozenset[str]:
        return self.arguments if self.runs_code else self.terms


def same_place(one: str, two: str) -> bool:
    """Whether two paths may be of one file, which may be given by its absolute path as well."""
    one, two = (f"/{path.lstrip('./')}" for path in (one, two))
    return one.endswith(two) or two.endswith(one)


def _mapping(args: object) -> Mapping[object, object]:
    return cast("Mapping[object, object]", args) if isinstance(args, Mapping) else {}


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        parts = cast("list[object]", value)
        return " ".join(part for part in parts if isinstance(part, str))
    return ""


def _asked(given: Mapping[object, object]) -> list[str]:
    """Return the texts of a call; of a search without where it looks, for elsewhere is news."""
    left_out = _PATHS if _SOUGHT & given.keys() else ()
    return [_text(value) for name, value in given.items() if name not in left_out]


def _terms(texts: list[str]) -> frozenset[str]:
    words = _FLAG.sub("", " ".join(texts)).translate(_JOINTS).casefold()
    return frozenset(_TERM.findall(words))


def _program(value: object) -> object:
    """Return a text without the numbers in its comments."""
    if not isinstance(value, str) or not _NUMBERED_COMMENT.search(value):
        return value
    return _NUMBERED_COMMENT.sub(lambda found: _DIGITS.sub("", found[0]), value)


def _unquoted(value: object) -> object:
    """Return a text without the numbers in its comments and quotes."""
    if not isinstance(value, str) or len(value) > READ:
        return value
    return _program(_QUOTED.sub(lambda found: _DIGITS.sub("", found[0]), value))


def _spelled(given: Mapping[object, object], code: str) -> Mapping[object, object]:
    """Return arguments in which paths and commands have one spelling, without mere remarks."""
    return {
        name: _path(value) if name in (*_PATHS, *_CODE) and isinstance(value, str) else value
        for name, value in given.items()
        if not (code and name in _REMARKS)
    }


def _path(text: str) -> str:
    """Return a path, or a short command with paths in it, in one spelling."""
    if len(text) > READ:
        return text
    text = _HERE.sub("", text.translate(_QUOTES))
    return _LAST_SLASH.sub("", " ".join(text.split())) or "."


def _named_path(given: Mapping[object, object]) -> str:
    return next((_path(path) for name in _PATHS if isinstance(path := given.get(name), str)), "")


def _subject(given: Mapping[object, object], code: str) -> str:
    if _SOUGHT & given.keys():
        return ""
    if path := _named_path(given):
        return path
    if code:
        paths = [found for found in _PATH.findall(code) if not found.startswith("/dev/")]
        paths = paths[:1] if code.startswith(_PATCH) else sorted(set(paths))
        return " ".join(map(_path, paths))
    first = next((value for value in given.values() if isinstance(value, str)), "")
    return first if len(first) <= LONGEST_NAME and len(first.split()) == 1 else ""
