"""`ollm` and `ollm -p`: open a conversation and hand it to a front end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from argparse import Namespace
from importlib import import_module

from ollm_tui.cli.store import load, passphrase_prompt
from ollm_tui.core.errors import UsageError
from ollm_tui.engine.conversation import Conversation
from ollm_tui.engine.workspace import Workspace


def run(arguments: Namespace) -> int:
    """Chat, answer one prompt, or list the sessions."""
    if getattr(arguments, "list", False):
        from ollm_tui.cli.sessions import list_sessions

        return list_sessions(arguments)
    prompt = _prompt(arguments)
    try:
        return asyncio.run(_converse(arguments, prompt))
    except asyncio.CancelledError as error:
        raise KeyboardInterrupt from error  # told to end: the same as Ctrl+C


async def _converse(arguments: Namespace, prompt: str | None) -> int:
    from ollm_tui.bootstrap import open_workspace

    loaded = load()
    from ollm_tui.services.logs import start_logging

    start_logging(loaded.locations.home, debug=arguments.debug)
    workspace = open_workspace(loaded, os.environ, passphrase_prompt())
    _cancel_when_told_to_end()
    async with contextlib.AsyncExitStack() as cleanup:
        cleanup.push_async_callback(workspace.close)
        conversation = await _open(workspace, arguments)
        cleanup.push_async_callback(conversation.close)
        if prompt is not None:
            code = await _answer(conversation, prompt, arguments)
        else:
            code = await _chat(conversation)
        if conversation.unsaved == 0:
            await _clean_up(workspace, conversation)
    return code


async def _answer(conversation: Conversation, prompt: str, arguments: Namespace) -> int:
    from ollm_tui.headless import Headless

    front = Headless(arguments.output, sys.stdout, sys.stderr)
    return await front.show(conversation.send(prompt))


async def _chat(conversation: Conversation) -> int:
    from ollm_tui.plain import PlainChat

    with contextlib.suppress(ImportError):
        import_module("readline")  # importing it gives input() line editing, where there is one
    return await PlainChat(conversation, input, sys.stdout, sys.stderr).run()


async def _open(workspace: Workspace, arguments: Namespace) -> Conversation:
    wishes = {"provider": arguments.provider, "model": arguments.model}
    session_id = await _wanted_session(workspace, arguments)
    if session_id is None:
        return await workspace.begin(**wishes, ephemeral=arguments.ephemeral)
    conversation, problems = await workspace.resume(session_id, **wishes)
    for problem in problems:
        sys.stderr.write(f"ollm: warning: {problem}\n")
    return conversation


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
        what = "1 session" if len(moved) == 1 else f"{len(moved)} sessions"
        sys.stderr.write(f"ollm: {what} moved to the trash (ollm sessions trash list)\n")


def _prompt(arguments: Namespace) -> str | None:
    prompt: str | None = getattr(arguments, "prompt", None)
    if prompt != "-":
        return prompt
    data = sys.stdin.buffer.read()
    return data.decode("utf-8", "replace")


def _cancel_when_told_to_end() -> None:
    """SIGTERM and SIGHUP end the program as Ctrl+C does: what was said is recorded first."""
    task = asyncio.current_task()
    assert task is not None
    for number in (signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
