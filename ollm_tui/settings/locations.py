"""The locations of the program's home, the project, their settings and the sessions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from ollm_tui.core.errors import SettingsError
from ollm_tui.settings.schema import DEFAULT_DATA_DIR, Settings

FOLDER = ".ollm"
CONFIG = "config.yaml"


class Locations(msgspec.Struct, frozen=True):
    """The locations that follow from the environment and the current directory."""

    home: Path
    """The program's own directory."""
    user_home: Path | None
    """The directory that ~ stands for; None where the environment names none."""
    project: Path
    """The root of the project the user is in."""

    @property
    def user_config(self) -> Path:
        """The settings file of the user."""
        return self.home / CONFIG

    @property
    def project_config(self) -> Path | None:
        """The settings file of the project; None where it would be the user's own."""
        folder = self.project / FOLDER
        return None if _is_users(folder, self.home, self.user_home) else folder / CONFIG

    def sessions(self, settings: Settings) -> Path:
        """Return the directory of the session files."""
        if settings.retention.mode == "session":
            return self.project / FOLDER / "sessions"
        data_dir = settings.sessions.data_dir
        if data_dir == DEFAULT_DATA_DIR:
            return self.home / "sessions"
        # Relative to the home: it must not mean another directory wherever ollm is started.
        return self.home / _expanded(data_dir, self.user_home)


def ollm_home(environ: Mapping[str, str]) -> Path:
    """Return $OLLM_HOME, or .ollm in the user's home. SettingsError if there is neither."""
    own = environ.get("OLLM_HOME")
    if own:
        return _expanded(own, _user_home(environ)).absolute()
    return _expanded(f"~/{FOLDER}", _user_home(environ))


def find_locations(environ: Mapping[str, str], cwd: Path) -> Locations:
    """Find all locations. SettingsError if there is no home directory."""
    home, user_home = ollm_home(environ), _user_home(environ)
    return Locations(home, user_home, _project_root(cwd.absolute(), home, user_home))


def _user_home(environ: Mapping[str, str]) -> Path | None:
    named = environ.get("HOME") or environ.get("USERPROFILE")
    return Path(named).absolute() if named else None


def _expanded(text: str, user_home: Path | None) -> Path:
    path = Path(text)
    if path.parts[:1] != ("~",):
        return path
    if user_home is None:
        raise SettingsError("no home directory", "set HOME, or OLLM_HOME to a directory for ollm")
    return user_home.joinpath(*path.parts[1:])


def _project_root(cwd: Path, home: Path, user_home: Path | None) -> Path:
    # In a shared parent such as /tmp anybody could create a .git: only the user's own count.
    ours = {_identity(cwd).owner, _identity(user_home or home).owner} - {None}
    for folder in (cwd, *cwd.parents):
        if _identity(folder / ".git").owner in ours:
            return folder
        own = folder / FOLDER
        if _identity(own).owner in ours and not _is_users(own, home, user_home):
            return folder
    return cwd


def _is_users(folder: Path, home: Path, user_home: Path | None) -> bool:
    """Whether a .ollm directory is the user's own and not a project's."""
    if user_home is not None and _same(folder.parent, user_home):
        return True
    return _same(folder, home)


def _same(one: Path, other: Path) -> bool:
    """Whether two paths lead to the same file or directory, also through links."""
    if one == other:
        return True
    return (found := _identity(one)).inode is not None and found == _identity(other)


class _Identity(msgspec.Struct, frozen=True):
    """What the file system says about a path; nothing where it does not exist."""

    owner: int | None = None
    device: int | None = None
    inode: int | None = None


def _identity(path: Path) -> _Identity:
    try:
        found = path.stat()
    except OSError:
        return _Identity()
    return _Identity(found.st_uid, found.st_dev, found.st_ino)
