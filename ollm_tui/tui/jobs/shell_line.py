"""Commands typed after a !: run in the session's shell, stopped, moved, and told of when they end.

Commands of the model are counted, moved and told of here, too.
"""

from __future__ import annotations

from collections.abc import Callable
from shlex import quote
from typing import TYPE_CHECKING, assert_never

from ollm_tui.core.counts import counted
from ollm_tui.core.errors import OllmError, UsageError
from ollm_tui.core.events import StoreEvent, ToolCallRecorded
from ollm_tui.core.intake import visible
from ollm_tui.core.job import (
    Job,
    JobEvent,
    JobFinished,
    JobLanguage,
    JobMoved,
    JobOutputArrived,
    JobStarted,
)
from ollm_tui.core.session.message import Attachment
from ollm_tui.engine.jobs.job_text import capped, ending
from ollm_tui.tui.chat.port import ChatPort
from ollm_tui.tui.jobs.giving import give
from ollm_tui.tui.jobs.words import (
    A_COMMAND_IS_RUNNING,
    FOREGROUND_TAKEN,
    GIVE,
    HOW_TO_RUN,
    MOVE_IT_FIRST,
    NO_COMMAND_IS_RUNNING,
    SHELL_BUSY,
    SHELL_EMPTY,
)
from ollm_tui.tui.prompt.chip_area import is_file
from ollm_tui.tui.prompt.prompt import Prompt
from ollm_tui.tui.stream.entries.job_entries import command_entry, keep_open, running_entry
from ollm_tui.tui.stream.transcript.entry import Entry

if TYPE_CHECKING:
    from ollm_tui.engine.jobs.session_jobs import SessionJobs

LONG_JOB_SECONDS = 10
"""The end of a longer job rings the terminal's bell."""
LONGEST_NAME = 40
"""Characters shown of a command in a line of words."""


def send(chat: ChatPort, sent: Prompt.Sent) -> None:
    """Run what was typed after the !."""
    code = sent.text[1:].strip()
    for piece in sent.attachments:
        code = code.replace(f"[{piece.name}]", _in_command(piece))
    if not code:
        chat.tell(SHELL_EMPTY)
        return
    try:
        shell_of(chat).start(code)
    except OllmError as error:
        chat.complain(error)


def shell_of(chat: ChatPort) -> ShellLine:
    """Return the running commands of the program; made with the first one, whoever runs it."""
    shell = chat.app.part(ShellLine, lambda: ShellLine(chat.front))
    chat.app.shell = shell
    return shell


