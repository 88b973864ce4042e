"""The commands of jobs: open the panel, end a job by its number, move one to the background."""

from __future__ import annotations

from collections.abc import Mapping

from ollm_tui.core.errors import UsageError
from ollm_tui.core.intake import visible
from ollm_tui.engine.jobs.job_text import ending
from ollm_tui.tui.chat.port import Action, ChatPort
from ollm_tui.tui.jobs.screen import JobsScreen
from ollm_tui.tui.jobs.shell_line import shell_of


async def panel(chat: ChatPort, argument: str) -> None:
    """Show all jobs; with a number, choose that one; with `kill` and a number, end it."""
    words = argument.split()
    match words:
        case []:
            await _open(chat)
        case ["kill", number]:
            chat.screen.run_worker(chat.attempt(lambda: _kill(chat, number)), group="shell")
        case ["kill"]:
            raise UsageError("which job?", "/jobs kill 3 ends job 3; F8 shows the numbers")
        case [number]:
            await _open(chat, number)
        case _:
            raise UsageError(
                f"/jobs knows no {visible(argument)}", "a number, kill and a number, or nothing"
            )


def background(chat: ChatPort, _argument: str) -> None:
    """Let the command that runs go on in the background."""
    shell_of(chat).to_background()


async def _open(chat: ChatPort, number: str = "") -> None:
    shell, session_id = shell_of(chat), chat.conversation.session_id
    await shell.jobs.open(session_id)
    show = shell.jobs.find(session_id, number).id if number else shell.foreground
    chat.ask(JobsScreen(chat, shell, show))


async def _kill(chat: ChatPort, number: str) -> None:
    jobs, session_id = shell_of(chat).jobs, chat.conversation.session_id
    await jobs.open(session_id)
    job = await jobs.kill(jobs.find(session_id, number).id)
    chat.tell(f"job {job.sequence} has ended: {ending(job)}")


ACTIONS: Mapping[str, Action] = {
    "jobs.panel": panel,
    "jobs.background": background,
}
