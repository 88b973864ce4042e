"""The instructions a project has for the model: AGENTS.md and its kind, and what they import.

Those of the root count from the start; those of a folder once a file beneath it is touched.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from ollm_tui.core.intake import clean
from ollm_tui.core.session.context_entry import LONGEST_KEY
from ollm_tui.services.safety.places import keeps_secrets
from ollm_tui.services.safety.project_trust import digest_of
from ollm_tui.services.tokens.careful_estimate import careful_estimate
from ollm_tui.storage.files.beneath import Beneath

OWN_FILE = ".ollm/OLLM.md"
"""This program's own file, read besides the others."""
LARGEST_BYTES = 100_000
"""The size up to which a file is read, and up to which one folder's files together are."""
MOST_IMPORTS = 20
DEEPEST_IMPORT = 5
"""How many imports may lead from one file to the next."""
MOST_FOLDERS = 20
"""How many folders on the way to a file are looked at."""

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_IMPORT = re.compile(r"(?<![\w@/.`])@([\w.~/+-]{1,200})")
_NOT_PLAIN = re.compile(r"[^\w .:/@+-]")


class Instructions(NamedTuple):
    """The instructions of one folder for the model."""

    files: tuple[tuple[str, str], ...]
    """Name and text of each file."""
    folder: str = ""
    """The folder whose files they are about; empty for the whole project."""
    left_out: tuple[str, ...] = ()
    """What they import that is not read, with the reason."""

    @property
    def names(self) -> str:
        """The names of the files, joined for a sentence."""
        return " and ".join(name for name, _ in self.files)

    @property
    def costs(self) -> tuple[tuple[str, int], ...]:
        """The name of each file and its estimated tokens."""
        return tuple((name, round(careful_estimate(text))) for name, text in self.files)

    @property
    def tokens(self) -> int:
        """The estimated tokens of all files."""
        return sum(cost for _, cost in self.costs)

    @property
    def digest(self) -> str:
        """A hash of names and texts: trust holds for exactly this content."""
        return digest_of(part.encode() for file in self.files for part in file)


class InstructionFiles:
    """Reads the instructions in a project's folders; nothing outside of the project is read."""

    def __init__(self, root: Path, names: Sequence[str]) -> None:
        self._root = root
        self._names = names
        """The names of the files; in each folder the first one that is there is read."""

    def at_root(self) -> Instructions | None:
        """The instructions for the whole project; None if there are none."""
        return self._of("", OWN_FILE)

    def on_the_way_to(self, paths: Iterable[str]) -> list[Instructions]:
        """The instructions of the folders between the root and some files, the outermost first."""
        folders = dict.fromkeys(folder for path in paths for folder in self._folders(path))
        found = map(self._of, sorted(folders))  # a folder sorts before those beneath it
        return [each for each in found if each]

    def _folders(self, path: str) -> Iterator[str]:
        try:
            root = self._root.resolve()
            touched = (root / path).resolve()
            inside = (touched / "any" if touched.is_dir() else touched).relative_to(root)
        except (OSError, ValueError, RuntimeError):
            return
        *beneath, _root = inside.parents or (Path(),)
        yield from (each.as_posix() for each in beneath[-MOST_FOLDERS:])

    def _of(self, folder: str, *further: str) -> Instructions | None:
        reading = _Reading(self._root)
        first = (str(PurePosixPath(folder, name)) for name in self._names)
        if (main := next(filter(reading.text, first), None)) is not None:
            reading.take(main)
        for name in further:
            reading.take(name)
        if not reading.files:
            return None
        return Instructions(tuple(reading.files.items()), folder, tuple(reading.left_out))


class _Reading:
    """The files of one folder and what they import, within the limits."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.files: dict[str, str] = {}
        self.left_out: list[str] = []

    def take(self, name: str, depth: int = 0) -> None:
        """Read a file and what it imports."""
        text = self.text(name)
        if not text or name in self.files:
            return
        if sum(map(len, self.files.values())) + len(text) > LARGEST_BYTES:
            self.left_out.append(f"{name}: over the limit of 100 kB")
            return
        self.files[name] = text
        for path in _IMPORT.findall(_CODE.sub("", text)):
            self._import(path.rstrip(".:"), PurePosixPath(name).parent, depth + 1)

    def _import(self, path: str, folder: PurePosixPath, depth: int) -> None:
        """Read an imported file; a name that is no file is a word like any other."""
        name = os.path.normpath(folder / path)
        if name in self.files:
            return
        if problem := self._problem(path, name, depth):
            self.left_out.append(f"@{path}: {problem}")
        else:
            self.take(name, depth)

    def _problem(self, path: str, name: str, depth: int) -> str:
        if path.startswith(("/", "~/")) or name.startswith(".."):
            return "outside the project"
        if not self.text(name):
            return ""  # and nothing is read
        if keeps_secrets(Path(name)):
            return "may hold secrets"
        if depth > DEEPEST_IMPORT:
            return f"nested deeper than {DEEPEST_IMPORT} imports"
        return f"more than {MOST_IMPORTS} imports" if len(self.files) > MOST_IMPORTS else ""

    def text(self, name: str) -> str:
        """The text of a file; empty if it is unreadable or links to outside of the project."""
        try:
            root = self._root.resolve()
            path = (root / name).resolve().relative_to(root)
            file = Beneath(root).read(path.as_posix(), LARGEST_BYTES)
        except (OSError, ValueError, RuntimeError):
            return ""
        data = file.data if file else None
        return clean(data.decode("utf-8", "replace")).strip() if data else ""


def entry_key(name: str) -> str:
    """The key of a file's context entry: its name, shortened where that is no plain, short one."""
    plain = _NOT_PLAIN.sub("_", name)
    if plain == name and len(name) <= LONGEST_KEY:
        return name
    mark = sha256(name.encode()).hexdigest()[:6]
    return f"{mark}:{plain[-(LONGEST_KEY - len(mark) - 1) :]}"
