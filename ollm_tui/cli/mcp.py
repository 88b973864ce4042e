"""`ollm mcp`: the job tools for other agents, over stdin and stdout."""

from __future__ import annotations

import asyncio
import os
from argparse import Namespace
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from ollm_tui.bootstrap import open_jobs
from ollm_tui.cli.store import read_settings
from ollm_tui.core.errors import OllmError
from ollm_tui.services.jobs.job_tools import JobTools
from ollm_tui.services.logs import start_logging


def run(arguments: Namespace) -> int:
    """Serve until stdin closes; nothing but the protocol goes to stdout."""
    try:
        from ollm_tui.mcp_server import serve
    except ModuleNotFoundError as error:
        raise OllmError(f"{error.name} is not installed", "pip install 'ollm-tui[mcp]'") from error
    loaded = read_settings()
    start_logging(loaded.locations.home, debug=arguments.debug)
    rules = loaded.settings.environment
    environment = _passed(os.environ, rules.allow_list)

    async def main() -> None:
        jobs = open_jobs(loaded, environment)
        await serve(jobs, JobTools(jobs, Path.cwd()))

    asyncio.run(main())
    return 0


def _passed(environ: Mapping[str, str], allowed: Iterable[str]) -> dict[str, str]:
    patterns = tuple(allowed)
    return {
        name: value
        for name, value in environ.items()
        if any(fnmatchcase(name, pattern) for pattern in patterns)
    }
