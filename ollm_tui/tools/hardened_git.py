"""Running git so that no repository can make it run code: settings that name programs are
overridden.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ollm_tui.core.errors import ToolError
from ollm_tui.services.files.git_program import GitProgram
from ollm_tui.services.files.repository import Repository, find_repository
from ollm_tui.tools.call_arguments import one_line

MOST_BYTES = 2_000_000
"""The most output that is read; git is ended when it prints more."""
ANSWER_SECONDS = 30.0
"""How long git may take for a question about the repository itself."""

_SET = {
    "GIT_EDITOR": ":",
    "GIT_SEQUENCE_EDITOR": ":",
    "GIT_PAGER": "cat",
    "GIT_ASKPASS": "false",
    "GIT_MERGE_AUTOEDIT": "no",
}
# Given with -c, which outranks every settings file: each of these can name a program to run, ask
# on the terminal, or change the output.
_OVERRIDDEN = (
    *("core.fsmonitor=false", "core.hooksPath=/dev/null", "core.pager=cat", "core.editor=:"),
    *("sequence.editor=:", "core.sshCommand=false", "core.askPass=false", "credential.helper="),
    *("core.alternateRefsCommand=false", "diff.external=", "gpg.program=false"),
    *("gpg.openpgp.program=false", "gpg.x509.program=false", "gpg.ssh.program=false"),
    *("gpg.ssh.defaultKeyCommand=false", "commit.gpgSign=false", "tag.gpgSign=false"),
    *("log.showSignature=false", "submodule.recurse=false", "diff.ignoreSubmodules=all"),
    *("diff.submodule=short", "status.submoduleSummary=false", "gc.auto=0"),
    *("maintenance.auto=false", "blame.ignoreRevsFile=", "protocol.allow=never"),
    *("color.ui=false", "column.ui=never", "grep.fallbackToNoIndex=false"),
)
# Drivers have names that the repository chooses, so each is looked up and overridden by its name.
_DRIVERS = r"^(filter|diff|merge)\..+\.(clean|smudge|process|required|command|textconv|driver)$"
_SWITCHED_OFF = {"required": "false", "driver": "false"}
"""The values that switch a driver off; its other settings are set to nothing."""


class Printed(NamedTuple):
    """The output of git and its exit code."""

    code: int
    text: str
    is_cut: bool = False


class HardenedGit:
    """Runs git in the repository of a folder."""

    def __init__(self, folder: Path, environ: Mapping[str, str]) -> None:
        self._folder = folder
        self._environment = GitProgram(environ).environment | _SET

    def repository(self) -> Repository:
        """Find the repository. ToolError if there is none or it belongs to another user."""
        found = find_repository(self._folder)
        if found is None:
            raise ToolError("there is no git repository here")
        # Git checks owners too (safe.directory), but not where --git-dir is given.
        own = (0, os.geteuid())
        try:
            owners = [path.stat().st_uid for path in (found.top, found.git, found.common)]
        except OSError as error:
            raise ToolError(f"the git repository cannot be read: {error.strerror}") from error
        if any(owner not in own for owner in owners):
            raise ToolError("the repository belongs to another user; git is not run in it")
        return found

    async def run(
        self, repository: Repository, words: Sequence[str], seconds: float = ANSWER_SECONDS
    ) -> Printed:
        """Run a command with every driver of the repository switched off."""
        names = await self._driver_settings(repository)
        switched_off = [f"{name}={_SWITCHED_OFF.get(_last(name), '')}" for name in names]
        return await self._run(repository, (*_given(switched_off), *words), seconds)

    async def filters(self, repository: Repository) -> list[str]:
        """Return the filters that files of the repository have; `run` leaves them out."""
        settings = await self._driver_settings(repository)
        filters = (name for name in settings if name.startswith("filter."))
        found: list[str] = []
        for name in sorted({name.partition(".")[2].rpartition(".")[0] for name in filters}):
            words = ("ls-files", "-co", "--exclude-standard", "--", f":(attr:filter={name})")
            printed = await self.run(repository, words)
            # If git cannot tell, the filter counts as used.
            if printed.text or printed.code:
                found.append(name)
        return found

    async def _driver_settings(self, repository: Repository) -> list[str]:
        words = ("config", "-z", "--name-only", "--get-regexp", _DRIVERS)
        printed = await self._run(repository, words, ANSWER_SECONDS)
        # Git exits with 1 where no setting fits.
        if printed.code not in (0, 1) or printed.is_cut:
            raise ToolError(f"git cannot read its settings: {one_line(printed.text[:200])}")
        names = sorted(set(filter(None, printed.text.split("\0"))))
        # -c cuts at the first =, so that another setting than this would be overridden.
        if wrong := next((name for name in names if "=" in name or "\n" in name), None):
            raise ToolError(f"git: the setting {one_line(wrong)} cannot be switched off; use exec")
        return names

    async def _run(self, repository: Repository, words: Sequence[str], seconds: float) -> Printed:
        try:
            process = await asyncio.create_subprocess_exec(
                "git",
                "--no-pager",
                f"--git-dir={repository.git}",
                f"--work-tree={repository.top}",
                *_given(_OVERRIDDEN),
                *words,
                cwd=self._folder,
                env=self._environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise ToolError(f"git cannot be run: {error}") from error
        try:
            async with asyncio.timeout(seconds):
                return await _printed(process)
        except TimeoutError as error:
            raise ToolError(f"git took longer than {seconds:g} seconds and was ended") from error
        finally:
            await _end(process)


def _given(settings: Sequence[str]) -> list[str]:
    return [word for setting in settings for word in ("-c", setting)]


def _last(name: str) -> str:
    return name.rpartition(".")[2]


async def _printed(process: asyncio.subprocess.Process) -> Printed:
    assert process.stdout
    data = bytearray()
    while piece := await process.stdout.read(65_536):
        data += piece
        if len(data) > MOST_BYTES:
            return Printed(0, data[:MOST_BYTES].decode("utf-8", "replace"), is_cut=True)
    return Printed(await process.wait(), data.decode("utf-8", "replace"))


async def _end(process: asyncio.subprocess.Process) -> None:
    """Kill git and all it started, unless it has ended."""
    if process.returncode is None:
        os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
