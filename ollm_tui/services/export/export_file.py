"""Export of a conversation into a file the user names; the suffix decides the format."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, cast, get_args

import msgspec

from ollm_tui.core.errors import StoreError, UsageError
from ollm_tui.core.intake import visible
from ollm_tui.core.session.message import Message
from ollm_tui.core.session.session import Session
from ollm_tui.core.unkept_outputs import message_without_outputs, session_without_outputs
from ollm_tui.services.export.exporting import ExportFormat, export_session

FurtherFormats = Callable[[str, dict[str, Any]], Awaitable[str | None]]
"""Returns a session in a format of an extension, by its suffix; None if there is none."""


async def write_new(name: str, text: str) -> Path:
    """Write a text into a new file and return its absolute path.

    UsageError if the name is wrong or taken, StoreError if the file cannot be written.
    """
    try:
        file = Path(name).expanduser()
    except RuntimeError as error:
        problem = f"{visible(name)} names an unknown user"
        raise UsageError(problem, "choose another place") from error
    await asyncio.to_thread(_write, file, text)
    return file.absolute()


def _write(file: Path, text: str) -> None:
    """Write a new file; never over an existing one, which may be the only copy of its content."""
    try:
        with file.open("x", encoding="utf-8") as opened:
            opened.write(text)
    except FileExistsError as error:
        raise UsageError(f"{file} already exists", "choose another name") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise StoreError(f"cannot write {file}: {reason}", "choose another place") from error


async def export_to(
    name: str,
    session: Session,
    branch: Sequence[Message],
    *,
    keeps_outputs: bool,
    further: FurtherFormats | None = None,
) -> Path:
    """Write a branch of a session into a new file and return its absolute path.

    Where outputs of tools are not kept on disk, they are not in the file either.
    UsageError if the suffix is no format or the name is taken, StoreError if writing fails.
    """
    kind = Path(name).suffix.removeprefix(".").lower()
    if not keeps_outputs:
        session = session_without_outputs(session)
        branch = [message_without_outputs(message) for message in branch]
    if kind not in get_args(ExportFormat):
        tree = export_session(session, branch, "json") if further else ""
        if further and (text := await further(kind, msgspec.json.decode(tree))) is not None:
            return await write_new(name, text)
        wrong = f"unknown export format {visible(kind) or 'none'}"
        raise UsageError(wrong, "end the name in .md, .html or .json")
    return await write_new(name, export_session(session, branch, cast(ExportFormat, kind)))
