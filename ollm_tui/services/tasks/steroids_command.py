"""The command line of Steroids: the only way its tasks and settings are ever changed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from ollm_tui.core.errors import ToolError
from ollm_tui.core.intake import clean
from ollm_tui.services.safety.environment import cleaned
from ollm_tui.settings.schema import Environment

LIMIT_SECONDS = 60.0
MOST_BYTES = 64 * 1024


async def run_steroids(
    program: str, arguments: Sequence[str], folder: Path, environ: Mapping[str, str]
) -> str:
    """Run the command and return what it printed. ToolError if it fails."""
    try:
        process = await asyncio.create_subprocess_exec(
            program,
            *arguments,
            cwd=folder,
            env=cleaned(environ, Environment()).variables,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
    except OSError as error:
        raise ToolError(f"cannot start steroids: {error.strerror}") from error
    try:
        async with asyncio.timeout(LIMIT_SECONDS):
            printed, _ = await process.communicate()
    except TimeoutError:
        raise ToolError(f"steroids took longer than {LIMIT_SECONDS:g} s") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    text = clean(printed[:MOST_BYTES].decode("utf-8", "replace")).strip()
    if process.returncode:
        raise ToolError(f"steroids failed (exit {process.returncode}): {text[-500:]}")
    return text
