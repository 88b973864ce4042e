"""Editing a text in the user's own editor, which has the terminal meanwhile."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import signal
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

from textual.app import App, SuspendNotSupported

from ollm_tui.core.errors import OllmError, UsageError
from ollm_tui.core.intake import clean

FALL_BACKS = ("nano", "vim", "vi")
HINT = "set $VISUAL or $EDITOR; the prompt is unchanged"


async def edit_outside(app: App[Any], text: str) -> str:
    """Return the text as the user's editor left it. OllmError if there is none or it fails.

    Whatever runs in the program goes on; nothing is drawn before the editor ends.
    """
    command = editor_command(os.environ)
    # The directory is for this user only, and so is what is in it.
    with TemporaryDirectory(prefix="ollm-") as directory:
        file = Path(directory, "prompt.md")
        file.touch(0o600)
        file.write_text(text, encoding="utf-8")
        try:
            with app.suspend():
                # Textual does not resume after an exception in here.
                problem = await _run(app, [*command, str(file)])
        except SuspendNotSupported as error:
            raise OllmError("the editor needs its own terminal", "") from error
        if problem:
            raise OllmError(f"{command[0]} {problem}", HINT)
        return _read(file, text)


def editor_command(environ: Mapping[str, str]) -> list[str]:
    """Return the command of $VISUAL or $EDITOR, else of the first editor found.

    UsageError if a variable cannot be understood or no editor is found.
    """
    for name in ("VISUAL", "EDITOR"):
        try:
            command = shlex.split(environ.get(name, ""))
        except ValueError as error:
            raise UsageError(f"cannot parse ${name}: {error}", HINT) from error
        if command:
            return command
    for name in FALL_BACKS:
        if shutil.which(name, path=environ.get("PATH")):
            return [name]
    raise UsageError("no editor found", HINT)


async def _run(app: App[Any], command: Sequence[str]) -> str:
    """Run an editor to its end; returns what went wrong, or an empty text."""
    with app.batch_update(), _interrupts_ignored():
        try:
            # The user's own tool: it gets the user's environment, as from a shell.
            process = await asyncio.create_subprocess_exec(*command)
        except (OSError, ValueError) as error:
            return f"cannot be started: {getattr(error, 'strerror', None) or error}"
        try:
            code = await process.wait()
        finally:
            if process.returncode is None:
                process.terminate()
    return f"ended with code {code}" if code else ""


@contextmanager
def _interrupts_ignored() -> Generator[None]:
    """Do nothing at Ctrl+C, which reaches this program too but is meant for the editor.

    By a handler that does nothing: the editor would inherit an ignored signal as ignored.
    """
    before = signal.signal(signal.SIGINT, _do_nothing)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _do_nothing(_number: int, _frame: FrameType | None) -> None:
    pass


def _read(file: Path, before: str) -> str:
    try:
        text = clean(file.read_bytes().decode("utf-8", "replace"))
    except OSError as error:
        raise OllmError(f"the editor left no file to read: {error.strerror}", HINT) from error
    # Editors end the last line, which is not meant as a part of the message.
    return text if before.endswith("\n") else text.removesuffix("\n")
