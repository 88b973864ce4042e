"""The vectors of messages: one file beside the search index, made from it and rebuilt at will.

A row is what a message says (as a number that its copies share), the signs of its vector, and the
vector in whole numbers of a byte. Searching compares the signs of all, then the vectors of the
best. A long message has several rows.
"""

from __future__ import annotations

import fcntl
import math
import os
import struct
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO, NamedTuple

from ollm_tui.storage.files.atomic_file import write_atomically
from ollm_tui.storage.store_layout import FILE_MODE

SCALE = 508
"""What a vector of length 1 is multiplied with: its numbers then fill a byte and lose nothing."""
MOST_RESCORED = 500
"""How many of the nearest by signs are compared exactly: 0.98 of the best are among them."""
FARTHEST = 0.2
"""The least likeness of two texts that have to do with each other."""
SAMPLED = 500
"""The vectors that tell what all have in common; there must be as many at least."""
_MAGIC = b"ollm-vectors-1\n"
_HEADER = struct.Struct("<15sHI")
"""The kind of file, the length of the model's name, and the numbers of a vector."""
_KEY = struct.Struct("<q")
_ROWS_AT_ONCE = 4096
_SAMPLED_DISTANCES = 8192
"""How many of the distances say how far the nearest are."""


class Near(NamedTuple):
    """What a message says, and how near that is, from 0 to 1."""

    content: int
    closeness: float


