"""The subcommands of `/context` for entries that are in every prompt: add, remove, list, clear."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from ollm_tui.core.counts import counted, short_count
from ollm_tui.core.errors import UsageError
from ollm_tui.core.intake import visible
from ollm_tui.core.session.context_entry import USUAL_PRIORITY, ContextEntry
from ollm_tui.engine.context.system_prompt import about
from ollm_tui.engine.project.project_context import COMPUTED
from ollm_tui.services.files.mention_names import names_in
from ollm_tui.tui.context.words import (
    ATTACH_IT_INSTEAD,
    ENTRY_KEYS,
    HOW_TO_ADD,
    IN_EVERY_PROMPT,
    NO_ENTRIES,
    NOTHING_IN_PROJECT,
    NOTHING_TO_ADD,
    NOTHING_TO_RELOAD,
)
from ollm_tui.tui.kit.choice_list import Choice
from ollm_tui.tui.kit.picker import Picker
from ollm_tui.tui.kit.words import STILL_ANSWERING, STOP_FIRST
from ollm_tui.tui.prompt.mentions import Mentions

if TYPE_CHECKING:
    from ollm_tui.engine.conversation.conversation import Conversation
    from ollm_tui.tui.chat.port import ChatPort

PRIORITY = "--priority"
FILE = "file:"
"""Begins the origin of an entry that was read from a file."""
FIRST_CHARACTERS = 140
"""Characters of an entry that the list shows of the highlighted one."""
START_CHARACTERS = 24
"""Characters of an entry that are repeated when it was added."""


async def carry_out(chat: ChatPort, word: str, rest: str) -> None:
    """Carry out a subcommand. UsageError for unknown ones, and for a change while the model
    answers."""
    if word not in _SUBCOMMANDS:
        known = ", ".join(("show", "export FILE", *_SUBCOMMANDS, "or nothing"))
        raise UsageError(f"Unknown option /context {visible(word)}", known)
    if chat.is_busy and word != "list":
        raise UsageError(STILL_ANSWERING, STOP_FIRST)
    await _SUBCOMMANDS[word](chat, rest)


async def _add(chat: ChatPort, rest: str) -> None:
    priority, rest = _priority(rest)
    key, _, words = rest.partition(" ")
    if name := _only_name(rest):  # a file may go by its own name
        key, words = name, rest
    notes, project = chat.conversation.notes, chat.app.workspace.project
    if key in COMPUTED and not words:
        await project.add(notes, key)
    elif not words.strip():
        raise UsageError(NOTHING_TO_ADD, HOW_TO_ADD)
    elif name := _only_name(words):
        await _add_file(chat, key, name, priority)
    else:
        await notes.add(key, words, priority)
    entry = next(each for each in notes.all if each.key == key)
    # With the first words: who gave no name sees that the first word was taken for one.
    start = "" if entry.origin else f", “{visible(_first_words(entry)[:START_CHARACTERS])}”"
    cost = cost_of(chat.conversation, entry)
    _tell(chat, f"{visible(key)}{start} added to every prompt: {cost} tokens")


def _priority(rest: str) -> tuple[int, str]:
    """Return the priority that is asked for, and what follows. UsageError if it is none."""
    if not rest.startswith(PRIORITY):
        return USUAL_PRIORITY, rest
    number, _, words = rest.removeprefix(PRIORITY).strip().partition(" ")
    if not number.isdecimal():
        raise UsageError(f"{PRIORITY} needs a number", f"/context add {PRIORITY} 90 NAME TEXT")
    return int(number), words.strip()


async def _add_file(chat: ChatPort, key: str, name: str, priority: int = USUAL_PRIORITY) -> None:
    found = await Mentions(chat).attachment(name)
    if found.media_type.startswith("image/"):
        raise UsageError(f"{found.name} is an image", ATTACH_IT_INSTEAD)
    origin = f"{FILE}{found.name}"
    await chat.conversation.notes.add(key, found.content, priority, origin=origin)


async def _project(chat: ChatPort, _rest: str) -> None:
    """Add all that can be computed of the project: tree, git, tasks, errors."""
    added = await chat.app.workspace.project.add_all(chat.conversation.notes)
    if not added:
        raise UsageError(NOTHING_IN_PROJECT, HOW_TO_ADD)
    entries = (each for each in chat.conversation.notes.all if each.key in added)
    costs = (f"{each.key} {cost_of(chat.conversation, each)}" for each in entries)
    _tell(chat, f"Added to every prompt: {', '.join(costs)} tokens · /context remove NAME")


async def _remove(chat: ChatPort, key: str) -> None:
    await chat.conversation.notes.remove(key)
    _tell(chat, f"{visible(key)} removed from the prompt")


async def _clear(chat: ChatPort, _rest: str) -> None:
    count = await chat.conversation.notes.clear()
    _tell(chat, f"{counted(count, 'entry', 'entries')} removed from the prompt")


async def _refresh(chat: ChatPort, _rest: str) -> None:
    """Read files, tree and git state again."""
    notes, done = chat.conversation.notes, 0
    for entry in notes.all:
        if entry.origin in COMPUTED:
            await chat.app.workspace.project.add(notes, entry.key)
        elif entry.origin.startswith(FILE):
            await _add_file(chat, entry.key, entry.origin.removeprefix(FILE))
        else:
            continue
        done += 1
    _tell(chat, f"Reloaded {done}" if done else NOTHING_TO_RELOAD)


async def _list(chat: ChatPort, _rest: str) -> None:
    notes = chat.conversation.notes

    def describe(choice: Choice | None) -> None:
        found = next((each for each in notes.all if choice and each.key == choice.key), None)
        picker.say(_first_words(found) if found else "")

    def remove(key: str | None) -> None:
        if key:
            chat.prompt.put(f"/context remove {key}")
        chat.prompt.focus()

    choices = [_choice(chat.conversation, entry) for entry in notes.all]
    picker = Picker(IN_EVERY_PROMPT, choices, empty=NO_ENTRIES, keys=ENTRY_KEYS, watcher=describe)
    chat.ask(picker, remove)


async def _snapshot(chat: ChatPort, name: str) -> None:
    await chat.command("snapshot.take", name)


def _choice(conversation: Conversation, entry: ContextEntry) -> Choice:
    note = entry.problem or about(entry)
    mark = "" if entry.problem else cost_of(conversation, entry)
    return Choice(entry.key, visible(entry.key), f"{note} · {entry.priority}", mark)


def _first_words(entry: ContextEntry) -> str:
    until = f"until {entry.expires_at[:16].replace('T', ' ')} UTC   " if entry.expires_at else ""
    return until + " ".join(entry.content[:FIRST_CHARACTERS].split())


def cost_of(conversation: Conversation, entry: ContextEntry) -> str:
    """Return how many tokens an entry takes in every prompt, in words; empty if it is not sent."""
    kind = "note" if entry.is_users_own else "data"
    key = f"{kind}:{entry.key}"
    items = (item for item in conversation.context().items if item.key == key)
    found = next(items, None)
    if found is None:
        return ""
    about_ = "≈" if found.tokens.source == "estimated" else ""
    return f"{about_}{short_count(found.tokens.tokens)}"


def _only_name(words: str) -> str:
    """Return the file that is named with @, if the words are nothing else; else an empty text."""
    named = names_in(words.strip())
    is_all = len(named) == 1 and (named[0].start, named[0].end) == (0, len(words.strip()))
    return named[0].name if is_all else ""


def _tell(chat: ChatPort, text: str) -> None:
    chat.lines.show_facts()
    chat.tell(text)


_SUBCOMMANDS: Mapping[str, Callable[[ChatPort, str], Awaitable[None]]] = {
    "add": _add,
    "project": _project,
    "remove": _remove,
    "list": _list,
    "refresh": _refresh,
    "clear": _clear,
    "snapshot": _snapshot,
}
