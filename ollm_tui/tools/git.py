"""The tool git: which commands and options it offers, and how they run without running code
that the repository names.
"""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple

from msgspec import Meta

from ollm_tui.core.errors import ToolError
from ollm_tui.core.intake import clean
from ollm_tui.core.tool import Action, PlannedCall, Tell, ToolOutcome
from ollm_tui.services.files.repository import Repository
from ollm_tui.tools.call_arguments import Arguments, Planned, one_line, spec_of, understood
from ollm_tui.tools.hardened_git import HardenedGit, Printed
from ollm_tui.tools.scope import Scope

_COUNT = re.compile(r"-\d+")

# What is not on these lists is refused: many options of git run a program or write a file.
_DIFF_LONG = """
    stat shortstat numstat name-only name-status summary compact-summary dirstat raw
    unified= patch no-patch word-diff minimal patience histogram diff-filter= find-renames
    find-copies no-renames ignore-all-space ignore-space-change ignore-space-at-eol
    ignore-blank-lines function-context exit-code quiet check full-index abbrev text pickaxe-all
    pickaxe-regex inter-hunk-context= no-color cc
"""
_LOG_LONG = """
    oneline graph max-count= skip= since= after= until= before= author= committer= grep= all
    branches tags remotes merges no-merges first-parent reverse follow decorate no-decorate
    format= pretty date= abbrev-commit all-match invert-grep regexp-ignore-case left-right
    cherry-pick topo-order date-order simplify-by-decoration
"""


@dataclass(frozen=True)
class Subcommand:
    """A git command and the options it may have.

    In `short`, `x:` takes a value and `x;` may have one attached; in `long`, `name=` takes one.
    """

    effect: Literal["read", "run"]
    short: str
    long: str
    forced: tuple[str, ...] = ()
    """Options that are always given, before those the model wrote."""


SUBCOMMANDS: Mapping[str, Subcommand] = MappingProxyType(
    {
        "status": Subcommand(
            "read",
            "sbu;z",
            "short branch porcelain long untracked-files ignored show-stash no-renames renames",
            ("--ignore-submodules=all",),
        ),
        "diff": Subcommand(
            "read",
            "puU:M;C;wbaRzS:G:s",
            f"{_DIFF_LONG} cached staged merge-base base ours theirs",
            ("--no-ext-diff", "--no-textconv", "--ignore-submodules=all"),
        ),
        "log": Subcommand(
            "read",
            "n:puU:M;C;wbaRzS:G:siEFPg",
            f"{_DIFF_LONG} {_LOG_LONG}",
            ("--no-ext-diff", "--no-textconv", "--no-show-signature", "--submodule=short"),
        ),
        "show": Subcommand(
            "read",
            "n:puU:M;C;wbaRzs",
            f"{_DIFF_LONG} {_LOG_LONG}",
            ("--no-ext-diff", "--no-textconv", "--no-show-signature", "--submodule=short"),
        ),
        "blame": Subcommand(
            "read",
            "L:wsefnltpcM;C;",
            "porcelain line-porcelain show-name show-number show-email date= root",
            ("--no-textconv",),
        ),
        "ls-files": Subcommand(
            "read",
            "cdmoisuzt",
            "cached deleted modified others ignored stage unmerged exclude-standard full-name "
            "error-unmatch directory no-empty-directory",
        ),
        # --cached, because in the working tree git grep follows links that lead out of the scope.
        "grep": Subcommand(
            "read",
            "inwlLcvEFPGhHe:A:B:C:oqWpIaz",
            "cached ignore-case line-number word-regexp files-with-matches files-without-match "
            "count invert-match extended-regexp basic-regexp fixed-strings perl-regexp context= "
            "after-context= before-context= and or not all-match heading break only-matching "
            "max-depth= name-only column full-name show-function function-context quiet text",
            ("--cached", "--no-textconv"),
        ),
        "branch": Subcommand(
            "run",
            "arvlidDmMcCfu:q",
            "list all remotes verbose contains= no-contains= merged= no-merged= show-current "
            "sort= points-at= format= ignore-case delete move copy force set-upstream-to= "
            "unset-upstream quiet",
        ),
        "add": Subcommand("run", "AunvfN", "all update dry-run verbose force intent-to-add"),
        "commit": Subcommand(
            "run",
            "m:aqs",
            "message= all amend no-edit allow-empty author= date= quiet signoff dry-run",
        ),
        "switch": Subcommand("run", "c:C:dfq", "create= force-create= detach discard-changes"),
        "checkout": Subcommand("run", "b:B:fq", "detach ours theirs force orphan= quiet"),
        "restore": Subcommand("run", "s:SWq", "source= staged worktree ours theirs quiet"),
        "stash": Subcommand(
            "run", "m:ukaq", "message= include-untracked keep-index all index quiet stat"
        ),
        "reset": Subcommand("run", "q", "soft mixed hard keep quiet"),
        "rm": Subcommand("run", "rfqn", "cached force dry-run quiet"),
        "mv": Subcommand("run", "fknv", "force dry-run verbose"),
        "merge": Subcommand(
            "run",
            "m:q",
            "no-ff ff-only ff squash abort continue quit no-edit no-commit message= quiet",
        ),
        "cherry-pick": Subcommand("run", "xn", "no-commit abort continue skip quit"),
        "revert": Subcommand("run", "n", "no-edit no-commit abort continue skip quit"),
        "tag": Subcommand(
            "run", "am:dln;f", "annotate message= delete list sort= contains= points-at= force"
        ),
    }
)


