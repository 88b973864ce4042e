"""Files and folders that the user mentions with @: previews and attachments of them."""

from __future__ import annotations

import base64
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from ollm_tui.core.counts import counted, short_size
from ollm_tui.core.errors import UsageError
from ollm_tui.core.intake import clean, visible
from ollm_tui.core.session.message import Attachment
from ollm_tui.services.files.file_entry import FileEntry
from ollm_tui.services.tokens.careful_estimate import careful_estimate

LARGEST = 1_000_000
"""Bytes of the largest file that can be attached."""
GLANCE_BYTES = 4096
"""Bytes that are read for a preview."""
MOST_LISTED = 500
"""Files that the listing of a folder names."""
GARBLED_SHARE = 0.1
"""With more than this share of invalid characters a file is no text."""
IMAGES: Mapping[bytes, str] = MappingProxyType(
    {
        b"\x89PNG\r\n\x1a\n": "image/png",
        b"\xff\xd8\xff": "image/jpeg",
        b"GIF8": "image/gif",
        b"RIFF": "image/webp",
    }
)
"""The first bytes of images that models can read, and their media types."""
IMAGE_KINDS = ", ".join(kind.removeprefix("image/") for kind in IMAGES.values())


class FilePreview(NamedTuple):
    """What a list shows of a file: about how many tokens it has, and how it begins."""

    tokens: int | None
    words: str


def place_of(root: Path, named: str) -> Path | None:
    """Return the path that was typed in full; None if it does not exist."""
    try:
        path = root / Path(named).expanduser()
        return path if path.exists() else None
    except (OSError, ValueError, RuntimeError):
        return None


def name_of(root: Path, path: Path) -> str:
    """Return a path as it is shown: relative to the project if it is inside."""
    whole = Path(os.path.normpath(path))
    inside = whole.relative_to(root) if whole.is_relative_to(root) else whole
    slash = "/" if path.is_dir() and inside.name else ""
    return " ".join(visible(f"{inside}{slash}").split())


def read_mention(root: Path, path: Path) -> Attachment:
    """Return a file as an attachment. UsageError if it cannot be one."""
    name = name_of(root, path)
    # A link in the project must not lead to a file outside of it unnoticed.
    is_inside = path.is_relative_to(root) and ".." not in path.parts
    if is_inside and not path.resolve().is_relative_to(root.resolve()):
        hint = f"type the full path to send it anyway: {visible(str(path.resolve()))}"
        raise UsageError(f"{name} is a link to outside the project", hint)
    data = _read(path, name, LARGEST + 1)
    if len(data) > LARGEST:
        size = f"{path.stat().st_size / 1_000_000:.1f} MB"
        raise UsageError(f"{name} is too large: {size} of at most 1 MB", "attach a part of it")
    if kind := _image_kind(data):
        content = base64.b64encode(data).decode("ascii")
        return Attachment(name=name, media_type=kind, content=content, path=str(path))
    text = _as_text(data)
    if text is None:
        raise UsageError(
            f"{name} is not a text file", f"texts and images ({IMAGE_KINDS}) can be sent"
        )
    return Attachment(name=name, media_type="text/plain", content=text, path=str(path))


def listing(name: str, path: Path, files: Sequence[str]) -> Attachment:
    """Return a folder as an attachment: a list of the paths below it."""
    lines = list(files[:MOST_LISTED])
    if len(files) > MOST_LISTED:
        lines.append(f"… and {len(files) - MOST_LISTED:,} more")
    content = "\n".join(map(visible, lines)) or "(empty)"
    return Attachment(name=name, media_type="text/plain", content=content, path=str(path))


def glance_at_file(entry: FileEntry) -> FilePreview:
    """Return the preview of a file; problems are shown in its words and never raised."""
    try:
        size = entry.size
        data = _read(entry.path, "", GLANCE_BYTES)
    except (OSError, UsageError):
        return FilePreview(None, "unreadable")
    if kind := _image_kind(data):
        return FilePreview(None, f"{kind.replace('/', ': ')}, {short_size(size)}")
    if size > LARGEST:
        return FilePreview(None, f"{short_size(size)}: too large")
    text = _as_text(data)
    if text is None:
        return FilePreview(None, f"not a text file, {short_size(size)}")
    # Estimated from the beginning, in proportion to the size of the whole file.
    tokens = careful_estimate(text) * max(1, size / max(1, len(data)))
    return FilePreview(round(tokens), _first_line(text))


def glance_at_folder(files: Sequence[str]) -> FilePreview:
    """Return the preview of a folder: tokens and number of files of its listing."""
    shown = "\n".join(files[:MOST_LISTED])
    return FilePreview(round(careful_estimate(shown)), f"a list of {counted(len(files), 'file')}")


def folders_of(paths: Iterable[str]) -> list[str]:
    """Return every folder that the files lie in, each with a slash at its end."""
    found: dict[str, None] = {}
    for path in paths:
        cut = path.rfind("/", 0, -1)
        while cut > 0 and path[: cut + 1] not in found:
            found[path[: cut + 1]] = None
            cut = path.rfind("/", 0, cut)
    return list(found)


def _read(path: Path, name: str, most: int) -> bytes:
    """Read the beginning of a regular file. UsageError.

    Opened without blocking: a FIFO is refused instead of waited for.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise UsageError(f"{name} is not a file", "name a file or folder")
            return file.read(most)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"cannot read {name}: {reason}", "name another file") from error


def _image_kind(data: bytes) -> str | None:
    kind = next((kind for start, kind in IMAGES.items() if data.startswith(start)), None)
    return None if kind == "image/webp" and data[8:12] != b"WEBP" else kind


def _as_text(data: bytes) -> str | None:
    """Return data as a text; None if it is none."""
    if b"\0" in data:
        return None
    text = data.decode("utf-8", "replace")
    if text.count("\ufffd") > len(text) * GARBLED_SHARE:
        return None
    return clean(text)


def _first_line(text: str) -> str:
    """Return the first line with a letter or digit in it."""
    lines = (" ".join(line.split()) for line in text.splitlines())
    return next((line for line in lines if any(mark.isalnum() for mark in line)), "")
