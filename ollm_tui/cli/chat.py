"""`ollm` and `ollm -p`: open a conversation and hand it to a front end."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import signal
import sys
from argparse import Namespace
from collections.abc import AsyncGenerator, Awaitable, Callable
from importlib import import_module
from typing import TYPE_CHECKING

from ollm_tui.cli.output import counted
from ollm_tui.cli.store import load, passphrase_prompt
from ollm_tui.core.errors import OllmError, StoreError, UsageError
from ollm_tui.engine.conversation import Conversation
from ollm_tui.engine.workspace import Workspace
from ollm_tui.services.logs import start_logging
from ollm_tui.settings.loaded import Loaded

if TYPE_CHECKING:
    from ollm_tui.headless import Headless

log = logging.getLogger(__name__)


def run(arguments: Namespace) -> int:
    """Chat, answer one prompt, or list the sessions."""
    gc.enable()
    if getattr(arguments, "list", False):
        from ollm_tui.cli.sessions import list_sessions

        return list_sessions(arguments)
    prompt = _prompt(arguments)
    loaded = load()
    start_logging(loaded.locations.home, debug=arguments.debug)
    plain = arguments.plain or loaded.settings.ui.plain or not _is_terminal()
    if prompt is None and not plain:
        work = _full_screen(loaded, arguments)
    else:
        work = _converse(loaded, arguments, prompt)
    try:
        return asyncio.run(work)
    except OllmError as error:
        log.warning("the command failed", exc_info=error)
        if prompt is not None:
            _front_end(arguments).refuse(error)
        raise
    except asyncio.CancelledError as error:
        raise KeyboardInterrupt from error  # told to end: the same as Ctrl+C


async def _converse(loaded: Loaded, arguments: Namespace, prompt: str | None) -> int:
    task = asyncio.current_task()
    assert task is not None
    _when_told_to_end(task.cancel)
    async with _conversations(loaded, arguments) as open_conversation:
        conversation, problems = await open_conversation()
        for problem in problems:
            sys.stderr.write(f"ollm: warning: {problem}\n")
        if prompt is not None:
            return await _answer(conversation, prompt, arguments)
        return await _chat(conversation)


async def _full_screen(loaded: Loaded, arguments: Namespace) -> int:
    """The screen is there first; the conversation is opened behind it."""
    from ollm_tui.tui.app import OllmApp

    async with _conversations(loaded, arguments) as open_conversation:
        app = OllmApp(open_conversation, loaded.settings.ui.theme)
        _when_told_to_end(app.exit)
        return await app.run_async() or 0


@contextlib.asynccontextmanager
async def _conversations(
    loaded: Loaded, arguments: Namespace
) -> AsyncGenerator[Callable[[], Awaitable[tuple[Conversation, tuple[str, ...]]]]]:
    """A way to open what the arguments ask for; closes it, and cleans up, in the end."""
    from ollm_tui.bootstrap import open_workspace

    workspace = open_workspace(loaded, os.environ, passphrase_prompt())
    async with contextlib.AsyncExitStack() as cleanup:
        cleanup.push_async_callback(workspace.close)

        async def open_conversation() -> tuple[Conversation, tuple[str, ...]]:
            conversation, problems = await _open(workspace, arguments)
            cleanup.push_async_callback(_close, workspace, conversation)
            return conversation, problems

        yield open_conversation


async def _close(workspace: Workspace, conversation: Conversation) -> None:
    """Save and clean up. StoreError if something could not be saved to the very end."""
    await conversation.close()
    if conversation.unsaved:
        raise StoreError(
            f"{conversation.unsaved} records could not be saved", "ollm doctor looks for causes"
        )
    await _clean_up(workspace, conversation)


async def _answer(conversation: Conversation, prompt: str, arguments: Namespace) -> int:
    return await _front_end(arguments).show(conversation.send(prompt))


def _front_end(arguments: Namespace) -> Headless:
    from ollm_tui.headless import Headless

    return Headless(arguments.output, sys.stdout, sys.stderr)


async def _chat(conversation: Conversation) -> int:
    from ollm_tui.plain import PlainChat

    with contextlib.suppress(ImportError):
        import_module("readline")  # importing it gives input() line editing, where there is one
    return await PlainChat(conversation, input, sys.stdout, sys.stderr).run()


async def _open(workspace: Workspace, arguments: Namespace) -> tuple[Conversation, tuple[str, ...]]:
    wishes = {"provider": arguments.provider, "model": arguments.model}
    session_id = await _wanted_session(workspace, arguments)
    if session_id is None:
        return await workspace.begin(**wishes, ephemeral=arguments.ephemeral), ()
    return await workspace.resume(session_id, **wishes)


async def _wanted_session(workspace: Workspace, arguments: Namespace) -> str | None:
    if (arguments.resume or arguments.continue_latest) and arguments.ephemeral:
        raise UsageError("--ephemeral keeps nothing, so there is nothing to continue", "drop one")
    if arguments.resume:
        return await workspace.find(arguments.resume)
    if arguments.continue_latest:
        latest = await workspace.latest()
        if latest is None:
            raise UsageError("there is no session to continue", 'begin one with: ollm -p "Hello"')
        return latest
    return None


async def _clean_up(workspace: Workspace, conversation: Conversation) -> None:
    moved = await workspace.enforce_retention(frozenset({conversation.session_id}))
    if moved:
        what = counted(len(moved), "session")
        sys.stderr.write(f"ollm: {what} moved to the trash (ollm sessions trash list)\n")


def _prompt(arguments: Namespace) -> str | None:
    prompt: str | None = getattr(arguments, "prompt", None)
    if prompt != "-":
        return prompt
    data = sys.stdin.buffer.read()
    return data.decode("utf-8", "replace")


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def _when_told_to_end(end: Callable[[], object]) -> None:
    """SIGTERM and SIGHUP end the program as Ctrl+C does: what was said is recorded first."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, end)
