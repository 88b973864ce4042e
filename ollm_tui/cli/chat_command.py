"""`ollm`, `ollm chat` and `ollm -p`: opens a conversation and hands it to a front end."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import select
import signal
import stat
import sys
from argparse import Namespace
from collections.abc import AsyncGenerator, Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ollm_tui.cli.store import (
    passphrase_prompt,
    read_settings,
    shut_out_others,
    tell_of_project,
    warn_of,
)
from ollm_tui.core.counts import counted
from ollm_tui.core.errors import OllmError, StoreError, UsageError
from ollm_tui.core.intake import clean, visible
from ollm_tui.core.session.message import Attachment
from ollm_tui.services.logs import start_logging
from ollm_tui.settings.loaded import Loaded

if TYPE_CHECKING:
    from ollm_tui.engine.conversation.conversation import Conversation
    from ollm_tui.engine.jobs.session_jobs import SessionJobs
    from ollm_tui.engine.project.outside_events import EventsFile
    from ollm_tui.engine.project.workspace import Workspace
    from ollm_tui.headless import Headless
    from ollm_tui.services.hooks import HookNotice
    from ollm_tui.services.sessions.prompt_memory import PromptMemory
    from ollm_tui.tui.app import OllmApp

SHORT_ID = 8
"""Characters of a session's ID that are enough to find it by."""
PIPE_SECONDS = 3.0
"""How long a pipe is waited for: one that a script left open may never give a byte."""
SWITCH_SECONDS = 0.001
COLLECTED_AFTER_SECONDS = 1.0
"""How long after the start garbage collection is switched on."""

COLLECTED_EVERY = 5_000, 20, 20
"""So many new objects, and so many collections of younger ones: a screen makes and drops thousands
at every frame."""

log = logging.getLogger(__name__)


class Asked(NamedTuple):
    """What is to be answered on stdout."""

    text: str
    attachments: tuple[Attachment, ...] = ()


def run(arguments: Namespace) -> int:
    """Chat, answer one prompt, or list the sessions."""
    if getattr(arguments, "list", False):
        from ollm_tui.cli.session_listing import list_sessions

        return list_sessions(arguments)
    asked = _asked(arguments)
    prompt = asked.text if asked else None
    if arguments.resume == "" and (asked or arguments.plain or not _is_terminal()):
        raise UsageError("--resume needs an ID with -p or a pipe", "ollm sessions list")
    if arguments.follow is not None and (asked or arguments.question or not _is_terminal()):
        raise UsageError("--follow works on the full screen only", "leave out the question and -p")
    loaded = shut_out_others(read_settings())
    start_logging(loaded.locations.home, debug=arguments.debug)
    plain = arguments.plain or loaded.settings.ui.plain or not _is_terminal()
    plain = plain and arguments.follow is None
    if prompt is None and not plain:
        work = _full_screen(loaded, arguments)
    else:
        gc.enable()
        warn_of(loaded)
        tell_of_project(loaded)
        work = _converse(loaded, arguments, asked)
    try:
        return asyncio.run(work)
    except OllmError as error:
        log.warning("the command failed", exc_info=error)
        if prompt is not None:
            _front_end(arguments).refuse(error)
        raise
    except asyncio.CancelledError as error:
        raise KeyboardInterrupt from error  # told to end: the same as Ctrl+C


async def _converse(loaded: Loaded, arguments: Namespace, asked: Asked | None) -> int:
    task = asyncio.current_task()
    assert task is not None
    _when_told_to_end(task.cancel)
    front = _front_end(arguments)
    with contextlib.ExitStack() as streams:
        if asked:  # what extensions print is no part of the answer
            streams.enter_context(contextlib.redirect_stdout(sys.stderr))
        return await _converse_with(front, loaded, arguments, asked)


async def _converse_with(
    front: Headless, loaded: Loaded, arguments: Namespace, asked: Asked | None
) -> int:
    async with _conversation(loaded, arguments, front) as (around, conversation, problems):
        for problem in problems:
            sys.stderr.write(f"ollm: warning: {visible(problem)}\n")
        if reason := conversation.choice.reason:
            sys.stderr.write(f"ollm: {visible(reason)}\n")
        if asked:
            return await _answer(front, conversation, asked, arguments)
        return await _chat(around, arguments.question)


async def _full_screen(loaded: Loaded, arguments: Namespace) -> int:
    """Run the full screen, and again if the user has just agreed to settings of the project."""
    while True:
        app = await _one_screen(loaded, arguments)
        left = app.conversation
        if not app.starts_again:
            _tell_way_back(left)
            return app.return_value or 0
        loaded = read_settings()
        arguments.question = None  # asked already
        arguments.resume = left.session_id if left and len(left.state) else None
        arguments.continue_latest = False


def _tell_way_back(left: Conversation | None) -> None:
    """Say how to come back to the session that was left."""
    if left and len(left.state) and left.is_kept and not left.unsaved:
        sys.stdout.write(f"Continue this session: ollm --resume {left.session_id[:SHORT_ID]}\n")


