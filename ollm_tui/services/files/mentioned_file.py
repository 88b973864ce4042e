"""Files and folders the user names with @: found, looked at, and made into attachments."""

from __future__ import annotations

import base64
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from ollm_tui.core.counts import counted
from ollm_tui.core.errors import UsageError
from ollm_tui.core.intake import clean, visible
from ollm_tui.core.session.message import Attachment
from ollm_tui.services.tokens.careful_estimate import careful_estimate

LARGEST = 1_000_000
GLANCE_BYTES = 4096
MOST_LISTED = 500
GARBLED_SHARE = 0.1
IMAGES: Mapping[bytes, str] = MappingProxyType(
    {
        b"\x89PNG\r\n\x1a\n": "image/png",
        b"\xff\xd8\xff": "image/jpeg",
        b"GIF8": "image/gif",
        b"RIFF": "image/webp",
    }
)
"""How files begin that models can look at."""
IMAGE_KINDS = ", ".join(kind.removeprefix("image/") for kind in IMAGES.values())


class FilePreview(NamedTuple):
    """What one sees of a file before it is taken: about how many tokens, and how it begins."""

    tokens: int | None
    words: str


def place_of(root: Path, named: str) -> Path | None:
    """Where a name leads that was typed in full; None if there is nothing."""
    try:
        path = root / Path(named).expanduser()
        return path if path.exists() else None
    except (OSError, ValueError, RuntimeError):
        return None


def name_of(root: Path, path: Path) -> str:
    """A path as it is shown: relative to the project where it lies in there."""
    whole = Path(os.path.normpath(path))
    inside = whole.relative_to(root) if whole.is_relative_to(root) else whole
    slash = "/" if path.is_dir() and inside.name else ""
    return " ".join(visible(f"{inside}{slash}").split())


def read_mention(root: Path, path: Path) -> Attachment:
    """A file as an attachment. UsageError, in words, if it cannot be one."""
    name = name_of(root, path)
    is_inside = path.is_relative_to(root) and ".." not in path.parts
    if is_inside and not path.resolve().is_relative_to(root.resolve()):
        hint = f"type the whole path if you mean it: {visible(str(path.resolve()))}"
        raise UsageError(f"{name} is a link that leads out of the project", hint)
    data = _read(path, name, LARGEST + 1)
    if len(data) > LARGEST:
        size = f"{path.stat().st_size / 1_000_000:.1f} MB"
        raise UsageError(
            f"{name} has {size}; 1 MB can be sent", "name a part of it, or a smaller one"
        )
    if kind := _image_kind(data):
        content = base64.b64encode(data).decode("ascii")
        return Attachment(name=name, media_type=kind, content=content, path=str(path))
    text = _as_text(data)
    if text is None:
        raise UsageError(f"{name} is not a text", f"texts and images ({IMAGE_KINDS}) can be sent")
    return Attachment(name=name, media_type="text/plain", content=text, path=str(path))


def listing(name: str, path: Path, files: Sequence[str]) -> Attachment:
    """A folder as an attachment: the paths below it."""
    lines = list(files[:MOST_LISTED])
    if len(files) > MOST_LISTED:
        lines.append(f"… and {len(files) - MOST_LISTED:,} more")
    content = "\n".join(map(visible, lines)) or "(empty)"
    return Attachment(name=name, media_type="text/plain", content=content, path=str(path))


def glance_at_file(path: Path) -> FilePreview:
    """What a list shows of a file; never an error."""
    try:
        size = path.stat().st_size
        data = _read(path, "", GLANCE_BYTES)
    except (OSError, UsageError):
        return FilePreview(None, "cannot be read")
    if kind := _image_kind(data):
        return FilePreview(None, kind.replace("/", ": "))
    if size > LARGEST:
        return FilePreview(None, f"{size / 1_000_000:.1f} MB: too large")
    text = _as_text(data)
    if text is None:
        return FilePreview(None, "not a text")
    tokens = careful_estimate(text) * max(1, size / max(1, len(data)))
    return FilePreview(round(tokens), _first_line(text))


def glance_at_folder(files: Sequence[str]) -> FilePreview:
    """What a list shows of a folder: how many files its listing has."""
    shown = "\n".join(files[:MOST_LISTED])
    return FilePreview(round(careful_estimate(shown)), f"a list of {counted(len(files), 'file')}")


def folders_of(paths: Iterable[str]) -> list[str]:
    """Every folder that files lie in, each with a slash at its end."""
    found: dict[str, None] = {}
    for path in paths:
        cut = path.rfind("/", 0, -1)
        while cut > 0 and path[: cut + 1] not in found:
            found[path[: cut + 1]] = None
            cut = path.rfind("/", 0, cut)
    return list(found)


def _read(path: Path, name: str, most: int) -> bytes:
    """The beginning of a regular file; a FIFO in its place is refused, not waited for."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise UsageError(f"{name} is not a file", "name a file or a folder")
            return file.read(most)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"{name} cannot be read: {reason}", "name another file") from error


def _image_kind(data: bytes) -> str | None:
    kind = next((kind for start, kind in IMAGES.items() if data.startswith(start)), None)
    return None if kind == "image/webp" and data[8:12] != b"WEBP" else kind


def _as_text(data: bytes) -> str | None:
    """What can be read as a text; None for anything else."""
    if b"\0" in data:
        return None
    text = data.decode("utf-8", "replace")
    if text.count("\ufffd") > len(text) * GARBLED_SHARE:
        return None
    return clean(text)


def _first_line(text: str) -> str:
    lines = (" ".join(line.split()) for line in text.splitlines())
    return next((line for line in lines if any(mark.isalnum() for mark in line)), "")
