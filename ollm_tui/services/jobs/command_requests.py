"""What cmd() in Python code asks for: each line is a command to run as a job, and its answer."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from ollm_tui.core.errors import JobError, OllmError
from ollm_tui.core.job import JobOutput

LONGEST_LINE = 8 * 1024 * 1024


class CommandRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A command as Python code asked for it."""

    argv: list[str]
    cwd: str
    environment: dict[str, str]
    timeout: float | None = None


RunCommand = Callable[[CommandRequest], Awaitable[JobOutput]]


async def serve(channel: socket.socket, run: RunCommand) -> None:
    """Answer every request until the code has ended."""
    reader, writer = await asyncio.open_unix_connection(sock=channel, limit=LONGEST_LINE)
    try:
        while line := await reader.readline():
            writer.write(json.dumps(await _answer(line, run)).encode() + b"\n")
            await writer.drain()
    except (OSError, ValueError):
        pass  # a line without end, or nobody there any more
    finally:
        writer.close()


async def _answer(line: bytes, run: RunCommand) -> dict[str, Any]:
    try:
        request = msgspec.convert(json.loads(line), CommandRequest)
        if not request.argv:
            raise JobError("there is no command", 'cmd("ls", ["-la"])')
        output = await run(request)
    except (msgspec.MsgspecError, ValueError) as error:
        return {"error": f"not a command: {error}"}
    except OllmError as error:
        return {"error": error.message}
    return {
        "jobId": output.job.id,
        "code": output.job.exit_code,
        "stdout": output.stdout.data.decode("utf-8", "replace"),
        "stderr": output.stderr.data.decode("utf-8", "replace"),
    }
