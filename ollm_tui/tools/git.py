"""git: looking at the repository, and changing it, without running anything it names."""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any

from msgspec import Meta

from ollm_tui.core.errors import ToolError
from ollm_tui.core.intake import clean
from ollm_tui.core.tool import Action, PlannedCall, Tell, ToolOutcome
from ollm_tui.services.files.repository import Repository
from ollm_tui.tools.call_arguments import Arguments, one_line, spec_of, understood
from ollm_tui.tools.git_commands import GitCommand, git_command
from ollm_tui.tools.hardened_git import HardenedGit, Printed
from ollm_tui.tools.planned import Planned
from ollm_tui.tools.scope import Scope

_OF_WORK_TREE = ("HEAD", "index", "logs", "config.worktree")
_SIGNS = re.compile(r"[:=()]")
_OF_REPOSITORY = ("objects", "refs", "packed-refs", "logs", "config", "info", "worktrees")


class _Arguments(Arguments, frozen=True):
    args: Annotated[list[str], Meta(description='like ["log", "-5"]')]


class Git:
    """Commands of a list, hardened. Hooks, filters and helpers are off."""

    spec = spec_of("git", "Run git (status, diff, log, show, add, commit, …).", _Arguments)

    def __init__(self, scope: Scope, environ: Mapping[str, str], timeout_seconds: float) -> None:
        self._scope = scope
        self._git = HardenedGit(scope.root, environ)
        self._timeout_seconds = timeout_seconds

    async def plan(self, args: Mapping[str, Any]) -> PlannedCall:
        """See whether the command is offered, and whether it only looks."""
        wanted = understood(self.spec.name, _Arguments, _as_list(args))
        command = git_command(wanted.args)
        await asyncio.to_thread(self._check, command)
        repository = await asyncio.to_thread(self._git.repository)
        is_inside = await asyncio.to_thread(self._lies_inside, repository)
        if command.effect == "run" and (used := await self._git.filters(repository)):
            raise ToolError(
                f"this repository uses git filters ({one_line(', '.join(used))}), which this tool "
                "leaves out; use exec for it"
            )

        async def work(_tell: Tell) -> ToolOutcome:
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
        for path in command.paths:
            self._scope.find(path)

    def _lies_inside(self, repository: Repository) -> bool:
        """Whether all that git reads lies in the scope; what lies elsewhere is asked for."""
        paths = [
            repository.top,
            *(repository.git / name for name in _OF_WORK_TREE),
            *(repository.common / name for name in _OF_REPOSITORY),
        ]
        borrows = (repository.common / "objects/info/alternates").exists()
        return not borrows and all(map(self._scope.holds, paths))


def _pieces(words: Iterable[str]) -> Iterator[str]:
    """All of a command that may name a file: the words, and what stands after a revision, an
    option or the signs of a path: HEAD:.env, --since=…, :(top).env."""
    for word in words:
        yield from filter(None, (word, *_SIGNS.split(word)))


def _as_list(args: Mapping[str, Any]) -> Mapping[str, Any]:
    """A command line in one string is meant as its words."""
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
