"""Cache files, which can be made again from others at any time: written without syncing."""

from __future__ import annotations

import os
from pathlib import Path

from ollm_tui.core.errors import SessionBusy
from ollm_tui.core.session.encoding import CannotDecode, parse_json
from ollm_tui.storage.files.atomic_file import write_all
from ollm_tui.storage.files.lock import open_locked
from ollm_tui.storage.store_layout import temporary_name


def write_cache(path: Path, data: bytes) -> None:
    """Replace a cache; if that fails or another process is writing it, the old one stays.

    Readers have to notice that a cache is stale or, after a power cut, broken.
    """
    # Locked, because two writers of one temporary file would mix their bytes.
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
    """Whether bytes are JSON: then they are no debris, but another program's file."""
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