class ShellLine:
    """Runs the user's commands. Each session has at most one that is waited for."""

    def __init__(self, front: Callable[[], ChatPort]) -> None:
        """`front` returns the chat that is shown now: jobs outlive a conversation."""
        self._front = front
        self.jobs = front().app.jobs
        self._stream = JobStream(front, self.jobs)
        self._foreground: dict[str, str] = {}
        """The job that is waited for, by session."""
        self._begun_in: dict[str, ChatPort] = {}
        """The chat in which a job was begun, by job, until it has ended."""
        self._stopping: set[str] = set()
        """Jobs that were asked to end; the next time they are forced to."""
        self._starting: set[str] = set()
        """Sessions in which a command is about to run."""
        self.jobs.events.subscribe(self._hear)
        front().app.workspace.saving.subscribe(self._hear_of_saving)

    @property
    def _chat(self) -> ChatPort:
        return self._front()

    # What there is

    @property
    def foreground(self) -> str | None:
        """The job that is waited for: it can be stopped, or moved to the background."""
        conversation = self._chat.opened
        return self._waited_for_in(conversation.session_id) if conversation else None

    def waits_in(self, session_id: str) -> bool:
        """Whether a command is waited for in a session."""
        return session_id in self._starting or self._waited_for_in(session_id) is not None

    def show_again(self) -> None:
        """Draw the commands of the session that is shown now, as far as it has no record of
        them yet."""
        self._chat.screen.call_later(self._show_unrecorded)

    async def _show_unrecorded(self) -> None:
        await self._stream.show_unrecorded()
        self._chat.lines.show_state(keeps_notice=True)

    def _waited_for_in(self, session_id: str) -> str | None:
        waited = self._foreground.get(session_id)
        # Its end is heard of a moment after it: what the user sends in between is not refused.
        return waited if waited and self.jobs.job(waited).running else None

    @property
    def movable(self) -> str | None:
        """The job that can go to the background: the user's, else the one the model waits for."""
        conversation = self._chat.opened
        if self.foreground or conversation is None:
            return self.foreground
        waited = (job for job in self.jobs.running if not job.background)
        return next((job.id for job in waited if job.session_id == conversation.session_id), None)

    def is_waited_for(self, job: Job) -> bool:
        """Whether the chat or the model waits for a job, which can go to the background then."""
        return job.running and (not job.background or job.id in self._foreground.values())

    @property
    def doing(self) -> str:
        """What runs in the foreground, in words; empty if nothing does."""
        if not (job_id := self.foreground):
            return ""
        action = "stopping (again to force)" if job_id in self._stopping else "running"
        return f"{action} {name_of(self.jobs.shown(self.jobs.job(job_id)))}"

    @property
    def would_end(self) -> str:
        """How many jobs quitting would end, in words; empty if none runs."""
        count = len(self.jobs.running)
        return counted(count, "job") if count else ""

    # What the user does

    def start(
        self, code: str, language: JobLanguage = "shell", *, background: bool = False
    ) -> None:
        """Run a command. UsageError while another one is in the foreground."""
        chat = self._chat
        session_id = chat.conversation.session_id
        if not background:
            if self.foreground or session_id in self._starting:
                raise UsageError(A_COMMAND_IS_RUNNING, SHELL_BUSY)
            # A job is known only once it has started; until then this keeps a second one away.
            self._starting.add(session_id)
        started = chat.attempt(lambda: self._start(chat, code, language, background))
        chat.screen.run_worker(started, group="shell")

    async def _start(
        self, chat: ChatPort, code: str, language: JobLanguage, background: bool
    ) -> None:
        conversation = chat.conversation
        try:
            job = await self.jobs.start(conversation, code, language, background=background)
        finally:
            if not background:
                self._starting.discard(conversation.session_id)
        if job.running and not job.background:
            self._foreground[job.session_id] = job.id
            self._begun_in[job.id] = chat
        self._stream.begin(job)
        await self._stream.show(job.id)
        if not (job.running or job.background) and self._shares:
            self._share(job, chat)  # it has ended before anybody could wait for it
        chat.lines.show_state()
        chat.note_command()

    @property
    def _shares(self) -> bool:
        return self._chat.app.loaded.settings.context.share_command_output

    def stop(self) -> bool:
        """Stop the foreground command, the second time by force; returns whether there is one."""
        job_id = self.foreground
        if job_id is None:
            return False
        how = "SIGKILL" if job_id in self._stopping else "SIGTERM"
        self._stopping.add(job_id)
        stopped = self._chat.attempt(lambda: self.jobs.kill(job_id, how))
        self._chat.screen.run_worker(stopped, group="shell")
        self._chat.lines.show_state()
        return True

    def to_background(self) -> None:
        """Move the job that is waited for to the background. UsageError if there is none."""
        if not (job_id := self.movable):
            raise UsageError(NO_COMMAND_IS_RUNNING, HOW_TO_RUN)
        self.move(self.jobs.job(job_id))

    def move(self, job: Job) -> str:
        """Move a job to the background, or from there to where Esc stops it; returns where to.

        JobError for a job that another program runs, UsageError while another one is in the
        foreground.
        """
        if not self.jobs.service.is_ours(job.id):
            self.jobs.to_background(job.id)  # raises the JobError
        if not self.is_waited_for(job):
            if self._waited_for_in(job.session_id):
                raise UsageError(FOREGROUND_TAKEN, MOVE_IT_FIRST)
            self._foreground[job.session_id] = job.id
            self._stream.begin(job)
            notice = f"Job {job.sequence} in the foreground · Esc in the chat stops it"
        else:
            self._forget(job.id)
            self.jobs.to_background(job.id)
            notice = f"Job {job.sequence} in the background: {name_of(self.jobs.shown(job))}"
        self._chat.screen.call_later(self._stream.show, job.id)
        self._chat.tell(notice)
        return notice

    # What happens to jobs

    def show(self) -> None:
        """Show how many jobs run, and what can be done while the model waits for one."""
        self._chat.lines.show_saving()
        if self._chat.is_busy:
            self._chat.lines.show_state()

    def _hear(self, event: JobEvent) -> None:
        self._chat.screen.call_later(self._take, event)

    def _hear_of_saving(self, event: StoreEvent) -> None:
        # A command is recorded after its end was shown: only now the status line can say "saved".
        if isinstance(event, ToolCallRecorded):
            self._chat.screen.call_later(self.show)

    async def _take(self, event: JobEvent) -> None:
        match event:
            case JobStarted():
                self.show()
            case JobOutputArrived():
                await self._stream.show(event.job_id)
            case JobMoved():
                await self._stream.show(event.job.id)
            case JobFinished():
                await self._end(event.job)
            case _:
                assert_never(event)

    async def _end(self, job: Job) -> None:
        was_waited_for = job.id in self._foreground.values()
        self._forget(job.id)
        await self._stream.show(job.id)
        self.show()
        chat = self._begun_in.pop(job.id, self._chat)
        if was_waited_for and self._shares:
            self._share(job, chat)
        if was_waited_for:
            self._chat.lines.show_state()
            chat.note_command()
        elif job.background and job.parent is None:
            name = name_of(self.jobs.shown(job))
            self._chat.tell(f"Job {job.sequence} ended: {ending(job)} · {name}")
        # The model hears by itself of the end of what it waits for.
        concerns_user = was_waited_for or job.background
        if concerns_user and is_worth_a_bell(job, is_looked_at=self._chat.app.is_looked_at):
            self._chat.app.call_user(f"Job {job.sequence} ended: {ending(job)}")

    def _share(self, job: Job, chat: ChatPort) -> None:
        """Attach what a command printed to the next message of its session."""

        async def share() -> None:
            text = await self.jobs.text(job.id)
            if text.strip() and chat.opened and chat.opened.session_id == job.session_id:
                give(chat.prompt, job, self.jobs.code(job), text)

        chat.when_shown(share)

    def _forget(self, job_id: str) -> None:
        self._stopping.discard(job_id)
        self._foreground = {
            session: waited for session, waited in self._foreground.items() if waited != job_id
        }


