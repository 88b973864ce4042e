"""Facts in what the user and the model say: sentences by cue words, code by its form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from ollm_tui.core.session.compression import Fact, FactKind
from ollm_tui.engine.compression.ledger.facts_claims import said_in
from ollm_tui.engine.compression.ledger.facts_kinds import (
    closing_of,
    is_clear,
    is_courtesy,
    is_statement,
    kind_of,
)
from ollm_tui.engine.compression.ledger.facts_names import (
    defined_in,
    identifiers_in,
    odd_words,
    paths_in,
)
from ollm_tui.engine.compression.ledger.facts_output import (
    command_in,
    exit_of,
    is_error,
    path_of_diff,
)
from ollm_tui.engine.compression.ledger.facts_subjects import NUMBER
from ollm_tui.engine.compression.ledger.facts_text import Piece, one_line, pieces
from ollm_tui.engine.compression.ledger.facts_words import Words, word_set, words_of

SENTENCE_LIMIT = 280
CONSTRAINT_LIMIT = 400
VALUE_LIMIT = 110
COMMAND_LIMIT = 160
NAME_LIMIT = 120

PERHAPS = "perhaps"
"""The `about` of a fact that closes a task only if it names most of it."""

_MOST_OF_A_KIND = 80
"""Facts of one kind one message may add."""

_END_LIMIT = 60_000
"""Characters read at either end of a message: more than people and models write."""

_MOST_NAMES = 24
"""Identifiers one message may add: a pasted listing must not fill the ledger."""


_BACK_REFERENCES = word_set("it that this these those which they both neither")
_REFUSALS = word_set("not never no")
_ASSENT = word_set("yes yep yeah ok okay agreed agree sure ja gern oui sí")
"""What makes a question a request."""
_DIFFS = ("diff", "patch")
_CONNECTIVES = word_set("but however so and yet still unfortunately , then sadly")


def facts_said(text: str, source: str, from_user: bool) -> Iterator[Fact]:
    """The facts in the words of one message, in order."""
    if len(text) > 2 * _END_LIMIT:
        text = f"{text[:_END_LIMIT]}\n\n{text[-_END_LIMIT:]}"
    reader = _Reader(source, from_user)
    told: Counter[FactKind] = Counter()
    for piece in pieces(text):
        for fact in reader.read(piece):
            told[fact.kind] += 1
            if told[fact.kind] <= _MOST_OF_A_KIND:
                yield fact


@lru_cache(maxsize=4096)
def _values_in(text: str) -> tuple[tuple[str, str], ...]:
    """The values a statement gives, each with what it is the value of."""
    words, said = words_of(text), said_in(text)
    if not said.claims or not is_statement(words):
        return ()
    changes = said.changes or not words.found.isdisjoint(_REFUSALS)
    told = [kind for kind, _ in said.about.values]
    return tuple(
        (claim.phrase, " ".join(sorted(claim.slots[0])))
        for claim in said.claims
        if claim.exact
        and (claim.firm or not claim.value.isalpha())
        # Of the two values of a change one no longer holds: only the whole sentence tells.
        and not (changes and told.count(claim.dimension or NUMBER) > 1)
    )


@lru_cache(maxsize=4096)
def _names_in(text: str, prose: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The files and the other names in a text."""
    odd = odd_words(text)
    if not odd:
        return (), ()
    paths = tuple(dict.fromkeys(paths_in(odd)))
    names = dict.fromkeys(identifiers_in(odd, prose))
    return paths, tuple(name for name in names if not any(name in path for path in paths))


