"""Starts jobs in a shell, and runs the commands that Python code asks for by cmd()."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ollm_tui.core import clock
from ollm_tui.core.errors import JobError, OllmError
from ollm_tui.core.job import Job, JobLanguage, JobOutput
from ollm_tui.services.jobs.execution import Execution, JobListeners
from ollm_tui.services.jobs.launcher_client import Launching
from ollm_tui.services.jobs.memory_file import memory_file
from ollm_tui.services.jobs.order import Order
from ollm_tui.services.jobs.output_tail import Limits
from ollm_tui.services.jobs.process_tree import MARK_VARIABLE, task_count
from ollm_tui.services.jobs.running_job import RunningJob
from ollm_tui.services.jobs.shell import Shell
from ollm_tui.services.jobs.shell_program import Program, python_program, shell_program
from ollm_tui.services.jobs.shell_state import check_environment, readable
from ollm_tui.services.sandbox.confinement import ARGUMENTS_FILE, Confinement

MOST_COMMANDS = 50
"""How many commands of one Python code run side by side; further ones wait."""
LONGEST_LINE = 8 * 1024 * 1024
"""Bytes of a request of cmd(); after a longer one no more are answered."""


class JobRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The code of a job, and how it is run."""

    code: str
    language: JobLanguage = "shell"
    background: bool = False
    timeout: float | None = None
    """Seconds after which the job is ended; None: it may run as long as it takes."""
    env: dict[str, str] = {}
    """Environment variables for this job alone."""
    by_model: bool = False
    confinement: Confinement | None = None
    """The sandbox of the job and of all that its Python code runs by cmd()."""


class CommandRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A command that Python code asked for by cmd(). `timeout` is in seconds."""

    number: int
    """The answer has it too: threads ask side by side."""
    argv: list[str]
    cwd: str
    environment: dict[str, str]
    timeout: float | None = None


RunCommand = Callable[[CommandRequest], Awaitable[JobOutput]]


class _Place(NamedTuple):
    cwd: str
    environment: dict[str, str]


class JobStarter:
    """Starts jobs; all of them end when it is closed or when this process ends."""

    def __init__(self, limits: Limits, listeners: JobListeners) -> None:
        self._limits = limits
        self._listeners = listeners
        self._launching = Launching()
        self._serving: set[asyncio.Task[None]] = set()

    async def start(self, shell: Shell, request: JobRequest) -> RunningJob:
        """Run code in a shell; returns once its process runs. JobError if it cannot be started."""
        check_environment(request.env)
        _check_directory(shell)
        state = shell.state_for(request.confinement is not None)
        place = _Place(state.cwd, {**state.environment, **request.env})
        job = _new_job(shell, request, place.cwd)
        if request.language == "python":
            ours, theirs = socket.socketpair()
            program = python_program(request.code, state, theirs.detach())
            self._serve(ours, shell, job, request.confinement)
        else:
            program = shell_program(request.code, state)
        return await self._run(shell, job, program, place, request)

    async def run_command(
        self,
        shell: Shell,
        parent: Job,
        request: CommandRequest,
        confinement: Confinement | None = None,
    ) -> JobOutput:
        """Run a command that Python code asked for, to its end. JobError if it cannot start."""
        # The request may still be in the channel when the code has ended.
        now = shell.job(parent.id)
        if now is None or not now.running:
            raise JobError("the code that asked for it has ended", "run it again")
        code = " ".join(request.argv)
        job_request = JobRequest(
            code=code, language="command", timeout=request.timeout, confinement=confinement
        )
        place = _Place(request.cwd, request.environment)
        job = msgspec.structs.replace(_new_job(shell, job_request, place.cwd), parent=parent.id)
        program = Program(request.argv, [], [], None)
        running = await self._run(shell, job, program, place, job_request)
        await running.finished.wait()
        return running.output(0, 0)

    async def close(self) -> None:
        """Let the launcher end; jobs that still run end with it."""
        for task in tuple(self._serving):
            task.cancel()
        await asyncio.to_thread(self._launching.close)

    async def _run(
        self, shell: Shell, job: Job, program: Program, place: _Place, request: JobRequest
    ) -> RunningJob:
        execution = Execution(
            shell,
            self._listeners,
            program.report,
            request.env,
            self._limits.variable_bytes,
            held=request.confinement is not None,
        )
        try:
            order = self._order(job, program, place)
            if request.confinement is not None:
                order = _held(order, program, request.confinement)
            launched = self._launching.launch(order, program.files)
        except JobError:
            if program.report is not None:
                os.close(program.report)
            raise
        running = RunningJob(job, launched, self._limits, execution)
        shell.add(running)
        try:
            await running.begin(request.timeout)
        except asyncio.CancelledError:
            running.stop()
            raise
        return running

    def _order(self, job: Job, program: Program, place: _Place) -> Order:
        tasks = task_count()
        return Order(
            argv=program.argv,
            cwd=place.cwd,
            environment={**place.environment, "PWD": place.cwd, MARK_VARIABLE: job.id},
            files=program.numbers,
            most_processes=self._limits.processes,
            # The kernel counts the threads of the user. How many there are is not known; those of
            # the whole machine are no fewer. Where not even they are known there is no limit.
            most_tasks=tasks and tasks + self._limits.tasks,
        )

    def _serve(
        self, channel: socket.socket, shell: Shell, job: Job, confinement: Confinement | None
    ) -> None:
        async def run(request: CommandRequest) -> JobOutput:
            return await self.run_command(shell, job, request, confinement)

        task = asyncio.create_task(serve(channel, run))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)


def _held(order: Order, program: Program, confinement: Confinement) -> Order:
    """The order with the program in its sandbox. JobError if something cannot be protected."""
    try:
        held = confinement.hold(order.argv, order.cwd, order.environment)
    except JobError:
        # Otherwise the launcher would close them.
        for descriptor in program.files:
            os.close(descriptor)
        raise
    order = order._replace(
        argv=held.argv,
        environment=held.environment,
        own_session=held.arguments is None,
        placeholders={each.path: each.content for each in held.placeholders},
    )
    if held.landlock is not None:
        order = order._replace(writable=held.landlock.writable, tcp=held.landlock.tcp)
    if held.arguments is not None:
        program.files.append(memory_file("ollm-walls", held.arguments))
        order = order._replace(files=[*order.files, ARGUMENTS_FILE])
    return order


def _new_job(shell: Shell, request: JobRequest, cwd: str) -> Job:
    number = shell.next_sequence()
    return Job(
        id=f"job-{shell.session_id}-{number}",
        session_id=shell.session_id,
        sequence=number,
        code=readable(request.code),
        language=request.language,
        cwd=readable(cwd),
        background=request.background,
        by_model=request.by_model,
        started_at=clock.now(),
        pid=0,
    )


def _check_directory(shell: Shell) -> None:
    """JobError if the shell's directory is gone: in another one than meant `rm *` would do harm."""
    gone = shell.state.cwd
    if Path(gone).is_dir():
        return
    hint = "make it again, or go on in another session"
    if Path(shell.home).is_dir():
        shell.change(shell.home, None, {})
        hint = f"the shell is back in {shell.home}; run it again"
    raise JobError(f"the shell's directory is gone: {gone}", hint)


