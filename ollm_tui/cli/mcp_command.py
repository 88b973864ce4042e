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
from ollm_tui.engine.tools.policy import Policy, scope_of
from ollm_tui.engine.tools.unattended import UnattendedPolicy
from ollm_tui.services.jobs.job_tools import JobTools
from ollm_tui.services.logs import start_logging
from ollm_tui.services.redaction.redactor import Redactor
from ollm_tui.services.safety.grants import Grants
from ollm_tui.services.sandbox.sandbox import Sandbox
from ollm_tui.settings.loaded import Loaded

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
    if loaded.project and loaded.project.notice:
        log.warning("%s", loaded.project.notice)
    # A server may run for days. What is loaded by now stays, and need not be looked through again.
    gc.freeze()
    gc.enable()
    # The thread that reads stdin cannot be interrupted. Ending at once is safe: jobs end with us.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

    async def main() -> None:
        jobs = open_jobs(loaded, os.environ)
        sandbox = await asyncio.to_thread(_sandbox, loaded, arguments.sandbox)
        log.info("jobs: %s", sandbox.words if sandbox else "no sandbox")
        # A user who switched the sandbox off leaves it to the client to ask about commands.
        held = sandbox is not None or arguments.sandbox is False
        tools = JobTools(
            jobs,
            Path.cwd(),
            Redactor.knowing(os.environ),
            _policy(loaded, held=held).check,
            sandbox.confinement if sandbox else None,
        )
        await serve(jobs, tools, _words(sandbox, held=held))

    asyncio.run(main())
    return 0


def _sandbox(loaded: Loaded, wanted: bool | None) -> Sandbox | None:
    """The sandbox of the jobs; None where there is none, or none is wanted. OllmError if the user
    asked for one and none works."""
    if wanted is False:
        return None
    settings, places = loaded.settings, loaded.locations
    found = Sandbox.find(
        scope_of(settings.tools, places.project),
        settings.tools.network,
        # A job must not change sessions, nor the answers that decide what is allowed.
        read_only=(places.sessions(settings), places.home),
    )
    if found.confinement is not None:
        return found
    for note in found.notes:
        log.info("no sandbox: %s", note)
    if wanted:
        why = "; ".join(found.notes)
        raise OllmError(f"no sandbox available: {why}", "--no-sandbox runs jobs without one")
    return None


def _policy(loaded: Loaded, *, held: bool) -> UnattendedPolicy:
    """The rules for jobs; `held`: whether ordinary commands run unasked."""
    rules, places = loaded.settings.tools, loaded.locations
    grants = Grants(places.home, places.project, writes=False)
    policy = Policy(rules, places.project, grants, confined=lambda: held)
    return UnattendedPolicy(policy, "" if held else "ollm mcp --no-sandbox")


def _words(sandbox: Sandbox | None, *, held: bool) -> str:
    """What holds the jobs, for the client."""
    if sandbox is None and held:
        return "Jobs run without a sandbox."
    if sandbox is None:
        return "No sandbox works here: only commands that read run, and what the settings allow."
    return f"Jobs run in a sandbox ({sandbox.words}) and change files in its scope only."