class JobStream:
    """Shows jobs in the stream, each as an entry, as long as their session is the open one."""

    def __init__(self, front: Callable[[], ChatPort], jobs: SessionJobs) -> None:
        self._front = front
        self._jobs = jobs
        self._running: set[str] = set()

    def begin(self, job: Job) -> None:
        """Show a job from now on until it ends."""
        self._running.add(job.id)
        self._front().transcript.go_to_end()

    async def show_unrecorded(self) -> None:
        """Draw the jobs of the open session of which its record does not tell yet: those that
        run, and all that were run before its first message."""
        opened = self._front().opened
        if opened is None:
            return
        for job in self._jobs.jobs(opened.session_id):
            if not (len(opened.state) or job.by_model or job.parent):
                self._running.add(job.id)
            await self.show(job.id)

    async def show(self, job_id: str) -> None:
        """Draw a job as it is now, if it is one of those that are shown."""
        if job_id not in self._running:
            return
        job = self._jobs.job(job_id)
        if job.running:
            how = f"in the background · job {job.sequence}" if job.background else "running"
            entry = running_entry(job.id, self._jobs.code(job), self._jobs.tail(job.id), how)
        else:
            self._running.discard(job_id)
            text = capped(await self._jobs.text(job.id))
            code = self._jobs.code(job)
            entry = command_entry(
                job.id,
                code,
                text,
                self._footer(job, text),
                job.started_at,
                coloured=await self._jobs.coloured(job.id),
            )
        self._put(job, entry)

    def _footer(self, job: Job, text: str) -> str:
        """Return how a job ended, and the key that gives what it printed to the model."""
        if not text.strip() or job.by_model:
            return ending(job)
        return f"{ending(job)} · {self._front().lines.hints.line(('jobs.give', GIVE))}"

    def _put(self, job: Job, entry: Entry) -> None:
        chat = self._front()
        if chat.opened is None or chat.opened.session_id != job.session_id:
            return
        transcript = chat.transcript
        if entry.key in transcript.stack:
            before = transcript.entry(entry.key)
            entry = keep_open(entry, before) if job.running else entry
        transcript.add(entry)


def name_of(job: Job) -> str:
    """Return what a job runs, in a few words. The job has to be one that may be shown."""
    words = " ".join(visible(job.code).split())
    return words if len(words) <= LONGEST_NAME else words[: LONGEST_NAME - 1] + "…"


def is_worth_a_bell(job: Job, *, is_looked_at: bool) -> bool:
    """Whether the end of a job rings the bell: it ran long, and the user looks elsewhere."""
    return not is_looked_at and (job.duration or 0) > LONG_JOB_SECONDS * 1000


def _in_command(piece: Attachment) -> str:
    """Return what a chip stands for in a command: a file for its name, a paste for its text."""
    return quote(piece.path) if piece.path and is_file(piece) else piece.content