async def serve(channel: socket.socket, run: RunCommand) -> None:
    """Answer the requests of cmd(), side by side, until the code has ended."""
    reader, writer = await asyncio.open_unix_connection(sock=channel, limit=LONGEST_LINE)
    room = asyncio.Semaphore(MOST_COMMANDS)

    async def answer(line: bytes) -> None:
        async with room:
            answer = await _answer(line, run)
        writer.write(answer + b"\n")
        await writer.drain()

    try:
        async with asyncio.TaskGroup() as answering:
            while line := await reader.readline():
                answering.create_task(answer(line))
    except* (OSError, ValueError):
        pass  # a line without end, or nobody there any more
    finally:
        writer.close()


async def _answer(line: bytes, run: RunCommand) -> bytes:
    """The answer to one request. ValueError for a line that is none."""
    asked = msgspec.json.decode(line, type=dict[str, Any])
    number = asked.get("number")
    try:
        request = msgspec.convert(asked, CommandRequest)
        if not request.argv:
            raise JobError("there is no command", 'cmd("ls", ["-la"])')
        output = await run(request)
    except msgspec.ValidationError as error:
        return json.dumps({"number": number, "error": f"not a command: {error}"}).encode()
    except OllmError as error:
        return json.dumps({"number": number, "error": error.message}).encode()
    # In a thread: it takes longer for more output.
    return await asyncio.to_thread(_finished, request.number, output)


def _finished(number: int, output: JobOutput) -> bytes:
    answer = {
        "number": number,
        "jobId": output.job.id,
        "code": output.job.exit_code,
        "stdout": output.stdout.data.decode("utf-8", "replace"),
        "stderr": output.stderr.data.decode("utf-8", "replace"),
    }
    return json.dumps(answer).encode()
