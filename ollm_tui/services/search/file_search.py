"""Finds passages of a project's files, with an index like that of the sessions.

A file is a session there, and its passages are the messages. The index is made when it is first
asked for; what changed since is read again with each search.
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from ollm_tui.core.errors import StoreError
from ollm_tui.core.intake import clean
from ollm_tui.core.search import Query
from ollm_tui.services.safety.places import keeps_secrets
from ollm_tui.services.search.joining import joined
from ollm_tui.services.search.message_vectors import MessageVectors
from ollm_tui.services.search.passages import query_about
from ollm_tui.services.search.word_forms import WordForms
from ollm_tui.services.search.word_ranking import Question
from ollm_tui.storage.files.atomic_file import read_regular
from ollm_tui.storage.search.message_index import IndexLost, MessageIndex
from ollm_tui.storage.search.message_rows import IndexedMessage, IndexedSession
from ollm_tui.storage.sessions.directory import Fingerprint
from ollm_tui.storage.store_layout import StoreLayout

LARGEST = 400_000
"""Bytes of a file: larger ones are data, or made by programs."""
LONGEST, SHORTEST = 40, 8
"""Lines of a passage; it ends where something new begins, between these two."""
LONGEST_LINE = 400
MOST_PIECES = 2
"""Pieces of a passage that are compared by meaning: it begins with what it is about."""
BATCH = 200
"""Files that are written to the index together."""


class FilePassage(NamedTuple):
    """A part of a file."""

    path: str
    lines: str
    text: str
    covered: float
    """The share of the words looked for that it contains."""

    @property
    def name(self) -> str:
        """The file and the lines, as they are shown."""
        return f"{self.path}:{self.lines}"


class FileSearch:
    """Searches the files of one project, from any thread."""

    def __init__(self, root: Path, layout: StoreLayout, *, sealed: bool) -> None:
        digest = hashlib.sha256(str(root).encode("utf-8", "surrogateescape")).hexdigest()[:16]
        path = None if sealed else layout.root / f"files-{digest}.sqlite"
        self._root = root
        self._index = MessageIndex(path)
        self._vectors = MessageVectors(self._index, path)
        self._using = Lock()

    def search(
        self, paths: Sequence[str], words: str, most: int, vector: Sequence[float] = ()
    ) -> list[FilePassage]:
        """Return the best passages of these files, the best first. StoreError.

        With a `vector`, what the words mean, those that mean nearly the same are found too.
        """
        query = query_about(words)
        with self._using, _store_errors():
            self._refresh(paths)
            question = Question(query, WordForms(self._index.vocabulary))
            ranked = (question.rank(self._index) or []) if question.groups else []
            near = self._vectors.nearest(vector, Query()) if vector else []
            hits = joined(ranked, self._vectors.messages(near, Query()) if near else {})[:most]
            found = self._index.messages([each.number for each in hits])
        return [
            FilePassage(each.session_id, each.id, each.said, hit.covered)
            for each, hit in zip(found, hits, strict=False)
        ]

    def without_vectors(self, model: str) -> list[int]:
        """Return the numbers of the passages that have no vector of a model. StoreError."""
        with self._using, _store_errors():
            return self._vectors.missing(model)

    def pieces(self, numbers: Sequence[int]) -> dict[int, list[str]]:
        """Return the beginnings of passages, to make vectors of. StoreError."""
        with self._using, _store_errors():
            found = self._vectors.pieces(numbers)
        return {content: pieces[:MOST_PIECES] for content, pieces in found.items()}

    def add_vectors(self, model: str, made: Mapping[int, Sequence[Sequence[float]]]) -> None:
        """Keep the vectors of passages. StoreError, OSError."""
        with self._using, _store_errors():
            self._vectors.add(model, made)

    def close(self) -> None:
        """Close the index."""
        with self._using:
            self._vectors.release()
            self._index.close()

    def _refresh(self, paths: Sequence[str]) -> None:
        """Read what changed since the last time."""
        known = self._index.marks()
        now = {path: marks for path in paths if (marks := self._marks(path))}
        changed = [path for path, marks in now.items() if known.get(path) != marks]
        gone = [path for path in known if path not in now]
        for at in range(0, len(changed), BATCH):
            batch = [self._file(path, now[path]) for path in changed[at : at + BATCH]]
            self._index.update(batch)
        if gone:
            self._index.update((), gone)

    def _marks(self, path: str) -> Fingerprint | None:
        """Return what tells whether a file changed; None for one that is not searched."""
        place = self._root / path
        try:
            facts = place.lstat()
        except (OSError, ValueError):
            return None
        is_plain = not place.is_symlink() and facts.st_size <= LARGEST
        return (facts.st_size, facts.st_mtime_ns, 0, 0) if is_plain else None

    def _file(self, path: str, marks: Fingerprint) -> IndexedSession:
        text = "" if keeps_secrets(self._root / path) else self._text(path)
        at = marks[1] // 1000
        passages = tuple(
            IndexedMessage(lines, "user", at, "", True, False, False, 0, said, path, "")
            for lines, said in passages_of(text)
        )
        return IndexedSession(path, clean(path), None, "", False, False, marks, passages)

    def _text(self, path: str) -> str:
        try:
            data = read_regular(self._root / path)
        except OSError:
            return ""
        return "" if b"\0" in data else clean(data.decode("utf-8", "replace"))


@contextmanager
def _store_errors() -> Generator[None]:
    try:
        yield
    except IndexLost as error:
        raise StoreError("the file index was damaged", "try again") from error


def passages_of(text: str) -> Iterator[tuple[str, str]]:
    """Yield the passages of a text with the numbers of their lines.

    A passage ends before a line that begins something new: one that is not indented, after an
    empty one, or a heading.
    """
    lines = text.splitlines()
    start = 0
    for at in range(1, len(lines) + 1):
        length = at - start
        is_end = at == len(lines) or length >= LONGEST
        if is_end or (length >= SHORTEST and _begins(lines, at)):
            piece = "\n".join(line[:LONGEST_LINE] for line in lines[start:at]).strip("\n")
            if piece.strip():
                yield f"{start + 1}-{at}", piece
            start = at


def _begins(lines: Sequence[str], at: int) -> bool:
    line = lines[at]
    if line.startswith("#") and not lines[at - 1].startswith("#"):
        return True
    return bool(line[:1].strip()) and not lines[at - 1].strip() and line[:1] not in ")]}"
