"""Files of the workspace that tools changed, as they were before and after."""

from __future__ import annotations

import msgspec

from ollm_tui.core.session.message import Value


class FileContent(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A file at some time. Two that are equal hold the same, as far as anybody knows."""

    size: int
    mode: int
    sha256: str | None = None
    """None: it was not read, for it is too large or there was no room for a copy."""
    modified: int = 0
    """Its time in nanoseconds, where it was not read."""


class FileChange(msgspec.Struct, frozen=True, rename="camel"):
    """A tool changed, made or removed a file: None where there is none."""

    number: int
    """Counted over the whole session, from 1."""
    at: str
    path: str
    before: FileContent | None
    after: FileContent | None


class FileVersion(Value, frozen=True):
    """A file that tools changed, as it was left by the last change."""

    path: str
    sha256: str | None
    """None: the file was removed, or is too large to be read."""
    size: int
    change: int
    """The number of that change."""
