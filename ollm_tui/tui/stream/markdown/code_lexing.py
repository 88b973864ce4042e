"""Colours code line by line: each line is read once, from the state the one before it left.

Imported late: Pygments is needed by the first block that names a language, not before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple, cast

from pygments.lexer import ExtendedRegexLexer, Lexer, RegexLexer
from pygments.lexers import find_lexer_class_by_name
from pygments.token import Comment, Error, Operator, Punctuation, Text
from pygments.util import ClassNotFound

_MOST_EMPTY_MATCHES = 50
"""Rules that match nothing can follow each other for ever; after this many a character is
skipped."""
_DEEPEST_STACK = 20
"""States carried to the next line: code that never closes what it opens would pile them up."""
_COMMENTS = (("/*", "*/"), ("<!--", "-->"))
"""Comments that Pygments reads with one expression over all their lines."""

_Token = tuple[int, Any, str]
_Tokens = Iterable[_Token]
_Rule = tuple[Callable[[str, int], re.Match[str] | None], Any, Any]


class LexerState(NamedTuple):
    """The state in which a line leaves the lexer for the next line."""

    stack: tuple[str, ...] = ("root",)
    comment_end: str = ""
    """What ends the comment that is open; empty if none is."""


class LineLexer:
    """Reads lines of one language."""

    def __init__(self, lexer: Lexer) -> None:
        self.start = LexerState()
        """The state before the first line."""
        self._lexer = lexer
        self._names: dict[Any, str] = {}
        self._states: Mapping[str, Sequence[_Rule]] | None = None
        # Callbacks of extended lexers change a context object, which no state here stands for.
        if isinstance(lexer, RegexLexer) and not isinstance(lexer, ExtendedRegexLexer):
            if lexer.name == "PHP":
                # In a chat PHP comes without its opening tag.
                self.start = LexerState(("root", "php"))
            # Pygments has no public way to read one line from a state; its rules are private.
            self._states = cast(Mapping[str, Sequence[_Rule]], attrgetter("_tokens")(lexer))

    def line(self, text: str, state: LexerState) -> tuple[list[tuple[str, str]], LexerState]:
        """Return the token names and texts of one line, and the state after it."""
        found: list[tuple[str, str]] = []
        if state.comment_end:
            end = text.find(state.comment_end)
            if end < 0:
                return [("Comment", text)], state
            end += len(state.comment_end)
            found.append(("Comment", text[:end]))
            text, state = text[end:], state._replace(comment_end="")
        stack = list(state.stack)
        tokens = list(self._tokens(text + "\n", stack))
        opened = _open_comment(text, tokens)
        if opened:
            at, comment_end = opened
            found += self._named(_until(tokens, at))
            found.append(("Comment", text[at:]))
            return found, LexerState(state.stack, comment_end)
        found += self._named(tokens)
        return found, LexerState(tuple(stack[-_DEEPEST_STACK:]))

    def _named(self, tokens: _Tokens) -> Iterator[tuple[str, str]]:
        names = self._names
        for _, token, value in tokens:
            if shown := value.replace("\n", ""):
                name = names.get(token)
                if name is None:
                    name = names[token] = str(token).removeprefix("Token.")
                yield name, shown

    def _tokens(self, text: str, stack: list[str]) -> Iterator[_Token]:
        """Yield the tokens of a line; the stack is changed along the way."""
        if self._states is None:
            yield from cast(_Tokens, self._lexer.get_tokens_unprocessed(text))
            return
        at, empty_matches = 0, 0
        while at < len(text):
            found = _first_match(self._states[stack[-1]], text, at)
            if found is None or empty_matches > _MOST_EMPTY_MATCHES:
                if text[at] == "\n":
                    # As Pygments does: a line end that no rule knows leads back to the root.
                    stack[:] = self.start.stack
                yield at, Error if text[at] != "\n" else Text, text[at]
                at, empty_matches = at + 1, 0
                continue
            match, action, transition = found
            if callable(action):
                yield from cast(_Tokens, action(self._lexer, match))
            elif action is not None:
                yield at, action, match[0]
            empty_matches = empty_matches + 1 if match.end() == at else 0
            at = match.end()
            _change(stack, transition)


def line_lexer(language: str) -> LineLexer | None:
    """Return a lexer for a language by one of its usual names; None if Pygments has none."""
    try:
        return LineLexer(find_lexer_class_by_name(language)())
    except ClassNotFound:
        return None


def _first_match(
    rules: Sequence[_Rule], text: str, at: int
) -> tuple[re.Match[str], Any, Any] | None:
    for matches, action, transition in rules:
        found = matches(text, at)
        if found:
            return found, action, transition
    return None


def _change(stack: list[str], transition: Any) -> None:
    """Apply a state change of Pygments to the stack; one state always stays."""
    if transition is None:
        return
    if isinstance(transition, int):
        del stack[max(len(stack) + transition, 1) :]
        return
    for state in (transition,) if isinstance(transition, str) else transition:
        if state == "#pop":
            if len(stack) > 1:
                stack.pop()
        else:
            stack.append(stack[-1] if state == "#push" else state)


def _open_comment(text: str, tokens: Sequence[_Token]) -> tuple[int, str] | None:
    """Find where a comment begins that does not end on this line, and what will end it.

    A mark within a string or in the text of another comment does not count.
    """
    if not any(mark in text for mark, _ in _COMMENTS):
        return None
    for at, kind, value in tokens:
        for mark, end in _COMMENTS:
            if not text.startswith(mark, at):
                continue
            # Without its end, a lexer takes the mark for operators or an error, or for a comment
            # up to the end of the line.
            is_unread = kind in Error or kind in Operator or kind in Punctuation
            is_cut_off = kind in Comment and len(value) > len(mark) and end not in value
            if is_unread or is_cut_off:
                return at, end
    return None


def _until(tokens: Sequence[_Token], end: int) -> Iterator[_Token]:
    """Yield the tokens before an offset; the last one is cut there."""
    for at, token, value in tokens:
        if at < end:
            yield at, token, value[: end - at]
