"""Small projects on disk, and what is found in them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from ollm_tui.services.files.options import DiscoveryOptions
from ollm_tui.services.files.project_files import ProjectFiles


def write(root: Path, files: Mapping[str, str] | str) -> Path:
    """Files with their text; or only names, divided by blanks."""
    texts = dict.fromkeys(files.split(), "") if isinstance(files, str) else files
    for name, text in texts.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def git(root: Path, *words: str) -> bytes:
    """Run git in a folder, which is there afterwards."""
    root.mkdir(exist_ok=True, parents=True)
    return subprocess.run(("git", *words), cwd=root, check=True, capture_output=True).stdout


def repository(root: Path, files: Mapping[str, str] | str = "") -> Path:
    """A repository with some files, none of them added."""
    git(root, "init", "-q")
    return write(root, files)


async def found(root: Path, options: DiscoveryOptions | None = None) -> list[str]:
    """All files that are found, in alphabetical order."""
    return sorted(await ProjectFiles(root, options).paths())


def as_user(uid: int) -> None:
    """Go on with the rights of another user, where the test runs as root."""
    if os.getuid() == 0:
        os.seteuid(uid)
