"""Where everything of a store lies, and which names may stand there."""

from __future__ import annotations

import os
import re
from pathlib import Path

DIRECTORY_MODE = 0o700
FILE_MODE = 0o600

SESSION_SUFFIX = ".json"
JOURNAL_SUFFIX = ".journal"

# No name ends like a file of ours: session "x.json" would own the file of session "x".
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}(?<!\.json)(?<!\.journal)")
SESSION_OR_JOURNAL = re.compile(rf"({_NAME.pattern})(\.json|\.journal)")
"""The name of a file that belongs to a session: the session's name and which file it is."""


class StoreLayout:
    """The paths of one store. `root` holds what belongs to the sessions beside them."""

    def __init__(self, sessions: Path) -> None:
        self.sessions = sessions
        self.root = sessions.parent if sessions.name == "sessions" else sessions
        self.index = self.root / "index.sqlite"
        self.search = self.root / "search.sqlite"
        self.trash = self.root / "trash"
        self.snapshots = self.root / "context-snapshots"
        self.drafts = self.root / "drafts"
        self.jobs = self.root / "jobs"
        self.older_sessions = self.root / "session-data"
        self.older_snapshots = self.root / "context-storage"

    def session(self, session_id: str) -> Path:
        """The session file."""
        return self.sessions / f"{session_id}{SESSION_SUFFIX}"

    def journal(self, session_id: str) -> Path:
        """What was recorded since the session file was written."""
        return self.sessions / f"{session_id}{JOURNAL_SUFFIX}"

    def side_files(self, session_id: str) -> Path:
        """Values too large for the session file, named by their hash."""
        return self.sessions / f"{session_id}.files"

    def original(self, session_id: str) -> Path:
        """The file of an older version, as it was before this one continued the session."""
        return self.sessions / f"{session_id}.original"

    def quarantine(self, session_id: str) -> Path:
        """Bytes of the journal that could not be read."""
        return self.sessions / f"{session_id}.quarantine"

    def older_session(self, session_id: str) -> Path:
        """A session where earlier versions of the program put them."""
        return self.older_sessions / f"{session_id}{SESSION_SUFFIX}"

    def snapshot_folders(self, session_id: str) -> tuple[Path, ...]:
        """Where the snapshots of a session may lie; new ones are written to the first."""
        places = (self.snapshots, self.older_snapshots, self.older_sessions)
        return tuple(place / session_id / "snapshots" for place in places)

    @property
    def snapshot_map(self) -> Path:
        """Which snapshot belongs to which session, for those who only know its id."""
        return self.snapshots / "snapshot-map.json"

    def belongings(self, session_id: str) -> dict[str, Path]:
        """Everything a session has on disk, and a name for each where all lie together."""
        return {
            "session.json": self.session(session_id),
            "session.json.tmp": temporary_name(self.session(session_id)),
            "journal": self.journal(session_id),
            "files": self.side_files(session_id),
            "original": self.original(session_id),
            "quarantine": self.quarantine(session_id),
            "snapshots": self.snapshots / session_id,
            "draft": self.drafts / session_id,
            "jobs": self.jobs / f"{session_id}.jsonl",
            "older.json": self.older_session(session_id),
            "older": self.older_sessions / session_id,
            "older-snapshots": self.older_snapshots / session_id,
        }


def is_valid_name(session_id: str) -> bool:
    """Whether an id can be a file name and nothing more than that."""
    return _NAME.fullmatch(session_id) is not None


def temporary_name(path: Path) -> Path:
    """Where a file is written before it takes the place of the old one; one name per file."""
    return path.with_name(f".{path.name}.tmp")


def make_directory(path: Path) -> None:
    """Create a directory for this user only, and make its entry durable."""
    missing: list[Path] = []
    while not path.is_dir():
        missing.append(path)
        path = path.parent
    for directory in reversed(missing):
        try:
            directory.mkdir(mode=DIRECTORY_MODE)
        except FileExistsError:
            if not directory.is_dir():
                raise
        sync_directory(directory.parent)


def sync_directory(path: Path) -> None:
    """Make the entries of a directory durable: without this a rename can be lost."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_tree(path: Path) -> None:
    """Remove a file, or a directory and all below it; it need not be there.

    (shutil takes 3 ms to load, which every start would pay.)
    """
    for folder, folders, files in os.walk(path, topdown=False):
        for name in (*files, *folders):
            _remove(Path(folder, name))
    _remove(path)


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except FileNotFoundError:
        pass
    except (IsADirectoryError, PermissionError):
        path.rmdir()  # what unlink says of a directory depends on the system
