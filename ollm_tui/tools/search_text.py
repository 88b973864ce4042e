"""The tool search_text, which finds the lines of files that match a regular expression."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from msgspec import Meta

import ollm_tui
from ollm_tui.core.counts import counted
from ollm_tui.core.errors import ToolError
from ollm_tui.core.intake import clean
from ollm_tui.core.tool import Action, PlannedCall, Tell, ToolOutcome
from ollm_tui.services.safety.places import keeps_secrets, names_secrets
from ollm_tui.tools.call_arguments import Arguments, Planned, one_line, spec_of, understood
from ollm_tui.tools.scope import Scope
from ollm_tui.tools.scope_files import ScopeFiles, chosen, is_glob

USUAL, MOST = 50, 500
"""How many lines are shown without a limit from the model, and at most with one."""
SECONDS = 20.0
"""How long one search may take."""
COMMAND = (sys.executable, "-S", "-P", "-m", "ollm_tui.tools.text_scan")
"""-S, because the standard library is enough; -P, because a file of the project must not be
imported in place of one of our modules."""


class _Arguments(Arguments, frozen=True):
    pattern: Annotated[str, Meta(description="regular expression, for one line")]
    path: Annotated[str, Meta(description="file, folder or glob")] = ""
    limit: int = USUAL


class _File(NamedTuple):
    """A file to search: a directory of the scope, the path below it, and the name that is shown."""

    root: str
    path: str
    name: str


class _Withheld:
    """Decides which files with matches are withheld because they keep secrets.

    Only files with matches are looked at: to look at all would take longer than the search.
    """

    def __init__(self, files: Iterable[_File]) -> None:
        self._paths = {file.name: file.path for file in files}
        self._known: dict[str, bool] = {}

    @property
    def names(self) -> list[str]:
        """The files that were withheld so far."""
        return [name for name, is_held in self._known.items() if is_held]

    def holds(self, name: str | None) -> bool:
        """Return whether the lines of a file must not be shown to the model."""
        if name not in self._paths:
            return False
        if name not in self._known:
            self._known[name] = keeps_secrets(Path(self._paths[name]))
        return self._known[name]


class SearchText:
    """Searches the files of the scope that are not ignored."""

    spec = spec_of("search_text", "Find lines in the project's files.", _Arguments)

    def __init__(self, scope: Scope, files: ScopeFiles, seconds: float = SECONDS) -> None:
        self._scope = scope
        self._files = files
        self._seconds = seconds

    async def plan(self, args: Mapping[str, Any]) -> PlannedCall:
        """Check the arguments; nothing is searched yet. ToolError if there is no pattern."""
        arguments = understood(self.spec.name, _Arguments, args)
        if not arguments.pattern:
            raise ToolError("search_text needs pattern: what to look for")

        named = await self._named(arguments.path)

        async def work(_tell: Tell) -> ToolOutcome:
            return await self._search(arguments, await self._chosen(arguments.path), named)

        subject = f"{arguments.pattern} in {arguments.path or '.'}"
        action = Action(effect="read", title="search for", subject=subject, reads=named)
        return Planned(action, work)

    async def _named(self, path: str) -> tuple[str, ...]:
        """Return the path the model named and the file it leads to, as the action lists them."""
        pattern = self._files.relative(path)
        if not pattern or is_glob(pattern):
            return (pattern or ".",)
        return (pattern, (await asyncio.to_thread(self._scope.find, pattern)).name)

    async def _chosen(self, path: str) -> list[_File]:
        """Return the files to search: one named file, ignored or not, or all files that match."""
        pattern = self._files.relative(path)
        paths = [each for each in await self._files.paths() if not each.endswith("/")]
        if is_glob(pattern):
            paths = await asyncio.to_thread(chosen, paths, pattern)
        elif pattern:
            place = await asyncio.to_thread(self._scope.find, pattern)
            if await asyncio.to_thread(place.whole.is_file):
                return [_File(str(place.files.root), place.path, place.name)]
            if not await asyncio.to_thread(place.whole.is_dir):
                raise ToolError(f"there is no {place.name}; find_files shows what there is")
            folder = "" if place.name == "." else f"{place.name}/"
            paths = [each for each in paths if each.startswith(folder)]
        return [_File(*self._files.split(each), one_line(each)) for each in paths]

    async def _search(
        self, arguments: _Arguments, files: list[_File], named: tuple[str, ...]
    ) -> ToolOutcome:
        # The user was asked about a path that names secrets, so nothing is withheld then.
        withheld = _Withheld(() if any(map(names_secrets, named)) else files)
        limit = min(max(arguments.limit, 1), MOST)
        question = {"pattern": arguments.pattern, "files": files, "limit": limit}
        lines: list[str] = []
        end: dict[str, Any] = {}
        try:
            async with asyncio.timeout(self._seconds):
                async for answer in _answers(json.dumps(question).encode()):
                    if withheld.holds(answer.get("name")):
                        continue
                    if "name" in answer:
                        text = clean(answer["text"]).replace("\n", " ").strip()
                        lines.append(f"{answer['name']}:{answer['line']}: {text}")
                    else:
                        end = answer
        except TimeoutError:
            end = {"seconds": self._seconds}
        return _outcome(lines, end, len(withheld.names))


async def _answers(question: bytes) -> AsyncIterator[dict[str, Any]]:
    """Yield the answers of the search process, which ends with this generator."""
    process = await asyncio.create_subprocess_exec(
        *COMMAND,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={"PYTHONPATH": str(Path(ollm_tui.__file__).parent.parent)},
        cwd="/",
        start_new_session=True,
    )
    assert process.stdin and process.stdout
    try:
        process.stdin.write(question)
        process.stdin.close()
        async for line in process.stdout:
            yield json.loads(line)
        await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def _outcome(lines: list[str], end: Mapping[str, Any], withheld: int) -> ToolOutcome:
    notes: list[str] = []
    if "seconds" in end:
        notes.append(f"stopped after {end['seconds']:g} s; use a simpler pattern or a smaller path")
    elif not end:
        notes.append("the search broke off; use a simpler pattern")
    elif end["is_cut"]:
        notes.append("there are more; narrow the pattern or path, or raise limit")
    elif not lines and not withheld:
        notes.append(f"nothing found in {counted(end['files'], 'file')}")
    if end.get("is_plain"):
        notes.append("the pattern is no regular expression; it was searched as plain text")
    if withheld:
        notes.append(f"lines of {counted(withheld, 'file')} with secrets left out; name it as path")
    text = "\n".join([*lines, *(f"[{note}]" for note in notes)])
    summary = counted(len(lines), "line") + " and more" * bool(end.get("is_cut"))
    broke_off = "is_cut" not in end
    return ToolOutcome(text=text, is_error=broke_off, changed=False, summary=summary)
