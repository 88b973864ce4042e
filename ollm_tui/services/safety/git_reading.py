"""Which git commands only look at a repository, with which options, and in which repositories.

Options that run programs (--ext-diff, --show-signature), write files (--output) or read
elsewhere (--no-index) are missing on purpose. Settings by which git may run a program rule a
repository out.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import struct
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import MappingProxyType

from ollm_tui.services.files.repository import repository_at
from ollm_tui.services.safety.git_index import indexed_names
from ollm_tui.services.safety.option_words import Sorted, sorted_words
from ollm_tui.services.safety.places import MOST_ENTRIES, PLAIN_NAME, Places
from ollm_tui.services.safety.plain_words import Word
from ollm_tui.services.safety.read_only import Rule

_HARMLESS_BEFORE = frozenset(("--no-pager", "--no-optional-locks", "-P"))
"""Options that may come before the name of the command."""
_SIGNATURE = re.compile(r"%G|%\(signature")
"""Placeholders of a format for which git has a program check the signature."""

_SIGNS = re.compile(r"\A(?:\([a-z,:!]*\)|[/!^]+:?)")
"""What may stand before a path: the magic of a pathspec."""
_SETTING = re.compile(r"(user|remote|branch|core|init|pull|push)\.[\w./-]+")
"""Settings that `git config` may show."""

_DIFF = (
    "stat shortstat numstat name-only name-status summary compact-summary dirstat raw patch "
    "no-patch patch-with-stat word-diff color-words color no-color minimal patience histogram "
    "find-renames find-copies no-renames ignore-all-space ignore-space-change ignore-space-at-eol "
    "ignore-blank-lines function-context exit-code quiet check full-index abbrev text pickaxe-all "
    "pickaxe-regex cc no-ext-diff no-textconv relative no-prefix no-indent-heuristic"
)
_DIFF_VALUED = "unified diff-filter inter-hunk-context word-diff-regex diff-algorithm"
_LOG = (
    "oneline graph all branches tags remotes merges no-merges first-parent reverse follow decorate "
    "no-decorate format pretty abbrev-commit no-abbrev-commit all-match invert-grep left-right "
    "regexp-ignore-case extended-regexp fixed-strings perl-regexp cherry-pick cherry-mark "
    "topo-order date-order author-date-order simplify-by-decoration full-history no-notes source "
    "walk-reflogs relative-date count parents children boundary"
)
_LOG_VALUED = (
    "max-count skip since after until before author committer grep date min-parents max-parents "
    "decorate-refs encoding"
)
_SHOWING = Rule(
    short="puwbaRzsciEFPgm0",
    valued="nSGUL",
    attached="MC",
    long=f"{_DIFF} {_LOG}",
    long_valued=f"{_DIFF_VALUED} {_LOG_VALUED}",
    number=True,
)
_LISTS = "contains no-contains merged no-merged points-at sort format"

_RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "status": Rule(
            "sbvz",
            attached="u",
            long="short branch porcelain long untracked-files ignored show-stash no-renames "
            "renames verbose ahead-behind no-ahead-behind",
        ),
        "diff": Rule(
            "puwbaRzs0",
            "SGU",
            f"{_DIFF} cached staged merge-base base ours theirs",
            _DIFF_VALUED,
            attached="MC",
        ),
        "log": _SHOWING,
        "show": _SHOWING,
        "whatchanged": _SHOWING,
        "reflog show": _SHOWING,
        "reflog": _SHOWING._replace(operands="none"),
        "stash list": _SHOWING._replace(operands="none"),
        "stash show": _SHOWING,
        "shortlog": Rule("snecw", "", "summary numbered email all no-merges", _LOG_VALUED),
        "rev-list": Rule("", "n", _LOG, _LOG_VALUED, number=True),
        "blame": Rule(
            "wsefnltpc",
            "L",
            "porcelain line-porcelain show-name show-number show-email root",
            "date abbrev",
            attached="MC",
        ),
        "branch": Rule("arvi", "", "all remotes verbose show-current list color no-color", _LISTS),
        "tag": Rule("li", "", "list column no-column color", _LISTS, attached="n"),
        "remote": Rule("v", long="verbose", operands="none"),
        "remote show": Rule("n", operands="none"),
        "remote get-url": Rule(long="all push", operands="text", most=1),
        "worktree list": Rule("v", long="porcelain verbose", operands="none"),
        "ls-files": Rule(
            "cdmoisuztv",
            long="cached deleted modified others ignored stage unmerged exclude-standard full-name "
            "error-unmatch directory no-empty-directory",
        ),
        "ls-tree": Rule("rtdlz", long="name-only name-status full-name full-tree long abbrev"),
        "rev-parse": Rule(
            "q",
            long="abbrev-ref short show-toplevel git-dir absolute-git-dir git-common-dir "
            "show-prefix show-cdup is-inside-work-tree is-inside-git-dir is-bare-repository "
            "symbolic-full-name verify quiet all branches tags remotes",
        ),
        "describe": Rule(
            long="tags always long all contains dirty exact-match first-parent",
            long_valued="abbrev match exclude candidates",
        ),
        "cat-file": Rule("ptse", most=2),
        "merge-base": Rule("a", long="all is-ancestor octopus fork-point independent"),
        "show-ref": Rule("dsq", long="heads tags head dereference hash abbrev verify quiet"),
        "for-each-ref": Rule(long="ignore-case", long_valued=f"{_LISTS} count"),
        "symbolic-ref": Rule("q", long="short quiet", most=1),
        "count-objects": Rule("vH", long="verbose human-readable", operands="none"),
        "check-ignore": Rule("qvn", long="quiet verbose non-matching no-index"),
        "config": Rule(
            "lz",
            long="get get-all list local global system null show-origin show-scope name-only",
            operands="text",
            most=1,
        ),
        "cherry": Rule("v", long="verbose abbrev"),
        "grep": Rule(
            "inwlLcvEFPGhHoqWpIaz",
            "eABC",
            "cached ignore-case line-number word-regexp files-with-matches files-without-match "
            "name-only count invert-match extended-regexp basic-regexp fixed-strings perl-regexp "
            "and or not all-match heading break only-matching column full-name show-function "
            "function-context quiet text color no-color",
            "context after-context before-context max-depth",
            operands="pattern",
            number=True,
        ),
    }
)
_LISTING = MappingProxyType({"branch": {"list"}, "tag": {"list", "-l"}})
"""With a name these create something, unless one of these options is given. `git branch -l` is not
among them: what it does depends on the version of git."""
_IN_TWO_WORDS = frozenset(name.partition(" ")[0] for name in _RULES if " " in name)


def git_words(words: Sequence[Word], places: Places) -> Sorted:
    """Look at the words after `git`: the paths they name, or why it may do more than look."""
    rest = list(words)
    above = Path()
    while rest and rest[0].text in (*_HARMLESS_BEFORE, "-C"):
        if rest.pop(0).text != "-C":
            continue
        folder = rest.pop(0) if rest else Word("")
        moved = None if folder.glob or ".." in folder.text else places.moved(folder.text)
        if moved is None or not folder.text:
            return Sorted(refusal="git would run in another directory")
        places, above = moved, above / folder.text
    name = rest.pop(0).text if rest else ""
    if name in _IN_TWO_WORDS and rest and f"{name} {rest[0].text}" in _RULES:
        name = f"{name} {rest.pop(0).text}"
    if any(_SIGNATURE.search(word.text) for word in rest):
        return Sorted(refusal="git would have a program check signatures")
    if name not in _RULES:
        return Sorted(refusal=f"git {name} is not on the list of what only reads")
    found = sorted_words(f"git {name}", rest, _RULES[name])
    texts = [word.text for word in rest]
    apart = [value for option, value in found.values if f"--{option}={value}" not in texts]
    if any(value.startswith("-") for value in apart):
        return Sorted(refusal="a value of an option looks like another option")
    refusal = found.refusal or _refusal(name, found, places) or program_danger(places)
    if refusal:
        return Sorted(refusal=refusal)
    # The first word of grep is its pattern and no path, unless -e gives the pattern.
    pattern = name == "grep" and "-e" not in found.options
    named = (path for word in found.others[pattern:] for path in _paths(word))
    below = (word._replace(text=str(above / word.text)) for word in named)
    return Sorted(tuple(below if above.parts else named), found.values)


def _refusal(name: str, found: Sorted, places: Places) -> str:
    rule = _RULES[name]
    if len(found.others) > (0 if rule.operands == "none" else rule.most):
        return f"git {name} has more words than it takes for reading"
    if name == "config" and not all(_SETTING.fullmatch(word.text) for word in found.others):
        return "git config can show secrets"
    if name in _LISTING and found.others and not found.options & _LISTING[name]:
        return f"git {name} with a name changes something"
    searches = name == "grep" and "cached" not in found.options
    if searches and places.leads_out(places.place, without=".git"):
        return "there are links that lead out of the project"
    return ""


def _paths(word: Word) -> tuple[Word, ...]:
    """A word and the paths it may stand for: HEAD:src/main.py, :(top)src, docs/*."""
    path = _SIGNS.sub("", word.text.partition(":")[2]) or word.text
    named = (word.text, path, path.strip("*"), path.rpartition(":")[2])
    return tuple(word._replace(text=text) for text in named if text)


MOST_BYTES = 50_000_000
"""The size up to which a file of git is looked through."""

_HEADER = re.compile(r'\s*\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]\s*(?:[#;].*)?')
_CONFIG_LINE = re.compile(r"\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=.*[^\\]|=)?")
_NOTHING = re.compile(r"\s*(?:[#;].*)?")
_HARMLESS = re.compile(
    r"core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode"
    r"|symlinks|autocrlf|eol|safecrlf|whitespace|quotepath|longpaths|abbrev|trustctime|checkstat"
    r"|untrackedcache|preloadindex|compression|bigfilethreshold|protecthfs|protectntfs)"
    r"|remote\.(.*\.(url|fetch|pushurl|push|tagopt|prune|gh-resolved)|pushdefault)"
    r"|branch\..*|(user|pull|push|fetch|rebase|color|gc|tag|init|advice)\.[^.]*"
    r"|commit\.(gpgsign|verbose|cleanup)|status\.(short|branch|showuntrackedfiles|relativepaths)"
    r"|log\.(date|decorate|abbrevcommit|follow)|merge\.(ff|conflictstyle)|extensions\.objectformat"
    r"|diff\.(algorithm|renames|renamelimit|colormoved|mnemonicprefix|noprefix|context)"
    r"|rerere\.enabled|gui\..*|lfs\.repositoryformatversion"
)
_SUBMODULE = b"\x00\x00\xe0\x00"
"""The mode of a submodule in the index: git looks into those with their own settings."""
_MARKS = ("objects", "refs", "HEAD")
"""By these git takes a folder without .git for a repository."""


def program_danger(places: Places) -> str:
    """What could run, or reach out of the project, when git runs in a place; empty if nothing."""
    for folder in (places.place, *places.place.parents):
        if all(os.path.lexists(folder / name) for name in _MARKS):
            return "it would run in git's own files"
        if os.path.lexists(folder / ".git"):
            return _danger(folder, places)
    return ""


def lists_plain_names(places: Places, *, secrets: bool) -> bool:
    """Whether all files in the index that is used in a place have plain names and may be read."""
    folders = (places.place, *places.place.parents)
    top = next((folder for folder in folders if os.path.lexists(folder / ".git")), None)
    if top is None or not os.path.lexists(top / ".git" / "index"):
        return True  # it lists nothing
    try:
        names = list(islice(indexed_names(_content(top / ".git" / "index")), MOST_ENTRIES + 1))
    except (OSError, ValueError, struct.error):
        return False
    return len(names) <= MOST_ENTRIES and all(
        _is_plain(top, name, secrets, places) for name in names
    )


def _is_plain(top: Path, name: str, secrets: bool, places: Places) -> bool:
    parts = name.split("/")
    real = Path(os.path.realpath(top / name))
    return all(map(PLAIN_NAME.fullmatch, parts)) and places.is_plain_name(real, secrets=secrets)


def _danger(top: Path, places: Places) -> str:
    git = top / ".git"
    found = repository_at(top)
    if found is None or git.is_symlink() or (found.git, found.common) != (git, git):
        return "the repository keeps its settings elsewhere"
    if not places.holds(top):
        return "the repository reaches outside of the project"
    if os.path.lexists(git / "hooks" / "post-index-change"):
        return "the repository has a hook that git runs"
    if any(os.path.lexists(git / name) for name in ("config.worktree", "objects/info/alternates")):
        return "the repository keeps its settings elsewhere"
    try:
        if setting := _unknown_setting(_content(git / "config").decode("utf-8", "replace")):
            return f"the repository sets {setting}, by which git may run something"
        if _may_have_submodules(git):
            return "the repository may have submodules, which have settings of their own"
    except OSError:
        return "the settings of the repository cannot be read"
    return ""


def _unknown_setting(text: str) -> str:
    """The first setting that is not known to be harmless; empty if all are."""
    section = ""
    for written in text.split("\n"):
        line = written.removesuffix("\r")
        if _NOTHING.fullmatch(line):
            continue
        if header := _HEADER.fullmatch(line):
            section = ".".join(filter(None, header.groups()))
        elif not (setting := _CONFIG_LINE.fullmatch(line)):
            return "something that cannot be read"
        elif not _HARMLESS.fullmatch(name := f"{section}.{setting[1]}".lower()):
            return name
    return ""


def _may_have_submodules(git: Path) -> bool:
    if not os.path.lexists(git / "index"):
        return False
    return any(git.glob("sharedindex.*")) or _SUBMODULE in _content(git / "index")


def _content(path: Path) -> bytes:
    """The bytes of a file, since a carriage return alone ends no line for git.

    OSError if it is no regular file or larger than `MOST_BYTES`.
    """
    about = path.stat()
    if not stat.S_ISREG(about.st_mode) or about.st_size > MOST_BYTES:
        raise OSError(errno.EFBIG, "not a file of a usual size", str(path))
    return path.read_bytes()
