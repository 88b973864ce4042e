"""`ollm mcp`: serves the job tools to other agents over stdin and stdout."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
from argparse import Namespace
from pathlib import Path

from ollm_tui.bootstrap import open_jobs
from ollm_tui.cli.store import read_settings
from ollm_tui.core.errors import OllmError
from ollm_tui.services.jobs.job_tools import JobTools
from ollm_tui.services.logs import start_logging
from ollm_tui.services.redaction.redactor import Redactor

log = logging.getLogger(__name__)


def run(arguments: Namespace) -> int:
    """Serve until stdin is closed; only the protocol is written to stdout."""
    try:
        from ollm_tui.mcp_server import serve
    except ModuleNotFoundError as error:
        raise OllmError(f"{error.name} is not installed", "pip install 'ollm-tui[mcp]'") from error
    loaded = read_settings()
    start_logging(loaded.locations.home, debug=arguments.debug)
    for warning in loaded.warnings:
        log.warning("%s", warning)
    gc.enable()  # a server may run for days
    # The thread that reads stdin cannot be interrupted. Ending at once is safe: jobs end with us.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

    async def main() -> None:
        jobs = open_jobs(loaded, os.environ)
        await serve(jobs, JobTools(jobs, Path.cwd(), Redactor.knowing(os.environ)))

    asyncio.run(main())
    return 0
