"""Properties 22 to 24 of the seeds: ignore patterns, depth, and notice of every change."""

from __future__ import annotations

import os
import queue
import shutil
import tempfile
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from threading import Lock

from hypothesis import given
from hypothesis import strategies as st

from ollm_tui.services.files.options import DiscoveryOptions
from ollm_tui.services.files.tree import Tree
from ollm_tui.services.files.watcher import FileEvent, Watcher
from tests.conftest import promised

BUILT_IN = ("node_modules", ".git", "dist", "build", ".next", ".cache")
names = st.sampled_from(("a", "b", "lib", "x.py", "y.py", "z.log", *BUILT_IN))
paths = st.lists(names, min_size=1, max_size=5).map("/".join)
patterns = st.sampled_from(("a", "lib/", "*.log", "x.*", "?.py", "[ab]"))
has_git = st.booleans()
"""Whether git is installed: files are found in another way then."""


@contextmanager
def project(files: Sequence[str]) -> Generator[tuple[Path, set[str]]]:
    """A folder with files, as far as none of them has to be a folder at once."""
    root = Path(tempfile.mkdtemp())
    written: set[str] = set()
    try:
        for name in files:
            path = root / name
            if not path.exists() and not any(parent.is_file() for parent in path.parents):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("")
                written.add(name)
        yield root, written
    finally:
        shutil.rmtree(root)


def found(root: Path, git: bool, depth: int = 10) -> set[str]:
    environment = os.environ if git else {"PATH": ""}
    tree = Tree(root, DiscoveryOptions(max_depth=depth), environment)
    return {path for batch in tree.walk() for path in batch}


def is_ignored(path: str, rules: Sequence[str]) -> bool:
    parts = path.split("/")
    return any(
        fnmatchcase(part, rule.rstrip("/")) and (at < len(parts) - 1 or not rule.endswith("/"))
        for rule in (*rules, *BUILT_IN)
        for at, part in enumerate(parts)
    )


@promised
@given(
    st.lists(paths, max_size=12),
    st.lists(patterns, max_size=3),
    st.lists(patterns, max_size=3),
    has_git,
)
def test_property_22_what_a_pattern_matches_is_not_found_and_all_else_is(
    files: list[str], for_git: list[str], our_own: list[str], git: bool
) -> None:
    """Feature: services-sessions, Property 22: Ignore pattern respect."""
    with project(files) as (root, written):
        (root / ".gitignore").write_text("\n".join(for_git))
        (root / ".ollmignore").write_text("\n".join(our_own))
        expected = {path for path in written if not is_ignored(path, [*for_git, *our_own])}
        assert found(root, git) == expected | {".gitignore", ".ollmignore"}


@promised
@given(
    st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=8)),
    st.integers(0, 8),
    has_git,
)
def test_property_23_no_file_lies_deeper_than_allowed(
    files: list[list[str]], depth: int, git: bool
) -> None:
    """Feature: services-sessions, Property 23: Depth limit enforcement."""
    with project(["/".join(parts) + ".txt" for parts in files]) as (root, written):
        expected = {path for path in written if path.count("/") <= depth}
        assert found(root, git, depth) == expected


plain_names = st.sampled_from(("a", "b", "c.py"))
plain_paths = st.lists(plain_names, min_size=1, max_size=3).map("/".join)
steps = st.lists(st.tuples(st.sampled_from(("write", "delete", "move")), plain_paths), max_size=5)


@promised
@given(st.lists(plain_paths, max_size=5), steps)
def test_property_24_every_change_is_told_with_its_kind_and_path(
    files: list[str], wanted: list[tuple[str, str]]
) -> None:
    """Feature: services-sessions, Property 24: File change notification."""
    told = queue.SimpleQueue[Sequence[FileEvent]]()
    with project(files) as (root, _):
        tree = Tree(root, DiscoveryOptions(), {})
        list(tree.walk())
        watcher = Watcher(tree, Lock(), told.put, quiet_seconds=0.005)
        watcher.start()
        try:
            for kind, path in wanted:
                expected = Counter(carried_out(root, kind, path))
                heard = Counter[tuple[str, str]]()
                while heard.total() < expected.total():
                    heard.update(told.get(timeout=20))
                assert heard == expected
        finally:
            watcher.close()
        assert told.empty()


def put(path: Path) -> None:
    """Write a file. With folders that are not there yet it appears at once: nothing is closed
    in them after they were looked into."""
    if path.parent.exists():
        path.write_text("something")
        return
    top = [parent for parent in path.parents if not parent.exists()][-1]
    with tempfile.TemporaryDirectory() as aside:
        copy = Path(aside) / path.relative_to(top.parent)
        copy.parent.mkdir(parents=True)
        copy.write_text("something")
        (Path(aside) / top.name).rename(top)


def carried_out(root: Path, kind: str, name: str) -> list[tuple[str, str]]:
    """Do something to a file, if that is possible, and say what should be told."""
    path = root / name
    if kind == "write":
        if path.is_dir() or any(parent.is_file() for parent in path.parents):
            return []
        there = path.exists()
        put(path)
        return [("change" if there else "add", name)]
    if not path.exists():
        return []
    below = [path, *path.rglob("*")] if path.is_dir() else [path]
    gone = [file.relative_to(root).as_posix() for file in below if file.is_file()]
    if kind == "delete":
        shutil.rmtree(path) if path.is_dir() else path.unlink()
        return [("unlink", file) for file in gone]
    target = root / f"moved {os.urandom(4).hex()}"
    path.rename(target)
    added = [target.name + file.removeprefix(name) for file in gone]
    return [*(("unlink", file) for file in gone), *(("add", file) for file in added)]
