"""All programs whose conversations can be read: where they lie, and how a file of them is read."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from types import ModuleType

from ollm_tui.core.session.encoding import CannotDecode
from ollm_tui.storage.files.atomic_file import read_regular
from ollm_tui.storage.importers.programs import (
    chatgpt_export,
    claude_code,
    codex_rollouts,
    gemini_chats,
    llm_logs,
    opencode_store,
)
from ollm_tui.storage.importers.programs.foreign_talk import ForeignTalk

_FILES: Mapping[str, ModuleType] = {
    module.NAME: module
    for module in (claude_code, codex_rollouts, gemini_chats, chatgpt_export, opencode_store)
}
_DATABASES: Mapping[str, ModuleType] = {
    module.NAME: module for module in (opencode_store, llm_logs)
}
PROGRAMS: tuple[str, ...] = tuple(sorted({**_FILES, **_DATABASES}))
_DATABASE = b"SQLite format 3\0"
"""How the file of a database begins."""


def sources(program: str, home: Path, environ: Mapping[str, str]) -> list[Path]:
    """The files and databases in which a program keeps conversations on this machine."""
    find: Callable[[Path, Mapping[str, str]], Iterator[Path]]
    find = {**_FILES, **_DATABASES}[program].find
    return [path for path in find(home, environ) if path.is_file() and not path.is_symlink()]


def read_source(program: str, path: Path) -> Iterator[ForeignTalk]:
    """Yield the conversations in a file of a program. CannotDecode or OSError if there are none to
    be read; the file is never changed."""
    is_database = read_regular(path, 0, len(_DATABASE)) == _DATABASE
    if is_database != (program in _DATABASES) and (is_database or program not in _FILES):
        raise CannotDecode(f"not a file of {program}")
    if not is_database:
        yield from _FILES[program].read(path, read_regular(path))
        return
    # A copy: reading a database in place would write beside it, and wait for its writer.
    with tempfile.TemporaryDirectory(prefix="ollm-import-") as folder:
        copy = Path(folder) / path.name
        for suffix in ("", "-wal"):
            if (original := path.with_name(path.name + suffix)).is_file():
                shutil.copyfile(original, copy.with_name(copy.name + suffix))
        try:
            with closing(sqlite3.connect(copy)) as database:
                yield from _DATABASES[program].read_database(database)
        except sqlite3.Error as error:
            raise CannotDecode(f"the database cannot be read: {error}") from error
