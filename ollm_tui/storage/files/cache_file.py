"""Files that can be made anew from others at any time: written without syncing, or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from ollm_tui.core.errors import SessionBusy
from ollm_tui.core.session.encoding import CannotDecode, parse_json
from ollm_tui.storage.files.atomic_file import write_all
from ollm_tui.storage.files.lock import open_locked
from ollm_tui.storage.store_layout import temporary_name


def write_cache(path: Path, data: bytes) -> None:
    """Replace a cache. Nothing happens where that fails, or where another process is at it.

    Readers must see by themselves that it is stale or, after a power cut, broken.
    """
    temporary = temporary_name(path)
    try:
        descriptor = open_locked(temporary)
    except (OSError, SessionBusy):
        return
    try:
        os.ftruncate(descriptor, 0)
        write_all(descriptor, data)
        temporary.replace(path)
    except OSError:
        _remove(temporary)
    finally:
        os.close(descriptor)


def is_json(data: bytes) -> bool:
    """Whether somebody wrote this on purpose, though not in our shape."""
    try:
        parse_json(data)
    except CannotDecode:
        return False
    return True


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except OSError:
        pass  # the next writer takes it over
