"""A copy of sessions and snapshots as they were before the first merge."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from ollm_tui.storage.store_layout import (
    JOURNAL_SUFFIX,
    StoreLayout,
    make_directory,
    remove_tree,
    temporary_name,
)
from ollm_tui.storage.sync.deletions import BACKUP, FOLDER


def back_up(layout: StoreLayout, folder: Path) -> Path:
    """Copy sessions and snapshots, unless that was done; returns where they are. OSError."""
    target = folder / BACKUP
    if target.is_dir():
        return target
    half_made = temporary_name(target)
    remove_tree(half_made)
    make_directory(half_made)
    # Where sessions and all else are in one folder, the copy must not copy itself.
    left_out = shutil.ignore_patterns(FOLDER)
    for place in (layout.sessions, layout.snapshots):
        to = half_made / place.relative_to(layout.root)
        if place.is_dir() and not to.exists():
            shutil.copytree(place, to, copy_function=_copy, symlinks=True, ignore=left_out)
    half_made.rename(target)
    return target


def _copy(source: str, target: str) -> None:
    # Journals are appended to in place. All other files are replaced, so a second name keeps
    # their old bytes without taking room.
    try:
        if not source.endswith(JOURNAL_SUFFIX):
            os.link(source, target)
            return
    except FileNotFoundError:
        return  # removed in between
    except OSError:
        pass  # no links on this file system
    try:
        shutil.copy2(source, target)
    except FileNotFoundError:
        return
