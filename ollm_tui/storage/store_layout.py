"""The paths of a store, the names allowed in it, and making and removing its directories."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

DIRECTORY_MODE = 0o700
FILE_MODE = 0o600

SESSION_SUFFIX = ".json"
JOURNAL_SUFFIX = ".journal"

# No name may end like a file of ours: session "x.json" would own the file of session "x".
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}(?<!\.json)(?<!\.journal)")
SESSION_OR_JOURNAL = re.compile(rf"({_NAME.pattern})(\.json|\.journal)")
"""The name of a file that belongs to a session: the session's name and which file it is."""


class StoreLayout:
    """The paths of one store. `root` holds what belongs to the sessions besides their files."""

    def __init__(self, sessions: Path) -> None:
        self.sessions = sessions
        self.root = sessions.parent if sessions.name == "sessions" else sessions
        self.index = self.root / "index.sqlite"
        self.search = self.root / "search.sqlite"
        self.trash = self.root / "trash"
        self.snapshots = self.root / "context-snapshots"
        self.drafts = self.root / "drafts"
        self.jobs = self.root / "jobs"
        self.arrived = self.root / "arrived"
        self.older_sessions = self.root / "session-data"
        self.older_snapshots = self.root / "context-storage"

    def session(self, session_id: str) -> Path:
        """Return the path of the session file."""
        return self.sessions / f"{session_id}{SESSION_SUFFIX}"

    def journal(self, session_id: str) -> Path:
        """Return the path of the journal: what was recorded since the session file was written."""
        return self.sessions / f"{session_id}{JOURNAL_SUFFIX}"

    def side_files(self, session_id: str) -> Path:
        """Return the directory of values too large for the session file, named by their hash."""
        return self.sessions / f"{session_id}.files"

    def arrivals(self, session_id: str) -> Path:
        """Return the file of records from other machines that wait until the session is closed."""
        return self.arrived / f"{session_id}{JOURNAL_SUFFIX}"

    def original(self, session_id: str) -> Path:
        """Return where an earlier program's file is kept once this one continues the session."""
        return self.sessions / f"{session_id}.original"

    def quarantine(self, session_id: str) -> Path:
        """Return the file for bytes of the journal that cannot be read."""
        return self.sessions / f"{session_id}.quarantine"

    def older_session(self, session_id: str) -> Path:
        """Return where an earlier program would have put the session."""
        return self.older_sessions / f"{session_id}{SESSION_SUFFIX}"

    def snapshot_folders(self, session_id: str) -> tuple[Path, ...]:
        """Return the folders a session's snapshots may be in; new ones are written to the first."""
        places = (self.snapshots, self.older_snapshots, self.older_sessions)
        return tuple(place / session_id / "snapshots" for place in places)

    @property
    def snapshot_map(self) -> Path:
        """The file that tells which session a snapshot belongs to."""
        return self.snapshots / "snapshot-map.json"

    def belongings(self, session_id: str) -> dict[str, Path]:
        """Return what this program may have written of a session, by its names in the trash."""
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
        }

    def origins(self, session_id: str) -> dict[str, Path]:
        """Return where files in the trash come from; once those of other programs went there."""
        return self.belongings(session_id) | {
            "older.json": self.older_session(session_id),
            "older": self.older_sessions / session_id,
            "older-snapshots": self.older_snapshots / session_id,
        }


class TrashedLayout(StoreLayout):
    """The paths of one session in the trash, where its files have other names."""

    def __init__(self, layout: StoreLayout, session_id: str) -> None:
        super().__init__(layout.trash / session_id)

    def session(self, session_id: str) -> Path:
        """Return the path of the session file."""
        return self.sessions / "session.json"

    def journal(self, session_id: str) -> Path:
        """Return the path of the journal."""
        return self.sessions / "journal"

    def side_files(self, session_id: str) -> Path:
        """Return the directory of values too large for the session file."""
        return self.sessions / "files"


def is_valid_name(session_id: str) -> bool:
    """Whether an id can be a file name and nothing more, such as a path."""
    return _NAME.fullmatch(session_id) is not None


def temporary_name(path: Path) -> Path:
    """Return where a file is written before it replaces the old one; one name per file."""
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


def make_private(path: Path) -> bool:
    """Shut others out of a directory that is there; return whether they could look into it."""
    try:
        status = path.stat()
        if not stat.S_ISDIR(status.st_mode) or not status.st_mode & 0o077:
            return False
        path.chmod(DIRECTORY_MODE)
    except OSError:
        return False  # it is not there, or not ours to change
    return True


def sync_directory(path: Path) -> None:
    """Make the entries of a directory durable: without this a rename can be lost."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_tree(path: Path) -> None:
    """Remove a file, or a directory and all below it; it need not be there."""
    # Not shutil, which takes 3 ms to load, at every start.
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