class GitCommand(NamedTuple):
    """A git command line that may be run."""

    effect: Literal["read", "run"]
    argv: tuple[str, ...]
    """The arguments for git, after the options that harden it."""
    shown: tuple[str, ...]
    """What the model wrote, without the forced options."""
    paths: tuple[str, ...] = ()
    """Words that git may take for files outside of the repository; they must lie in the scope."""


def git_command(args: Sequence[str]) -> GitCommand:
    """Check the model's arguments. ToolError for a command or an option that is not offered."""
    words = list(args[1:] if args[:1] == ["git"] else args)
    if not words or words[0] not in SUBCOMMANDS:
        wrong = one_line(words[0]) if words else "nothing"
        raise ToolError(
            f"git: {wrong} is not offered; there are {', '.join(SUBCOMMANDS)}; else use exec"
        )
    name, *rest = words
    if any("\0" in word for word in rest):
        raise ToolError("git: an argument cannot contain a NUL character")
    about = SUBCOMMANDS[name]
    options, others = _checked(name, about, rest)
    effect = about.effect
    if name == "branch" and _only_lists(options, others):
        effect = "read"
    if name == "blame":
        rest = _of_a_commit(rest, others)
    paths = others if name in ("diff", "blame") else ()
    return GitCommand(effect, (name, *about.forced, *rest), tuple(words), tuple(paths))


