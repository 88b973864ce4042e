"""The jobs panel: every job of the session, live, with its output and what can be done with it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container, Vertical
from textual.content import Content
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Static

from ollm_tui.core.counts import counted
from ollm_tui.core.errors import OllmError, UsageError
from ollm_tui.core.intake import clean, visible
from ollm_tui.core.job import Job, JobEvent, JobOutputArrived
from ollm_tui.engine.jobs.job_text import ending
from ollm_tui.services.redaction.mark import carries_mark
from ollm_tui.tui.jobs.giving import earlier_output, give
from ollm_tui.tui.jobs.job_list import JobList, JobTail, job_choices
from ollm_tui.tui.jobs.job_output import JobOutputScreen
from ollm_tui.tui.jobs.shell_line import ShellLine, name_of
from ollm_tui.tui.jobs.words import (
    ENVIRONMENT_KEYS,
    GRANTED,
    HOW_TO_RUN_ONE,
    JOBS_EMPTY,
    NO_JOBS,
    NO_OUTPUT,
    NO_OUTPUT_YET,
    NOTHING_TO_COPY,
    NOTHING_WITHHELD,
    OUTPUT_NOT_STORED,
    RUN_THAT_CODE_AGAIN,
    SECRETS_NOT_RECORDED,
    STARTED_BY_CODE,
    TYPE_THE_COMMAND_AGAIN,
    keys_for,
)
from ollm_tui.tui.kit.choice_list import Choice, ChoiceList
from ollm_tui.tui.kit.live_keys import LiveKeys
from ollm_tui.tui.kit.picker import PickerOf
from ollm_tui.tui.kit.question import Confirmation
from ollm_tui.tui.stream.entries.message_entries import local_time
from ollm_tui.tui.terminal.clipboard import copy

if TYPE_CHECKING:
    from ollm_tui.tui.chat.port import ChatPort
    from ollm_tui.tui.frame import Frame

LONGEST_CODE = 400
"""Characters shown of a command."""
WIDE = 100
"""Columns from which on the job stands beside the list."""
TICK_SECONDS = 1.0
BINDINGS = (
    Binding("escape,f8,q", "close", "Close", id="joblist.close", tooltip="Back to the chat"),
    Binding("w", "wait", "Wait", id="joblist.wait", tooltip="Notify when it ends"),
    Binding("k", "kill", "Kill", id="joblist.kill", tooltip="Kill the process group"),
    Binding("b", "move", "Move", id="joblist.move", tooltip="Move to background or foreground"),
    Binding("y", "copy", "Copy", id="joblist.copy", tooltip="Copy the output"),
    Binding(
        "g", "give", "Attach", id="joblist.give", tooltip="Attach the output to your next message"
    ),
    Binding("r", "run_again", "Run again", id="joblist.again", tooltip="Run again"),
    Binding(
        "e",
        "environment",
        "Environment",
        id="joblist.environment",
        tooltip="Withheld variables",
    ),
)


class JobsScreen(Screen[str]):
    """Shows the jobs of the open session, and those that other sessions still run; closes with
    what is to be told in the chat."""

    AUTO_FOCUS = "JobList"
    CSS_PATH = "screen.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]
    BINDINGS = [*BINDINGS]

    app: Frame

    def __init__(self, chat: ChatPort, shell: ShellLine, show: str | None = None) -> None:
        """`show` is the id of the job to choose first."""
        super().__init__()
        self._chat = chat
        self._shell = shell
        self._jobs = shell.jobs
        self._conversation = chat.conversation
        self._first = show
        self._clock: Timer
        self._unsubscribe: Callable[[], None]

    def compose(self) -> ComposeResult:
        """Lay out the heading, the list, the chosen job with the end of its output, the keys."""
        yield Static(id="heading")
        with Container(id="middle"):
            yield JobList(empty=JOBS_EMPTY, unicode=not self.app.has_class("-ascii"))
            with Vertical(id="chosen"):
                yield Static(id="about")
                yield JobTail()
        yield LiveKeys()

    def on_mount(self) -> None:
        """Begin to listen to jobs; the clock runs only while a job does."""
        self._unsubscribe = self._jobs.events.subscribe(self._hear)
        self._clock = self.set_interval(TICK_SECONDS, self._show, pause=True)
        self._show(self._first)

    def on_unmount(self) -> None:
        """Stop listening to jobs."""
        self._unsubscribe()

    # What the user does

    @on(ChoiceList.Chosen)
    def _open_output(self, event: ChoiceList.Chosen) -> None:
        job = self._jobs.job(event.choice.key)
        self.app.push_screen(JobOutputScreen(job, self._jobs, self._text))

    def action_wait(self) -> None:
        """Say when the job has ended."""
        job = self._job
        self._say(f"Waiting for job {job.sequence} …")
        self._do(lambda: self._wait(job))

    def action_kill(self) -> None:
        """Ask, then end the job."""
        job = self._job

        def answered(is_meant: bool | None) -> None:
            if is_meant:
                self._say(f"Killing job {job.sequence} …")
                self._do(lambda: self._kill(job))

        question = f"Kill job {job.sequence} and its child processes?"
        self.app.push_screen(Confirmation(question, visible(self._jobs.code(job))), answered)

    def action_move(self) -> None:
        """Move the job to the background, or to the foreground, where the chat waits for it."""
        self._do(self._move)

    def action_copy(self) -> None:
        """Copy all that is kept of the output."""
        self._do(self._copy)

    def action_give(self) -> None:
        """Put the output into the prompt, to go to the model with the next message."""
        self._do(self._give)

    def action_run_again(self) -> None:
        """Run the same command once more."""
        self._do(self._run_again)

    def action_environment(self) -> None:
        """Look at the variables that commands do not get, and grant one."""
        session_id = self._conversation.session_id

        def grant(name: str | None) -> None:
            if name:
                self._jobs.grant(session_id, name)
                self._say(f"{visible(name)} granted to commands of this session")
                self._show()

        withheld, granted = self._jobs.withheld(session_id), self._jobs.granted(session_id)
        self.app.push_screen(EnvironmentPicker(withheld, granted), grant)

    def action_close(self) -> None:
        """Close the panel."""
        self.dismiss("")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Allow what can be done with the chosen job: only one that runs can be ended or moved."""
        job = self._highlighted
        if action in ("wait", "kill", "move"):
            return job is not None and job.running
        return action not in ("copy", "give", "run_again") or job is not None

    # Doing it

    @work(group="jobs")
    async def _do(self, action: Callable[[], Awaitable[str]]) -> None:
        try:
            self._say(await action())
        except OllmError as error:
            self._say(error.line)

    async def _wait(self, job: Job) -> str:
        ended = await self._jobs.wait(job.id)
        self.app.bell()
        return f"Job {ended.sequence} ended: {ending(ended)}"

    async def _kill(self, job: Job) -> str:
        ended = await self._jobs.kill(job.id)
        return f"Job {ended.sequence} ended: {ending(ended)}"

    async def _move(self) -> str:
        return self._shell.move(self._job)

    async def _copy(self) -> str:
        job = self._job
        text = await self._text(job)
        if not text.strip():
            raise UsageError(NOTHING_TO_COPY, OUTPUT_NOT_STORED)
        return f"Output of job {job.sequence} {await copy(self.app, text)}"

    async def _give(self) -> str:
        job = self._job
        notice = give(self._chat.prompt, job, self._jobs.code(job), await self._text(job))
        if self.is_current:
            # What is typed next goes into the prompt, where the output is now.
            self.dismiss(notice)
        return notice

    async def _run_again(self) -> str:
        job = self._job
        if job.language == "command":
            raise UsageError(STARTED_BY_CODE, RUN_THAT_CODE_AGAIN)
        if carries_mark(job.code):
            raise UsageError(SECRETS_NOT_RECORDED, TYPE_THE_COMMAND_AGAIN)
        is_behind = self._shell.foreground is not None
        self._shell.start(job.code, job.language, background=is_behind)
        where = " in the background" if is_behind else ""
        return f"Running again{where}: {name_of(self._jobs.shown(job))}"

    async def _text(self, job: Job) -> str:
        return await self._jobs.text(job.id) or earlier_output(self._conversation.state, job.id)

    # Showing

    @property
    def _highlighted(self) -> Job | None:
        choice = self.query_one(JobList).highlighted
        return self._jobs.job(choice.key) if choice else None

    @property
    def _job(self) -> Job:
        job = self._highlighted
        if job is None:
            raise UsageError(NO_JOBS, HOW_TO_RUN_ONE)
        return job

    def _hear(self, event: JobEvent) -> None:
        self.call_later(self._take, event)

    def _take(self, event: JobEvent) -> None:
        """Draw the list anew only where it changed; output is shown only for the chosen job."""
        if not isinstance(event, JobOutputArrived):
            self._show()
        elif (job := self._highlighted) and job.id == event.job_id:
            self._show_chosen()

    def _show(self, highlight: str | None = None) -> None:
        session_id = self._conversation.session_id
        jobs = self._jobs.jobs(session_id)
        choices = job_choices(map(self._jobs.shown, jobs), session_id)
        self.query_one(JobList).show(choices, highlight)
        running = [job for job in jobs if job.running]
        if running:
            self._clock.resume()
        else:
            self._clock.pause()
        facts = [f"{len(running)} running"] if running else []
        if withheld := len(self._jobs.withheld(session_id)):
            facts.append(f"{counted(withheld, 'variable')} withheld")
        title = Content.styled("Jobs", "bold $primary")
        text = Content.assemble(title, (f"   {' · '.join(facts)}", "$text-muted"))
        self.query_one("#heading", Static).update(text)
        self._show_chosen()

    @on(ChoiceList.Highlighted)
    def _show_chosen(self) -> None:
        job = self._highlighted
        self.query_one("#chosen").display = job is not None
        if job:
            self.query_one("#about", Static).update(about(self._jobs.shown(job)))
            tail = self._jobs.tail(job.id) or earlier_output(self._conversation.state, job.id)
            nothing = NO_OUTPUT_YET if job.running else NO_OUTPUT
            self.query_one(JobTail).text = tail.strip("\n") or nothing
        is_waited_for = job is not None and self._shell.is_waited_for(job)
        keys = keys_for(job, is_waited_for=is_waited_for)
        self.query_one(LiveKeys).show(*keys, about=job.id if job else None)

    def _say(self, text: str) -> None:
        job = self._highlighted
        self.query_one(LiveKeys).say(text, job.id if job else "")


