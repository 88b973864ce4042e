"""A small JSON file that the program can do without: a damaged one counts as none."""

from __future__ import annotations

from collections.abc import Mapping
from logging import Logger
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import msgspec

from ollm_tui.storage.files.atomic_file import read_regular
from ollm_tui.storage.files.shared_file import replace


class Versioned(Protocol):
    """The content of such a file: a struct that says which version of the format it is."""

    @property
    def version(self) -> int:
        """The version of the format."""
        ...


Content = TypeVar("Content", bound=Versioned)
Value = TypeVar("Value")


class JsonFile(Generic[Content]):
    """Reads and replaces one file; without a path nothing is read or written.

    Failures are logged with `log`, so that log lines name the owner of the file; `subject` says
    there what is lost when the file cannot be written.
    """

    def __init__(
        self, path: Path | None, kind: type[Content], version: int, log: Logger, subject: str
    ) -> None:
        self._path = path
        self._kind = kind
        self._version = version
        self._log = log
        self._subject = subject

    def read(self) -> Content | None:
        """The content; None where there is no file, or it is damaged or of another version."""
        if self._path is None:
            return None
        try:
            content = msgspec.json.decode(read_regular(self._path), type=self._kind)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            self._log.warning("%s is not used: %s", self._path.name, error)
            return None
        return content if content.version == self._version else None

    def write(self, content: Content) -> bool:
        """Replace the file; whether it was written."""
        if self._path is None:
            return False
        try:
            replace(self._path, [msgspec.json.encode(content)])
        except OSError as error:
            self._log.warning("%s cannot be remembered: %s", self._subject, error)
            return False
        return True


def with_newest(
    entries: Mapping[str, Value], name: str, value: Value, most: int
) -> dict[str, Value]:
    """The entries with one of them set and moved to the end; only the last `most` stay."""
    others = {each: kept for each, kept in entries.items() if each != name}
    return dict(list({**others, name: value}.items())[-most:])
