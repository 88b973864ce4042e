"""The state of a repository in words: branch, what is changed, the last commits.

No program a repository names is run for it: git's filters, hooks and helpers are switched off.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from ollm_tui.core.intake import visible
from ollm_tui.services.files.git_program import GitProgram
from ollm_tui.services.files.repository import find_repository

LAST_COMMITS = 10
_STATUS = (
    *("status", "--porcelain=v1", "-z", "--branch", "--no-renames"),
    *("--untracked-files=normal", "--ignore-submodules=all"),
)
_LOG = ("log", f"-{LAST_COMMITS}", "-z", "--no-show-signature", "--no-patch", "--format=%h %s")


def git_state(folder: Path, environ: Mapping[str, str] | None = None) -> list[str]:
    """Lines about the repository a folder lies in; none where there is no repository."""
    if find_repository(folder) is None:
        return []
    git = GitProgram(os.environ if environ is None else environ)
    place = str(folder)
    switched_off = git.without_filters(place)
    with git.ask(place, _STATUS, switched_off) as status, git.ask(place, _LOG) as log:
        changes, commits = status.answer(), log.answer()
    branch = [f"branch {change[3:]}" for change in changes[:1] if change.startswith("## ")]
    changed = [change for change in changes if not change.startswith("## ")]
    lines = [*branch, "changed files:" if changed else "nothing is changed", *changed]
    lines += ["last commits:", *commits] if commits else ["no commits yet"]
    return [visible(line) for line in lines]
