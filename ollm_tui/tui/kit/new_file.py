"""Writing into a file that was not there before, for exports."""

from __future__ import annotations

import asyncio
from pathlib import Path

from ollm_tui.core.errors import StoreError, UsageError
from ollm_tui.core.intake import visible


async def write_new(name: str, text: str) -> Path:
    """Write into a file of the user's choice; gives its whole path. UsageError or StoreError."""
    try:
        file = Path(name).expanduser()
    except RuntimeError as error:
        problem = f"{visible(name)} names a user that is not there"
        raise UsageError(problem, "choose another place") from error
    await asyncio.to_thread(_write, file, text)
    return file.absolute()


def _write(file: Path, text: str) -> None:
    """Never over a file that is there: what it holds may be all there is of it."""
    try:
        with file.open("x", encoding="utf-8") as opened:
            opened.write(text)
    except FileExistsError as error:
        raise UsageError(f"{file} is there already", "choose another name") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise StoreError(f"{file} cannot be written: {reason}", "choose another place") from error
