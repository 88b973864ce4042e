"""`ollm sessions compact`: compresses the context of a session, previews that, or undoes it."""

from __future__ import annotations

import asyncio
import os
import sys
from argparse import Namespace
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from ollm_tui.cli.output import print_json
from ollm_tui.cli.store import load, passphrase_prompt
from ollm_tui.core.compression_events import (
    CompressionDrafted,
    CompressionFailed,
    CompressionSkipped,
    CompressionStarted,
    ContextCompressed,
)
from ollm_tui.core.intake import visible

if TYPE_CHECKING:
    from ollm_tui.core.session.compression import Compression
    from ollm_tui.engine.conversation.conversation import Conversation


def run(arguments: Namespace) -> int:
    """Compress, preview or undo, as the options say."""
    return asyncio.run(_run(arguments))


async def _run(arguments: Namespace) -> int:
    from ollm_tui.bootstrap import open_workspace

    workspace = open_workspace(load(), os.environ, passphrase_prompt())
    async with AsyncExitStack() as cleanup:
        cleanup.push_async_callback(workspace.close)
        session_id = await workspace.find(arguments.id)
        conversation, _ = await workspace.resume(session_id)
        cleanup.push_async_callback(conversation.close)
        if arguments.undo:
            undone = await conversation.compression.undo()
            _tell(arguments, undone, f"undone: {undone.words}")
            return 0
        if arguments.preview:
            return await _preview(conversation, arguments)
        return await _compress(conversation, arguments)


async def _compress(conversation: Conversation, arguments: Namespace) -> int:
    from ollm_tui.headless import Headless

    compression, front = conversation.compression, Headless("text", sys.stdout, sys.stderr)
    compression.folds_own = True  # nobody is here to be asked
    code = 1
    events = compression.run(
        strategy=arguments.strategy,
        instructions=arguments.instructions or "",
        target=arguments.to,
    )
    async for event in events:
        match event:
            case ContextCompressed():
                done = event.compression
                _tell(arguments, done, done.words)
                if done.note:
                    sys.stderr.write(f"ollm: {visible(done.note)}\n")
                code = 0
            case CompressionSkipped(reason="nothing-to-do"):
                front.tell_compression(event)
                code = 0
            case _:
                front.tell_compression(event)
    return code


async def _preview(conversation: Conversation, arguments: Namespace) -> int:
    """Print what would become of each message; nothing is changed."""
    events = conversation.compression.preview(
        strategy=arguments.strategy,
        instructions=arguments.instructions or "",
        target=arguments.to,
    )
    async for event in events:
        match event:
            case CompressionStarted():
                for outcome in event.outcomes:
                    tokens = f"{outcome.tokens:>7,} → {outcome.after:>7,}"
                    print(f"{outcome.what:6} {tokens}  {visible(outcome.title)}")
            case CompressionDrafted():
                if event.draft.checkpoint and event.draft.checkpoint.summary:
                    print(f"\n{visible(event.draft.checkpoint.summary)}")
                print(f"\n{event.draft.compression.words}")
                return 0
            case CompressionSkipped():
                print(event.message)
                return 0
            case CompressionFailed():
                sys.stderr.write(f"ollm: {visible(event.error)} ({visible(event.hint)})\n")
            case _:
                pass
    return 1


def _tell(arguments: Namespace, compression: Compression, words: str) -> None:
    if arguments.json:
        from ollm_tui.core.session.encoding import to_tree

        print_json(to_tree(compression))
    else:
        print(words)
