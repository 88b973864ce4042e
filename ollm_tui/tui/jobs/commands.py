"""The commands of jobs: open the panel, end a job by its number, move one to the background."""

from __future__ import annotations

from collections.abc import Mapping

from ollm_tui.core.errors import UsageError
from ollm_tui.core.intake import visible
from ollm_tui.engine.jobs.job_text import ending
from ollm_tui.tui.chat.port import Action, ChatPort
from ollm_tui.tui.jobs.giving import earlier_output
from ollm_tui.tui.jobs.giving import give as give_output
from ollm_tui.tui.jobs.screen import JobsScreen
from ollm_tui.tui.jobs.shell_line import shell_of
from ollm_tui.tui.jobs.words import (
    HOW_TO_KILL,
    HOW_TO_RUN,
    JOBS_USAGE,
    NO_COMMAND_HERE,
    WHICH_JOB,
)


async def panel(chat: ChatPort, argument: str) -> None:
    """Show all jobs; with a number, choose that one; with `kill` and a number, end it."""
    words = argument.split()
    match words:
        case []:
            await _open(chat)
        case ["kill", number]:
            chat.screen.run_worker(chat.attempt(lambda: _kill(chat, number)), group="shell")
        case ["kill"]:
            raise UsageError(WHICH_JOB, HOW_TO_KILL)
        case [number]:
            await _open(chat, number)
        case _:
            raise UsageError(f"Unknown option /jobs {visible(argument)}", JOBS_USAGE)


def background(chat: ChatPort, _argument: str) -> None:
    """Let the command that runs go on in the background."""
    shell_of(chat).to_background()


async def give(chat: ChatPort, argument: str) -> None:
    """Attach the output of a command: the one of a number, the one under the cursor, the last."""
    shell, conversation = shell_of(chat), chat.conversation
    await shell.jobs.open(conversation.session_id)
    cursor = chat.transcript.cursor.key
    own = [job for job in shell.jobs.jobs(conversation.session_id) if not job.by_model]
    job = next((job for job in own if job.id == cursor), own[0] if own else None)
    if argument:
        job = shell.jobs.find(conversation.session_id, argument)
    if job is None:
        raise UsageError(NO_COMMAND_HERE, HOW_TO_RUN)
    text = await shell.jobs.text(job.id) or earlier_output(conversation.state, job.id)
    notice = give_output(chat.prompt, job, shell.jobs.code(job), text)
    chat.prompt.focus()
    chat.screen.call_after_refresh(chat.tell, notice)


async def give_here(chat: ChatPort, _argument: str) -> None:
    """Attach the output of the command under the cursor, or of the last one."""
    await give(chat, "")


async def _open(chat: ChatPort, number: str = "") -> None:
    shell, session_id = shell_of(chat), chat.conversation.session_id
    await shell.jobs.open(session_id)
    show = shell.jobs.find(session_id, number).id if number else shell.foreground

    def tell(notice: str | None) -> None:
        if notice:
            chat.prompt.focus()
            # After the refresh: the move of the focus shows key hints, which would replace this.
            chat.screen.call_after_refresh(chat.screen.call_after_refresh, chat.tell, notice)

    chat.ask(JobsScreen(chat, shell, show), tell)


async def _kill(chat: ChatPort, number: str) -> None:
    jobs, session_id = shell_of(chat).jobs, chat.conversation.session_id
    await jobs.open(session_id)
    job = await jobs.kill(jobs.find(session_id, number).id)
    chat.tell(f"Job {job.sequence} ended: {ending(job)}")


ACTIONS: Mapping[str, Action] = {
    "jobs.panel": panel,
    "jobs.background": background,
    "jobs.give": give,
    "jobs.give_here": give_here,
}
