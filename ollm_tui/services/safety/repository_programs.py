"""Whether a repository could have git run a program while it only looks: then git asks.

Settings are judged by a list of what is harmless. What git runs by the user's own settings
is the user's choice; what a repository brings along is not.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from pathlib import Path

from ollm_tui.services.files.repository import repository_at
from ollm_tui.services.safety.places import Places

MOST_BYTES = 50_000_000
"""Of a file of git that is looked through."""

_HEADER = re.compile(r'\s*\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]\s*(?:[#;].*)?')
_SETTING = re.compile(r"\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=.*[^\\]|=)?")
_NOTHING = re.compile(r"\s*(?:[#;].*)?")
_HARMLESS = re.compile(
    r"core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode"
    r"|symlinks|autocrlf|eol|safecrlf|whitespace|quotepath|longpaths|abbrev|trustctime|checkstat"
    r"|untrackedcache|preloadindex|compression|bigfilethreshold|protecthfs|protectntfs)"
    r"|remote\.(.*\.(url|fetch|pushurl|push|tagopt|prune|gh-resolved)|pushdefault)"
    r"|branch\..*|(user|pull|push|fetch|rebase|color|gc|tag|init|advice)\.[^.]*"
    r"|commit\.(gpgsign|verbose|cleanup)|status\.(short|branch|showuntrackedfiles|relativepaths)"
    r"|log\.(date|decorate|abbrevcommit|follow)|merge\.(ff|conflictstyle)|extensions\.objectformat"
    r"|diff\.(algorithm|renames|renamelimit|colormoved|mnemonicprefix|noprefix|context)"
    r"|rerere\.enabled|gui\..*|lfs\.repositoryformatversion"
)
_SUBMODULE = b"\x00\x00\xe0\x00"
"""The mode of a submodule in the index: git looks into those by their own settings."""
_MARKS = ("objects", "refs", "HEAD")
"""What makes a folder without .git a repository."""


def program_danger(places: Places) -> str:
    """What in the repository of a place could run or reach further; empty if nothing can."""
    for folder in (places.place, *places.place.parents):
        if all(os.path.lexists(folder / name) for name in _MARKS):
            return "it would run in git's own files"
        if os.path.lexists(folder / ".git"):
            return _danger(folder, places)
    return ""


def _danger(top: Path, places: Places) -> str:
    git = top / ".git"
    found = repository_at(top)
    if found is None or git.is_symlink() or (found.git, found.common) != (git, git):
        return "the repository keeps its settings elsewhere"
    if not places.holds(top):
        return "the repository reaches outside of the project"
    if os.path.lexists(git / "hooks" / "post-index-change"):
        return "the repository has a hook that git runs"
    if any(os.path.lexists(git / name) for name in ("config.worktree", "objects/info/alternates")):
        return "the repository keeps its settings elsewhere"
    try:
        if setting := _unknown_setting(_content(git / "config").decode("utf-8", "replace")):
            return f"the repository sets {setting}, by which git may run something"
        if _may_have_submodules(git):
            return "the repository may have submodules, which have settings of their own"
    except OSError:
        return "the settings of the repository cannot be read"
    return ""


def _unknown_setting(text: str) -> str:
    """The first setting that is not known to be harmless; empty if all are."""
    section = ""
    for written in text.split("\n"):
        line = written.removesuffix("\r")
        if _NOTHING.fullmatch(line):
            continue
        if header := _HEADER.fullmatch(line):
            section = ".".join(filter(None, header.groups()))
        elif not (setting := _SETTING.fullmatch(line)):
            return "something that cannot be read"
        elif not _HARMLESS.fullmatch(name := f"{section}.{setting[1]}".lower()):
            return name
    return ""


def _may_have_submodules(git: Path) -> bool:
    if not os.path.lexists(git / "index"):
        return False
    return any(git.glob("sharedindex.*")) or _SUBMODULE in _content(git / "index")


def _content(path: Path) -> bytes:
    """A file as bytes: a carriage return ends no line for git. OSError for what is no file."""
    about = path.stat()
    if not stat.S_ISREG(about.st_mode) or about.st_size > MOST_BYTES:
        raise OSError(errno.EFBIG, "not a file of a usual size", str(path))
    return path.read_bytes()
