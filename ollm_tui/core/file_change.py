"""Files of the workspace that tools changed, as they were before and after."""

from __future__ import annotations

import msgspec

from ollm_tui.core.session.message import Value


class FileContent(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The state of a file at some time; equal values mean equal content, as far as is known."""

    size: int
    mode: int
    sha256: str | None = None
    """None if it was not read: it is too large, or there was no room for a copy."""
    modified: int = 0
    """Modification time in nanoseconds; only where it was not read, in place of the hash."""


class FileChange(msgspec.Struct, frozen=True, rename="camel"):
    """A tool changed, created or removed a file; None stands for a file that does not exist."""

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
    """None if the file was removed, or is too large to be read."""
    size: int
    change: int
    """The number of that change."""