def _checked(name: str, about: Subcommand, words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split words into the names of options and the other arguments; values of options are left
    out. ToolError for an option that is not offered."""
    options: list[str] = []
    others: list[str] = []
    waits_for_value = False
    for number, word in enumerate(words):
        if word == "--" and not waits_for_value:
            return options, others + list(words[number + 1 :])
        if word == "-" or not word.startswith("-"):
            if not waits_for_value:
                others.append(word)
            waits_for_value = False
            continue
        # Git would take this word for the value of the option before it, whatever it looks like.
        found = None if waits_for_value else _option(about, word)
        if found is None:
            raise ToolError(f"git {name} {one_line(word)} is not offered here; else use exec")
        options.append(found[0])
        waits_for_value = found[1]
    return options, others


def _option(about: Subcommand, word: str) -> tuple[str, bool] | None:
    """Return the option's name and whether its value is the next word; None if not offered.

    Abbreviations are refused, because git may complete them to an option that is not listed.
    """
    if word.startswith("--"):
        name, attached, _ = word.removeprefix("--").partition("=")
        offered = about.long.split()
        if f"{name}=" in offered:
            return name, not attached
        return (name, False) if name in offered else None
    if _COUNT.fullmatch(word) and "n:" in about.short:
        return "n", False
    letters = word[1:]
    for place, letter in enumerate(letters):
        at = about.short.find(letter)
        if at < 0 or letter in ":;":
            return None
        kind = about.short[at + 1 : at + 2]
        if kind == ":":
            return letter, place == len(letters) - 1
        if kind == ";":
            return letter, False
    return letters, False


def _only_lists(options: Sequence[str], others: Sequence[str]) -> bool:
    """Return whether `git branch` with these arguments lists branches and changes none."""
    changing = {"delete", "move", "copy", "force", "set-upstream-to", "unset-upstream"}
    letters = {letter for option in options if len(option) < 4 for letter in option}
    if changing & set(options) or letters & set("dDmMcCfu"):
        return False
    return not others or "list" in options or "l" in letters


def _of_a_commit(rest: Sequence[str], others: Sequence[str]) -> list[str]:
    """Return the arguments of git blame with a commit: without one it reads the working tree, and
    there follows links that lead out of the scope."""
    if any(word.startswith("^") for word in others):
        raise ToolError("git blame: name the commit to look at, not one to leave out")
    if len(others) > 1:
        return list(rest)
    before = list(rest[: rest.index("--")] if "--" in rest else rest)
    if "--" not in rest and others:
        before.remove(others[0])
    return [*before, "HEAD", "--", *others]


# What git reads in the folder of a work tree, and in the folder its work trees share.
_OF_WORK_TREE = ("HEAD", "index", "logs", "config.worktree")
_OF_REPOSITORY = ("objects", "refs", "packed-refs", "logs", "config", "info", "worktrees")
_SIGNS = re.compile(r"[:=()]")


class _Arguments(Arguments, frozen=True):
    args: Annotated[list[str], Meta(description='like ["log", "-5"]')]


class Git:
    """Runs the listed commands with hooks, filters and helper programs switched off."""

    spec = spec_of("git", "Run git (status, diff, log, show, add, commit, …).", _Arguments)

    def __init__(self, scope: Scope, environ: Mapping[str, str], timeout_seconds: float) -> None:
        self._scope = scope
        self._git = HardenedGit(scope.root, environ)
        self._timeout_seconds = timeout_seconds

    async def plan(self, args: Mapping[str, Any]) -> PlannedCall:
        """Check that the command is offered, and find out whether it only reads."""
        arguments = understood(self.spec.name, _Arguments, _as_list(args))
        command = git_command(arguments.args)
        await asyncio.to_thread(self._check, command)
        repository = await asyncio.to_thread(self._git.repository)
        is_inside = await asyncio.to_thread(self._lies_inside, repository)
        if command.effect == "run" and (used := await self._git.filters(repository)):
            raise ToolError(
                f"this repository uses git filters ({one_line(', '.join(used))}), which this tool "
                "leaves out; use exec for it"
            )

        async def work(_tell: Tell) -> ToolOutcome:
            # Again: a path may have become a link while the user was asked.
            await asyncio.to_thread(self._check, command)
            printed = await self._git.run(repository, command.argv, self._timeout_seconds)
            return _outcome(command, printed)

        action = Action(
            effect="read" if command.effect == "read" and is_inside else "run",
            title="run (hooks are off)" if command.effect == "run" else "run",
            subject=shlex.join(("git", *command.shown)),
            place=str(self._scope.root),
            language="shell",
            reads=tuple(_pieces(command.shown)),
        )
        return Planned(action, work)

    def _check(self, command: GitCommand) -> None:
        """Check that the paths of a command lie in the scope. ToolError if one does not."""
        for path in command.paths:
            self._scope.find(path)

    def _lies_inside(self, repository: Repository) -> bool:
        """Return whether all that git reads lies in the scope; if not, the user is asked."""
        paths = [
            repository.top,
            *(repository.git / name for name in _OF_WORK_TREE),
            *(repository.common / name for name in _OF_REPOSITORY),
        ]
        # Alternates name further folders that git reads objects from.
        borrows = (repository.common / "objects/info/alternates").exists()
        return not borrows and all(map(self._scope.holds, paths))


def _pieces(words: Iterable[str]) -> Iterator[str]:
    """Yield every part of a command that may name a file: the words themselves, and what follows
    a revision, an option or path magic in them (HEAD:.env, --since=…, :(top).env)."""
    for word in words:
        yield from filter(None, (word, *_SIGNS.split(word)))


def _as_list(args: Mapping[str, Any]) -> Mapping[str, Any]:
    """Split a command line that came as one string. ToolError if its quotes do not match."""
    found = {**args}
    for name in ("args", "arguments", "argv", "command"):
        if isinstance(line := found.get(name), str):
            try:
                found[name] = shlex.split(line)
            except ValueError as error:
                raise ToolError(f"git: args cannot be read: {error}") from error
    return found


def _outcome(command: GitCommand, printed: Printed) -> ToolOutcome:
    text = clean(printed.text)
    if printed.is_cut:
        text += "\n[there is more; narrow the command]"
    failed = printed.code != 0
    if failed:
        text += f"\n[exit {printed.code}]"
    lines = text.count("\n") + (not text.endswith("\n") and bool(text))
    return ToolOutcome(
        text=text or "[nothing printed]",
        is_error=failed,
        changed=False if command.effect == "read" else None,
        summary=f"exit {printed.code}" if failed else f"{lines:,} line{'s' * (lines != 1)}",
    )