async def _one_screen(loaded: Loaded, arguments: Namespace) -> OllmApp:
    """Show the screen first, open everything else behind it, and close that in the end."""
    from ollm_tui.tui.app import OllmApp
    from ollm_tui.tui.frame import Beginning
    from ollm_tui.tui.terminal.abilities import abilities

    if not os.environ.get("NO_COLOR"):
        os.environ.pop("NO_COLOR", None)  # an empty value means nothing, but Textual obeys it
    only_looks = arguments.follow is not None
    background = _Background(
        loaded, ephemeral=arguments.ephemeral, events=arguments.events, writes=not only_looks
    )
    if loaded.settings.retention.encrypt_at_rest:
        # It asks for the passphrase, which is not possible any more when the screen is shown.
        background.open_workspace()
    app = OllmApp(
        loaded,
        background,
        lambda workspace: _open(workspace, arguments),
        abilities(os.environ, sys.stdout.encoding),
        Beginning(arguments.question or "", arguments.resume == "", only_looks),
    )
    # A thread that computes hands over to the one that draws after this long; Python's own 5 ms are
    # felt while typing.
    sys.setswitchinterval(SWITCH_SECONDS)
    # Ctrl+C is a signal until the terminal is the application's, and cancelling would break
    # the first layout.
    _when_told_to_end(lambda: app.call_later(app.leave), signal.SIGINT)
    asyncio.get_running_loop().call_later(COLLECTED_AFTER_SECONDS, _collect_garbage)
    try:
        await app.run_async()
        if app.failure:
            raise app.failure
        return app
    finally:
        await background.close(app.conversations)


class _Background:
    """Opens the workspace, jobs and prompt memory behind a front end when they are first needed."""

    def __init__(
        self, loaded: Loaded, *, ephemeral: bool, events: str | None = None, writes: bool = True
    ) -> None:
        self._events = _open_events(events) if events else None
        self._loaded = loaded
        self._ephemeral = ephemeral or not writes
        self._writes = writes
        self._workspace: Workspace | None = None
        self._jobs: SessionJobs | None = None
        self.conversation: Conversation | None = None
        """The conversation that is open, where no screen holds it."""
        self._has_opened = False

    def load(self) -> None:
        from ollm_tui import bootstrap

        del bootstrap  # only its being loaded counts

    def note_opened(self) -> None:
        """Keep a conversation out of garbage collections: going through ten thousand messages takes
        200 ms, in which no key is heard. What the one before it held is freed first."""
        if self._has_opened:
            gc.unfreeze()
            gc.collect()
        self._has_opened = True
        gc.freeze()

    def open_workspace(self) -> Workspace:
        from ollm_tui.bootstrap import open_workspace

        if self._workspace is None:
            self._workspace = open_workspace(
                self._loaded,
                os.environ,
                passphrase_prompt(),
                self.open_jobs if self._writes else None,
                writes=self._writes,
            )
            if self._events:
                self._workspace.events.subscribe(self._events.take)
        return self._workspace

    def open_memory(self) -> PromptMemory:
        from ollm_tui.bootstrap import open_prompt_memory

        return open_prompt_memory(self._loaded, ephemeral=self._ephemeral)

    def open_jobs(self) -> SessionJobs:
        from ollm_tui.bootstrap import open_session_jobs

        if not self._writes:
            raise UsageError("this window is read-only", "use another one")
        if self._jobs is None:
            self._jobs = open_session_jobs(self._loaded, os.environ, ephemeral=self._ephemeral)
        return self._jobs

    async def close(self, conversations: Sequence[Conversation]) -> None:
        if self._jobs:
            await self._jobs.close()  # first: what they did is recorded in the conversation
        if self._workspace is None:
            return
        try:
            await _close(self._workspace, conversations)
        finally:
            await self._workspace.close()
            if self._events:
                self._events.close()


def _open_events(path: str) -> EventsFile:
    """Open the file that events are written to; imported late, since it loads the engine."""
    from ollm_tui.engine.project.outside_events import EventsFile

    return EventsFile(Path(path))


def _collect_garbage() -> None:
    """Switch garbage collection on; what exists by now stays, so it is never looked through."""
    gc.freeze()
    gc.set_threshold(*COLLECTED_EVERY)
    gc.enable()


@contextlib.asynccontextmanager
async def _conversation(
    loaded: Loaded, arguments: Namespace, front: Headless
) -> AsyncGenerator[tuple[_Background, Conversation, tuple[str, ...]]]:
    """Open the conversation the arguments ask for, with what is wrong with it; close the one
    that is open at the end."""
    background = _Background(loaded, ephemeral=arguments.ephemeral, events=arguments.events)
    workspace = background.open_workspace()
    if workspace.hooks:
        workspace.hooks.told.subscribe(_tell_about_hook)
    if host := workspace.additions.extensions:
        host.told.subscribe(_tell_about_extension)
    if arguments.output == "stream-json":
        workspace.events.subscribe(front.hear)
    try:
        conversation, problems = await _open(workspace, arguments)
        background.conversation = conversation
        yield background, conversation, problems
    finally:
        opened = background.conversation
        await background.close([opened] if opened else [])