class _Reader:
    """Reads a message piece by piece and remembers what the next one may refer to."""

    def __init__(self, source: str, from_user: bool) -> None:
        self._source = source
        self._from_user = from_user
        self._lead: FactKind | None = None
        self._before = ""
        self._command = ""
        self._names = 0

    def read(self, piece: Piece) -> Iterator[Fact]:
        """The facts of the next piece."""
        if piece.shape == "code":
            yield from self._code(piece)
            return
        if command := command_in(piece.text):
            yield self._fact("command", command, COMMAND_LIMIT)
            return
        yield from self._sentence(piece, words_of(piece.text))
        yield from self._values(piece.text)
        yield from self._named(piece.text, prose=True)
        self._before = "" if is_courtesy(piece.text) else piece.text

    def _sentence(self, piece: Piece, words: Words) -> Iterator[Fact]:
        if piece.shape in ("open", "done"):
            todo = self._fact("todo", piece.text, SENTENCE_LIMIT, current=piece.shape == "open")
            yield todo
            return
        kind, cue = kind_of(piece.text, self._from_user)
        if self._from_user and self._before.endswith("?") and words.found & _ASSENT:
            yield self._fact("constraint", f"{self._before} {piece.text}", CONSTRAINT_LIMIT)
        lead = self._lead if piece.shape == "item" else None
        self._set_lead(piece, kind)
        if lead and (not cue or lead == "todo"):
            kind, cue = lead, cue or piece.text[:20]
        if kind and piece.shape != "heading" and not self._is_bare_lead(piece, words):
            limit = CONSTRAINT_LIMIT if kind == "constraint" else SENTENCE_LIMIT
            clear = self._from_user or is_clear(kind, words)
            text = self._with_reference(piece.text, words) if clear else piece.text
            yield self._fact(kind, text, limit, cue)
        if kind == "todo":
            return
        closing = closing_of(words)
        if closing == "done":
            text = f"{self._before} {piece.text}" if len(words.found) < 6 else piece.text
            yield self._fact("todo", text, SENTENCE_LIMIT, current=False)
        elif closing:
            yield self._fact("todo", piece.text, SENTENCE_LIMIT, "", PERHAPS, current=False)

    def _set_lead(self, piece: Piece, kind: FactKind | None) -> None:
        """A heading, or a line that ends in a colon, says what the items below it are."""
        if piece.shape == "heading" or piece.text.rstrip(" *_").endswith(":"):
            self._lead = kind
        elif piece.shape == "prose":
            self._lead = None

    def _is_bare_lead(self, piece: Piece, words: Words) -> bool:
        return piece.text.rstrip(" *_").endswith(":") and len(words.found) < 6

    def _with_reference(self, text: str, words: Words) -> str:
        """A sentence that begins with "that" or "but it" needs the one before it."""
        first = [word for word in words.line.split(None, 4)[:3] if word not in _CONNECTIVES]
        refers = bool(first) and first[0] in _BACK_REFERENCES
        if refers and self._before and len(words.found) < 10 and first[1:2] != ["remains"]:
            return f"{self._before} {text}"
        return text

    def _values(self, text: str) -> Iterator[Fact]:
        for phrase, about in _values_in(text):
            yield self._fact("value", phrase, VALUE_LIMIT, "", about)

    def _named(self, text: str, prose: bool) -> Iterator[Fact]:
        paths, names = _names_in(text, prose)
        for path in paths:
            yield self._fact("file", path, NAME_LIMIT)
        for name in names:
            if self._names < _MOST_NAMES:
                self._names += 1
                yield self._fact("identifier", name, NAME_LIMIT)

    def _code(self, piece: Piece) -> Iterator[Fact]:
        if not piece.text:
            self._command = ""
            yield from self._named(piece.info.replace(":", " ").replace("=", " "), prose=False)
            return
        line = piece.text
        words = words_of(line)
        if command := command_in(line, piece.info):
            self._command = command
            yield self._fact("command", command, COMMAND_LIMIT)
        elif self._command and words.found & {"exit", "exited"} and (code := exit_of(line)):
            yield self._fact("command", self._command, COMMAND_LIMIT, "", f"exit {code}")
        elif path := path_of_diff(line):
            yield self._fact("file", path, NAME_LIMIT)
        elif words.found & {"todo", "fixme"}:
            yield self._fact("todo", line.strip(" \t#/*-;"), SENTENCE_LIMIT, "todo")
        elif is_error(line):
            yield self._fact("error", line, SENTENCE_LIMIT)
        elif name := defined_in(line):
            yield self._fact("identifier", name, NAME_LIMIT)
        elif not (line[0] == "-" and piece.info.startswith(_DIFFS)):
            yield from self._values(line)
        yield from self._named(line, prose=False)

    def _fact(
        self,
        kind: FactKind,
        text: str,
        limit: int,
        around: str = "",
        about: str = "",
        current: bool = True,
    ) -> Fact:
        return Fact(
            kind,
            one_line(text, limit, around),
            about,
            self._source,
            self._from_user,
            current,
        )
