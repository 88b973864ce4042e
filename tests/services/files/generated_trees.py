"""Random trees with nasty ignore files, and what git itself says about them."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

NAMES = (
    *("a", "b", "A", "ab", "abc", "foo", "bar", "foo.o", "bar.o", "x.py", "Foo", "debug.log"),
    *("#c", "!d", "-e", "sp ", " lead", "ta\tb", "new\nline", "b\\s", "st*r", "q?", "[ab]", "é"),
    *("build", "dist", "node_modules", ".cache", ".hid", "a.b.c", "out", "lib", "\udcff\udcfe"),
)
PIECES = (
    *("a", "b", "A", "ab", "foo", "bar", "*", "*", "**", "**", "?", "*.o", "*.py", "x.*", "f*o"),
    *("[ab]", "[!a]", "[^b]*", "[a-f]oo", "[[:upper:]]*", "[[:alpha:][:digit:]]", "[]a]", "[a"),
    *("[a-]", "[\\]x]", "\\a", "\\*", "\\!d", "\\#c", "sp\\ ", "sp ", "a\\", "foo**", "**o", "a*b"),
    *("é", "[é]*", "??", ".hid", "out", "lib", "*.log", "debug.log", "[[:nope:]]", "b\\\\s", "***"),
    *("[A-Z]*", "[z-a]", "q\\?", "\\[ab]", "*a*", "st[*]r", "ta\tb", " lead", "[[:space:]]*"),
)


def random_pattern(chance: random.Random) -> str:
    """One line of an ignore file."""
    pieces = [chance.choice(PIECES) for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 4)))]
    body = "/".join(pieces)
    if chance.random() < 0.1:
        body = "".join(chance.choice(PIECES) for _ in range(2)) + body
    if chance.random() < 0.05:
        body = body.replace("/", chance.choice(("//", "\\/")), 1)
    lead = chance.choice(("", "", "", "/", "**/", "!", "!", "!/", "\\"))
    end = chance.choice(("", "", "", "", "/", "/", "/**", "/*", " ", "  ", "\\ ", "\t", "\r", "//"))
    return lead + body + end


def aimed_pattern(chance: random.Random, path: str) -> str:
    """A line that fits a path, or would with one thing different."""
    parts = path.split("/")
    parts = parts[chance.randrange(len(parts)) :] if chance.random() < 0.5 else parts
    parts = parts[: chance.randint(1, len(parts))] if chance.random() < 0.3 else parts
    parts = [changed(chance, part) for part in parts]
    if chance.random() < 0.3:
        parts[chance.randrange(len(parts))] = chance.choice(("*", "**", "***", "?*"))
    if chance.random() < 0.25:
        parts.insert(chance.randint(0, len(parts)), "**")
    joint = "\\/" if chance.random() < 0.05 else "/"
    lead = chance.choice(("", "", "", "/", "!", "!", "!/", "**/"))
    end = chance.choice(("", "", "", "", "/", "/**", "/*", " ", "\\ ", "\r"))
    return lead + joint.join(parts) + end


def changed(chance: random.Random, part: str) -> str:
    """A part of a path written in another way."""
    at = chance.randrange(len(part))
    before, char, after = part[:at], part[at], part[at + 1 :]
    capital = char.swapcase()
    return chance.choice(
        (
            *(part, part, part),
            *(f"{before}?{after}", f"{before}*", f"*{after}", f"{before}**", f"**{after}"),
            *(f"{before}*{after}", f"{before}[{char}]{after}", f"{before}[!{char}]{after}"),
            *(f"{before}\\{char}{after}", f"{before}[x{capital}-{char}]{after}", f"{part}*"),
            *(f"{before}[[:alpha:]]{after}", f"{before}[^/]{after}", f"{before}{capital}{after}"),
            part.replace(" ", "\\ "),
        )
    )


def ignore_file(chance: random.Random, paths: Sequence[str] = ()) -> str:
    """Several lines, most of them about paths that are there; comments, blanks and a mark."""
    lines = [
        aimed_pattern(chance, chance.choice(paths))
        if paths and chance.random() < 0.8
        else random_pattern(chance)
        for _ in range(chance.randint(1, 7))
    ]
    if chance.random() < 0.2:
        lines.insert(0, chance.choice(("# comment", "", "   ", "!", "/", "\\", "*", "!*/")))
    mark = "\ufeff" if chance.random() < 0.05 else ""
    return mark + "\n".join(lines) + chance.choice(("\n", "", "\r\n"))


def write_tree(root: Path, chance: random.Random, depth: int = 3) -> list[str]:
    """Fill a folder; the paths of all that is in it."""
    paths: list[str] = []
    for name in chance.sample(NAMES, chance.randint(2, 8)):
        path = root / name
        paths.append(name)
        kind = chance.random()
        if depth and kind < 0.5:
            path.mkdir()
            paths += [f"{name}/{below}" for below in write_tree(path, chance, depth - 1)]
        elif kind < 0.55:
            path.symlink_to(chance.choice((".", "..", "nowhere", "/etc")))
        else:
            path.write_text("")
    if chance.random() < 0.5:
        write_ignore_file(root / ".gitignore", chance, paths)
    return paths


def write_ignore_file(path: Path, chance: random.Random, paths: Sequence[str]) -> None:
    """An ignore file with bytes that are no text as they are."""
    path.write_bytes(os.fsencode(ignore_file(chance, paths)))


def write_repository(root: Path, chance: random.Random, environ: Mapping[str, str]) -> None:
    """A tree in a repository of its own, some of it in the index, sometimes with odd settings."""
    root.mkdir()
    paths = write_tree(root, chance)
    git(root, environ, "init", "-q", "--template=")
    (root / ".git/info").mkdir()
    if chance.random() < 0.3:
        write_ignore_file(root / ".git/info/exclude", chance, paths)
    if chance.random() < 0.3:
        write_ignore_file(root / ".git/excludes", chance, paths)
        git(root, environ, "config", "core.excludesFile", str(root / ".git/excludes"))
    kind = chance.random()
    if kind < 0.15:
        git(root, environ, "config", "core.ignoreCase", "true")
    elif kind < 0.45:
        files = [
            f"{place}/{name}"
            for place, _, names in os.walk(root)
            for name in names
            if "/.git/" not in f"{place}/" and chance.random() < 0.3
        ]
        if files:
            git(root, environ, "--literal-pathspecs", "add", "-f", "--", *files)


def git(root: Path, environ: Mapping[str, str], *words: str) -> bytes:
    """The output of a git command."""
    return subprocess.run(
        ("git", *words), cwd=root, env=environ, check=True, capture_output=True
    ).stdout


def listed_by_git(root: Path, environ: Mapping[str, str]) -> set[str]:
    """What git lists: in the index, or not ignored."""
    words = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    return {os.fsdecode(path) for path in git(root, environ, *words).split(b"\0")[:-1]}


def without(paths: set[str], names: Sequence[str]) -> set[str]:
    """Without what has one of the names as a part of its path."""
    return {path for path in paths if not set(path.split("/")) & set(names)}