def _tell_about_hook(notice: HookNotice) -> None:
    sys.stderr.write(f"ollm: hook {visible(notice.hook.key)}: {visible(notice.words)}\n")


def _tell_about_extension(words: str) -> None:
    sys.stderr.write(f"ollm: {visible(words)}\n")


async def _close(workspace: Workspace, conversations: Sequence[Conversation]) -> None:
    """Close all conversations and clean up old sessions. StoreError if something is left
    unsaved."""
    for conversation in conversations:
        await conversation.close()
    if unsaved := sum(each.unsaved for each in conversations):
        raise StoreError(f"{unsaved} records could not be saved", "ollm doctor finds out why")
    if conversations:
        await _clean_up(workspace, frozenset(each.session_id for each in conversations))


async def _answer(
    front: Headless, conversation: Conversation, asked: Asked, arguments: Namespace
) -> int:
    from ollm_tui.headless import length_notice, with_room

    conversation.on_overflow = arguments.on_overflow
    turn = with_room(conversation, conversation.send(asked.text, asked.attachments))
    front.context = conversation.context
    code = await front.show(turn)
    if notice := await length_notice(conversation):
        sys.stderr.write(f"ollm: {notice} (without -c a new session starts)\n")
    return code


def _front_end(arguments: Namespace) -> Headless:
    from ollm_tui.headless import Headless

    return Headless(arguments.output, sys.stdout, sys.stderr)


async def _chat(around: _Background, question: str | None) -> int:
    from ollm_tui.plain.chat import PlainChat

    with contextlib.suppress(ImportError):
        import_module("readline")  # importing it gives input() line editing, where there is one
    return await PlainChat(around, input, sys.stdout, sys.stderr).run(question)


async def _open(workspace: Workspace, arguments: Namespace) -> tuple[Conversation, tuple[str, ...]]:
    wishes = {"provider": arguments.provider, "model": arguments.model}
    session_id = await _session_to_continue(workspace, arguments)
    if session_id is None:
        conversation = await workspace.begin(**wishes, ephemeral=arguments.ephemeral)
        return await _equipped(workspace, conversation, arguments), ()
    conversation, problems = await workspace.resume(session_id, **wishes)
    return await _equipped(workspace, conversation, arguments), problems


async def _equipped(
    workspace: Workspace, conversation: Conversation, arguments: Namespace
) -> Conversation:
    """Add the task and the state of the project, where the arguments ask for them."""
    try:
        if arguments.task:
            await workspace.task.pin(conversation.notes, arguments.task)
        if arguments.context:
            await workspace.project.add_all(conversation.notes)
    except BaseException:  # also when cancelled: the lock of the session must not stay
        await conversation.close()
        raise
    return conversation


async def _session_to_continue(workspace: Workspace, arguments: Namespace) -> str | None:
    if (arguments.resume or arguments.continue_latest) and arguments.ephemeral:
        raise UsageError("--ephemeral cannot continue a session", "drop one")
    if wanted := arguments.resume or arguments.follow:
        return await workspace.find(wanted)
    if arguments.continue_latest or arguments.follow is not None:
        latest = await workspace.latest()
        if latest is None:
            raise UsageError("no session to continue", 'start one with ollm -p "Hello"')
        return latest
    return None


async def _clean_up(workspace: Workspace, spare: frozenset[str]) -> None:
    moved = await workspace.enforce_retention(spare)
    if moved:
        what = counted(len(moved), "session")
        sys.stderr.write(f"ollm: {what} moved to the trash (ollm sessions trash list)\n")


def _asked(arguments: Namespace) -> Asked | None:
    """Return what is to be answered on stdout: the prompt of `-p`, or a question where there is no
    terminal to chat in; None to chat."""
    prompt: str | None = arguments.prompt
    if prompt is None and arguments.question and not arguments.plain and not _is_terminal():
        prompt = arguments.question
    if prompt is None:
        return None
    if prompt == "-":
        return Asked(sys.stdin.buffer.read().decode("utf-8", "replace"))
    piped = _piped_text()
    if not piped:
        return Asked(prompt)
    return Asked(prompt, (Attachment(name="stdin", media_type="text/plain", content=piped),))


def _piped_text() -> str:
    """Return what a pipe or a redirected file holds, without terminal controls; else nothing.

    A terminal and /dev/null are nothing that is piped.
    """
    try:
        number = sys.stdin.fileno()
        mode = os.fstat(number).st_mode
    except (OSError, ValueError):  # closed, or not a real file
        return ""
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
        if not select.select([number], [], [], PIPE_SECONDS)[0]:
            sys.stderr.write("ollm: no input on stdin; continuing without it\n")
            return ""
    elif not stat.S_ISREG(mode):
        return ""
    return clean(sys.stdin.buffer.read().decode("utf-8", "replace"))


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def _when_told_to_end(end: Callable[[], object], *further: signal.Signals) -> None:
    """Call `end` on SIGTERM, SIGHUP and further signals, so that the conversation is saved before
    the program ends."""
    for number in (signal.SIGTERM, signal.SIGHUP, *further):
        asyncio.get_running_loop().add_signal_handler(number, end)
