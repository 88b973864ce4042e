"""The commands for compression: run it, preview it, watch it, undo it, read the checkpoints."""

from __future__ import annotations

from collections.abc import Mapping

from ollm_tui.core.errors import UsageError
from ollm_tui.core.intake import visible
from ollm_tui.core.session.compression import Strategy, checkpoints_of
from ollm_tui.tui.chat.chat_points import ChatPoints
from ollm_tui.tui.chat.port import Action, ChatPort
from ollm_tui.tui.compression.checkpoint_screen import CheckpointsScreen
from ollm_tui.tui.compression.compression_run import (
    Asked,
    display_of,
    edit_first,
    preview,
    start,
)
from ollm_tui.tui.compression.words import HOW_TO_TARGET, NO_MESSAGE_SELECTED, tokens_words
from ollm_tui.tui.stream.entries.compression_entries import undone_next

OPTIONS = ("--preview", "--summary", "--mine", "--truncate", "--provider", "--above", "--to")


def compact(chat: ChatPort, argument: str) -> None:
    """Compress now. Options come first, then instructions for the summary. UsageError."""
    options, target, instructions = _parsed(argument)
    if "--summary" in options:
        checkpoints(chat, "")
        return
    if "--preview" in options and chat.conversation.compression.is_running:
        edit_first(chat)
        return
    strategy: Strategy | None = "truncate" if "--truncate" in options else None
    asked = Asked(
        strategy="provider" if "--provider" in options else strategy,
        above=_cursor(chat) if "--above" in options else None,
        fold_own="--mine" in options,
        target=target,
    )
    if "--preview" in options:
        preview(chat, asked, instructions)
    else:
        start(chat, asked, instructions)


def above(chat: ChatPort, _argument: str) -> None:
    """Compress what was said above the message under the cursor."""
    start(chat, Asked(above=_cursor(chat)))


async def undo(chat: ChatPort, _argument: str) -> None:
    """Undo the last compression, or the last return to an earlier point if that came later."""
    conversation = chat.conversation
    comes_first = undone_next(conversation.state.header.metadata)
    if comes_first is None and conversation.snapshots.standing:
        await ChatPoints(chat).undo()
        return
    undone = await chat.conversation.compression.undo()
    display_of(chat).show_records()
    chat.lines.show_facts()
    chat.tell(f"Compression undone: {tokens_words(undone)} · compresses again when full")


def checkpoints(chat: ChatPort, _argument: str) -> None:
    """Show the checkpoints of the context."""
    metadata = chat.conversation.state.header.metadata
    found = checkpoints_of(metadata.compressed, metadata.compression_history)
    chat.ask(CheckpointsScreen(found))


def watch(chat: ChatPort, _argument: str) -> None:
    """Show the compression that runs, or the last one, on the whole screen."""
    screen = display_of(chat).whole_screen(
        chat.conversation.cancel,
        lambda: chat.screen.call_later(chat.attempt, lambda: edit_first(chat)),
        unicode=chat.app.abilities.unicode,
    )
    chat.ask(screen)


def _parsed(argument: str) -> tuple[set[str], int | None, str]:
    """Return the leading options, the tokens after --to, and the words after all of them.

    UsageError for unknown options, and for a --to without a number.
    """
    words = argument.split()
    options: set[str] = set()
    target: int | None = None
    while words and words[0].startswith("--"):
        option = words.pop(0)
        options.add(option)
        if option == "--to":
            target = _tokens(words.pop(0) if words else "")
    unknown = options - set(OPTIONS)
    if unknown:
        raise UsageError(
            f"Unknown option {visible(sorted(unknown)[0])}", f"one of {', '.join(OPTIONS)}"
        )
    return options, target, " ".join(words)


def _tokens(word: str) -> int:
    """Return a number of tokens such as 3000, 3,000 or 3k. UsageError for anything else."""
    plain = word.replace(",", "").lower()
    number = plain.removesuffix("k")
    if not number.isdecimal() or not int(number):
        raise UsageError("--to needs a number of tokens", HOW_TO_TARGET)
    return int(number) * (1000 if plain.endswith("k") else 1)


def _cursor(chat: ChatPort) -> str:
    """Return the message under the cursor. UsageError if there is none."""
    keys = [key for key in chat.transcript.cursor.keys if key in chat.conversation.state]
    if not keys:
        up = chat.lines.hints.line(("read.earlier", "selects one"))
        above = chat.lines.hints.line(("compression.above", "compresses"))
        raise UsageError(NO_MESSAGE_SELECTED, f"{up}, then {above}")
    return keys[0]


ACTIONS: Mapping[str, Action] = {
    "compression.compact": compact,
    "compression.above": above,
    "compression.undo": undo,
    "compression.checkpoints": checkpoints,
    "compression.watch": watch,
}