class EnvironmentPicker(PickerOf[str]):
    """Asks which variable to grant; closes with its name, or with None."""

    def __init__(self, withheld: Sequence[str], granted: Sequence[str]) -> None:
        choices = [
            *(Choice(name, visible(name), GRANTED, "✓") for name in granted),
            *(Choice(name, visible(name), "withheld") for name in withheld),
        ]
        super().__init__(
            "Withheld variables",
            choices,
            empty=NOTHING_WITHHELD,
            keys=ENVIRONMENT_KEYS,
        )

    def result(self, choice: Choice) -> str | None:
        """Return the name of a variable; None if it is granted already."""
        return None if choice.note == GRANTED else choice.key


def about(job: Job) -> Content:
    """Return the command of a job, and below it how it does and where it runs."""
    code = clean(job.code).strip()
    facts = [
        f"job {job.sequence}",
        "running" if job.running else ending(job),
        "in the background" if job.background else "",
        f"since {local_time(job.started_at)}" if job.running else local_time(job.started_at),
        f"in {visible(job.cwd)}",
        f"process {job.pid}" if job.running else "",
        "output dropped to save memory" if job.trimmed else "",
    ]
    return Content.assemble(
        (code if len(code) <= LONGEST_CODE else f"{code[:LONGEST_CODE]} …", "bold"),
        "\n",
        (" · ".join(fact for fact in facts if fact), "$text-muted"),
    )