class Vectors:
    """The vectors of an index; without a path they are in memory only.

    Used by one thread at a time. Of a file, only the signs are read into memory, and kept until
    `release`.
    """

    def __init__(self, index_path: Path | None) -> None:
        self._path = index_path and vectors_path(index_path)
        self._file: IO[bytes] | None = None if self._path else BytesIO()
        self._rows = _Rows()

    def begin(self, model: str, numbers: int) -> None:
        """Prepare for vectors of a model; those of another one are thrown away. OSError."""
        name = model.encode()
        wanted = _HEADER.pack(_MAGIC, len(name), numbers) + name
        with self._locked(create=True) as file:
            if file.read(len(wanted)) != wanted:
                file.seek(0)
                file.truncate()
                file.write(wanted)
                self._rows = _Rows()

    def model(self) -> str:
        """Return the model that made the vectors; empty if there are none."""
        try:
            with self._locked() as file:
                return _Rows.of(file).model
        except OSError:
            return ""

    def add(
        self,
        made: Mapping[int, Sequence[Sequence[float]]],
        wanted: Callable[[], Collection[int]],
    ) -> None:
        """Add the vectors of those messages that are still `wanted`. OSError.

        That is asked while no other process can remove vectors: what one deletes meanwhile is
        either not wanted any more, or removed after this.
        """
        with self._locked() as file:
            here = _Rows.of(file)
            kept = wanted()
            end = file.seek(0, os.SEEK_END)
            # A process that was killed may have left a part of a row.
            file.seek(end - (end - here.start) % here.size)
            for content, vectors in made.items():
                if content in kept:
                    file.write(b"".join(_row(content, each) for each in vectors))

    def known(self) -> set[int]:
        """Return which contents have vectors."""
        self._read()
        return set(self._rows.contents)

    def keep(self, contents: Collection[int]) -> None:
        """Forget all vectors but those of these contents. OSError."""
        try:
            with self._locked() as file:
                rows = _Rows.of(file)
                rows.read(file)
                if any(content not in contents for content in rows.contents):
                    self._replace(rows.kept(file, contents))
        except FileNotFoundError:
            pass

    def nearest(
        self, vector: Sequence[float], among: Collection[int] | None, most: int
    ) -> list[Near]:
        """Return what is nearest to a vector, the nearest first; only `among` these if given."""
        self._read()
        return self._rows.nearest(self._file, vector, among, most) if self._file else []

    def release(self) -> None:
        """Give back the memory, unless this is all there is."""
        if self._path is not None:
            self._rows = _Rows()
            if self._file:
                self._file.close()
                self._file = None

    def _read(self) -> None:
        """Read what was added since the last time; all, if the file was replaced."""
        try:
            if self._path and not (self._file and _is_at(self._file, self._path)):
                self.release()
                self._file = self._path.open("rb", buffering=0)
            if self._file:
                if not self._rows.size or not self._rows.is_of(self._file):
                    self._rows = _Rows.of(self._file)
                self._rows.read(self._file)
        except OSError:
            self.release()

    @contextmanager
    def _locked(self, *, create: bool = False) -> Generator[IO[bytes]]:
        """Open the file for reading and writing, held against other processes. OSError."""
        if self._path is None:
            assert self._file is not None
            self._file.seek(0)
            yield self._file
            return
        flags = os.O_RDWR | os.O_CLOEXEC | (os.O_CREAT if create else 0)
        while True:
            with os.fdopen(os.open(self._path, flags, FILE_MODE), "r+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                # Another process may have replaced the file while this one waited for the lock.
                if _is_at(file, self._path):
                    yield file
                    return

    def _replace(self, chunks: Iterator[bytes]) -> None:
        if self._path:
            write_atomically(self._path, chunks)
            return
        self._file, self._rows = BytesIO(b"".join(chunks)), _Rows()


class _Rows:
    """The rows of a file of vectors: what they are of, and their signs."""

    def __init__(self, header: bytes = b"", numbers: int = 0) -> None:
        self._header = header
        self._numbers = numbers
        self._signs: list[int] = []
        self._known_middle: tuple[int, list[float]] | None = None
        """Of how many rows, and the middle of their vectors."""
        self.contents: list[int] = []

    @classmethod
    def of(cls, file: IO[bytes]) -> _Rows:
        """Return the rows of a file, not read yet. OSError if it is none of vectors."""
        file.seek(0)
        header = file.read(_HEADER.size)
        if len(header) == _HEADER.size:
            magic, name, numbers = _HEADER.unpack(header)
            if magic == _MAGIC and numbers:
                return cls(header + file.read(name), numbers)
        raise OSError("this is no file of vectors")

    @property
    def model(self) -> str:
        """The model that made the vectors."""
        return self._header[_HEADER.size :].decode("utf-8", "replace")

    @property
    def start(self) -> int:
        """Where the first row begins."""
        return len(self._header)

    @property
    def size(self) -> int:
        """The bytes of a row; 0 if nothing is known about the file yet."""
        return _KEY.size + self._numbers // 8 + self._numbers if self._numbers else 0

    def is_of(self, file: IO[bytes]) -> bool:
        """Return whether a file still begins with what was read."""
        file.seek(0)
        return file.read(self.start) == self._header and (
            file.seek(0, os.SEEK_END) >= self.start + len(self.contents) * self.size
        )

    def read(self, file: IO[bytes]) -> None:
        """Read the rows that were added; one that is not whole is still being written."""
        signs_end = _KEY.size + self._numbers // 8
        for rows in self._chunks(file, len(self.contents)):
            for at in range(0, len(rows), self.size):
                self.contents.append(_KEY.unpack_from(rows, at)[0])
                self._signs.append(int.from_bytes(rows[at + _KEY.size : at + signs_end], "little"))

    def kept(self, file: IO[bytes], contents: Collection[int]) -> Iterator[bytes]:
        """Yield the file without the rows of other contents."""
        yield self._header
        for rows in self._chunks(file, 0):
            for at in range(0, len(rows), self.size):
                if _KEY.unpack_from(rows, at)[0] in contents:
                    yield rows[at : at + self.size]

    def nearest(
        self, file: IO[bytes], vector: Sequence[float], among: Collection[int] | None, most: int
    ) -> list[Near]:
        """Return what is nearest to a vector, the nearest first."""
        if len(vector) != self._numbers or not self._signs:
            return []
        whole = _whole(vector)
        special = _whole(
            [mine - all_ for mine, all_ in zip(whole, self._middle(file), strict=True)]
        )
        sign = int.from_bytes(_signs_of(special), "little")
        signs = self._signs
        places: Sequence[int] = range(len(signs))
        if among is not None:
            places = [at for at, content in enumerate(self.contents) if content in among]
            signs = [signs[at] for at in places]
        if not signs:
            return []
        far = [(each ^ sign).bit_count() for each in signs]
        limit = _distance_of(far, MOST_RESCORED)
        candidates = [at for at, distance in enumerate(far) if distance <= limit]
        candidates.sort(key=far.__getitem__)
        best: dict[int, tuple[float, int]] = {}
        for at in map(places.__getitem__, candidates[:MOST_RESCORED]):
            content = self.contents[at]
            best[content] = max(
                best.get(content, (-1.0, 0)), (self._closeness(file, at, special), at)
            )
        found = sorted(best, key=lambda content: -best[content][0])[:most]
        near = [Near(each, self._closeness(file, best[each][1], whole)) for each in found]
        return [each for each in near if each.closeness >= FARTHEST]

    def _middle(self, file: IO[bytes]) -> Sequence[float]:
        """Return what all vectors have in common.

        It is taken away from what is asked: some texts are near to everything that could be
        asked here, and would stand before those that are near to this.
        """
        rows = len(self.contents)
        if rows < SAMPLED:
            return [0.0] * self._numbers  # of a few texts, it is no more than one of them
        if not self._known_middle or rows > 2 * self._known_middle[0]:
            sample = [self._row(file, at) for at in range(0, rows, rows // SAMPLED)]
            middle = [sum(column) / len(sample) for column in zip(*sample, strict=True)]
            self._known_middle = (rows, middle)
        return self._known_middle[1]

    def _closeness(self, file: IO[bytes], at: int, whole: Sequence[int]) -> float:
        """Return the cosine of a vector and that of a row."""
        # Both are of the same length, so their distance says it: a third of the time of a sum.
        return 1 - (math.dist(whole, self._row(file, at)) / SCALE) ** 2 / 2

    def _row(self, file: IO[bytes], at: int) -> tuple[int, ...]:
        file.seek(self.start + (at + 1) * self.size - self._numbers)
        return struct.unpack(f"{self._numbers}b", file.read(self._numbers))

    def _chunks(self, file: IO[bytes], first: int) -> Iterator[bytes]:
        """Yield whole rows from a number on."""
        file.seek(self.start + first * self.size)
        while rows := file.read(_ROWS_AT_ONCE * self.size):
            yield rows[: len(rows) // self.size * self.size]


def vectors_path(index_path: Path) -> Path:
    """Return where the vectors of an index are."""
    return index_path.with_suffix(".vectors")


def _distance_of(far: Sequence[int], most: int) -> int:
    """Return the distance within which there are about so many, and usually a few more."""
    # A sample says it well enough: counting all would cost half as much as comparing them.
    step = max(1, len(far) // _SAMPLED_DISTANCES)
    sample = sorted(far[::step])
    return sample[min(most * 5 // 4 // step, len(sample) - 1)]


def _row(content: int, vector: Sequence[float]) -> bytes:
    whole = _whole(vector)
    return _KEY.pack(content) + _signs_of(whole) + struct.pack(f"{len(whole)}b", *whole)


def _whole(vector: Sequence[float]) -> list[int]:
    length = sum(each * each for each in vector) ** 0.5 or 1.0
    return [max(-127, min(127, round(SCALE * each / length))) for each in vector]


def _signs_of(whole: Sequence[int]) -> bytes:
    bits = "".join("1" if each > 0 else "0" for each in whole)
    return int(bits, 2).to_bytes(len(whole) // 8, "little")


def _is_at(file: IO[bytes], path: Path) -> bool:
    """Return whether a file is the one at a path, and not one that was replaced."""
    try:
        return path.stat().st_ino == os.fstat(file.fileno()).st_ino
    except FileNotFoundError:
        return False
