"""Asks whether the instructions and settings of a project, and new hooks, may be used."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ollm_tui.core.counts import counted, short_count
from ollm_tui.core.errors import OllmError
from ollm_tui.core.intake import visible
from ollm_tui.engine.project.instructions import Instructions, entry_key
from ollm_tui.engine.project.own_commands import OwnCommand
from ollm_tui.services.safety.project_trust import Verdict
from ollm_tui.settings.loaded import ProjectSettings
from ollm_tui.settings.loader import load_settings
from ollm_tui.settings.locations import CONFIG, FOLDER
from ollm_tui.tui.chat.trust_question import Question, TrustQuestion
from ollm_tui.tui.conversations.standing import AT_WORK
from ollm_tui.tui.stream.transcript.entry import Entry

if TYPE_CHECKING:
    from ollm_tui.engine.project.project_context import MetInstructions
    from ollm_tui.services.hooks import Hook, HookNotice, Hooks
    from ollm_tui.tui.chat.port import ChatPort

# Keys, and the answer each gives.
ABOUT_INSTRUCTIONS = {"y": "once", "a": "always", "n": "never"}
MOST_NAMED = 3
"""With this many files of instructions they are listed below the question, not in it."""
FOR_GOOD = {"y": "yes", "n": "never"}


def ask(chat: ChatPort) -> None:
    """Ask about what is new in this project, in a worker: the user can go on typing."""
    chat.screen.run_worker(_look_around(chat), group="trust", exclusive=True)


async def _look_around(chat: ChatPort) -> None:
    for bar in chat.screen.query(TrustQuestion):
        bar.questions.clear()
        bar.show()
    chat.app.part(_Folders, lambda: _Folders(chat))
    mcp = chat.app.workspace.additions.mcp
    if mcp:
        from ollm_tui.tui.mcp.server_notes import ServerNotes

        chat.app.part(ServerNotes, lambda: ServerNotes(chat, mcp))
    found, settings = await _new_instructions(chat), await _new_settings(chat)
    commands = await asyncio.to_thread(_new_commands, chat)
    if settings:
        await _ask(chat, await _about_settings(chat, settings, found, commands))
    elif found or commands:
        await _ask(chat, _about_instructions(chat, found, commands))
    if host := chat.app.workspace.additions.extensions:
        from ollm_tui.tui.extensions.arrival import welcome

        welcome(chat, host)
    if sync := chat.app.workspace.sync:
        from ollm_tui.tui.sync.sync_notes import SyncNotes

        chat.app.part(SyncNotes, lambda: SyncNotes(chat, sync))
    if mcp:
        from ollm_tui.tui.mcp.commands import question

        if asked := await question(chat, mcp):
            await _ask(chat, asked)
    hooks = chat.app.workspace.hooks
    if hooks:
        _listen(chat, await bar_of(chat), hooks)
        for hook in hooks.all:
            if await asyncio.to_thread(hooks.verdict, hook) is None:
                await _ask_about_hook(chat, hooks, hook)


async def _new_instructions(chat: ChatPort) -> Instructions | None:
    """Return the instructions of the project if the user has not decided about them yet."""
    project = chat.app.workspace.project
    found = await project.instructions()
    if found is None or _is_used(chat, found):
        return None
    return None if await asyncio.to_thread(project.verdict, found) else found


class _NewCommands(NamedTuple):
    """The commands of a project as they are asked about."""

    digest: str
    commands: tuple[OwnCommand, ...]

    @property
    def words(self) -> str:
        names = [f"/{each.name}" for each in self.commands]
        listed = ", ".join(names) if len(names) < MOST_NAMED else ", ".join(names[:2]) + ", …"
        return f"{counted(len(names), 'command')} ({listed})"

    def texts(self) -> Iterator[str]:
        """The text of each file, to be read."""
        for each in self.commands:
            wishes = (f"{key}: {value}" for key, value in each.wishes if value)
            yield "\n".join((f"/{each.name}", *wishes, "", each.text))


def _new_commands(chat: ChatPort) -> _NewCommands | None:
    """Return the commands of the project if the user has not decided about them yet."""
    known = chat.app.workspace.project.commands
    if not known.awaits_answer:
        return None
    return _NewCommands(known.digest, tuple(known.of_project.values()))


class _Folders:
    """Asks about instructions of folders that a turn comes across, as long as the program runs."""

    def __init__(self, chat: ChatPort) -> None:
        self._chat = chat
        chat.app.workspace.project.undecided.subscribe(self._meet)

    def _meet(self, met: MetInstructions) -> None:
        front = self._chat.front()
        if front.conversation.session_id == met.session_id and not _is_used(
            front, met.instructions
        ):
            asked = _ask(front, _about_instructions(front, met.instructions))
            front.screen.run_worker(asked)


async def _new_settings(chat: ChatPort) -> ProjectSettings | None:
    """Return the settings of the project as they are now, if the user has yet to decide."""
    project = chat.app.workspace.project

    def read() -> ProjectSettings | None:
        if not (project.root / FOLDER / CONFIG).exists():
            return None  # as in most folders
        return load_settings(os.environ, project.root, {}, project.trusts_settings).project

    found = await asyncio.to_thread(read)
    return found if found and found.awaits_answer else None


def _is_used(chat: ChatPort, found: Instructions) -> bool:
    entries = {entry.key: entry.content for entry in chat.conversation.notes.all}
    return all(entries.get(entry_key(name)) == text for name, text in found.files)


async def _ask(chat: ChatPort, question: Question) -> None:
    (await bar_of(chat)).ask(question)
    chat.lines.show_state(keeps_notice=True)  # the welcome may have to make room


async def bar_of(chat: ChatPort) -> TrustQuestion:
    """Return the widget that asks, above the gauge; it is made with the first question."""
    if not chat.screen.query(TrustQuestion):
        reach = chat.lines.hints.keys("context.trust")[0]
        await chat.mount_above_gauge(TrustQuestion(reach))
    return chat.screen.query_one(TrustQuestion)


def _about_instructions(
    chat: ChatPort, found: Instructions | None, commands: _NewCommands | None = None
) -> Question:
    """Ask about instructions, and about the project's commands with them if these are new."""
    project = chat.app.workspace.project
    names = " and ".join(_named(found, commands))

    async def give(answer: str) -> str:
        if answer in ("always", "never"):
            verdict: Verdict = "always" if answer == "always" else "never"
            await asyncio.to_thread(_keep_verdicts, chat, found, commands, verdict)
        if answer == "never":
            return f"Not used: {names} · asks again when it changes"
        if commands:
            project.commands.agree_once(commands.digest)
        if not found:
            return f"Ready to use: {names}"
        await project.use(chat.conversation.notes, found)
        chat.lines.show_facts()
        return f"Added to every prompt: {found.names} · /context list"

    place = visible(found.folder if found else "") or "This folder"
    has = [f"instructions for the model: {_size(found)}"] if found else []
    has += [commands.words] if commands else []
    words = f"{place} has {' and '.join(has)}. Use them?"
    text = "\n\n".join((*_texts(found), *(commands.texts() if commands else ())))
    subject = f"instructions {found.folder if found else ''}".rstrip()
    details = _costs(found) if found else []
    return Question(subject, words, ABOUT_INSTRUCTIONS, text, give, details=details)


def _named(found: Instructions | None, commands: _NewCommands | None) -> Iterator[str]:
    if found:
        yield found.names
    if commands:
        yield commands.words


def _keep_verdicts(
    chat: ChatPort, found: Instructions | None, commands: _NewCommands | None, verdict: Verdict
) -> None:
    project = chat.app.workspace.project
    if found:
        project.keep_verdict(found, verdict)
    if commands:
        project.commands.keep_verdict(commands.digest, verdict)


async def _about_settings(
    chat: ChatPort,
    found: ProjectSettings,
    instructions: Instructions | None,
    commands: _NewCommands | None,
) -> Question:
    """Ask about the settings, and about instructions and commands with them if these are new."""
    project = chat.app.workspace.project

    async def give(answer: str) -> str:
        verdict: Verdict = "always" if answer == "yes" else "never"
        await asyncio.to_thread(project.keep_settings_verdict, found.digest, verdict)
        await asyncio.to_thread(_keep_verdicts, chat, instructions, commands, verdict)
        if answer == "never":
            return "Not used · asks again when it changes"
        if instructions:
            await project.use(chat.conversation.notes, instructions)
            chat.lines.show_facts()
        if _can_start_again(chat):
            await chat.app.start_again()
        return "Folder settings apply from the next start"

    has = ["settings"]
    if instructions:
        has.insert(0, f"instructions for the model ({_size(instructions)})")
    if commands:
        has.insert(0, commands.words)
    warning = await _where_it_goes(chat, found)
    return Question(
        "settings",
        f"This folder has {' and '.join(has)}. Trust them?",
        FOR_GOOD,
        "\n\n".join(
            (
                _settings_text(found),
                *_texts(instructions),
                *(commands.texts() if commands else ()),
            )
        ),
        give,
        warning,
        tuple(map(str, found.changes)),
    )


def _can_start_again(chat: ChatPort) -> bool:
    """Return whether nothing is lost, and nobody asked for a passphrase, by starting again."""
    app = chat.app
    works = chat.is_busy or any(each.state in AT_WORK for each in chat.standings())
    runs = works or bool(app.shell and app.shell.would_end)
    is_encrypted = app.loaded.settings.retention.encrypt_at_rest
    return chat.conversation.is_kept and not runs and not is_encrypted


async def _where_it_goes(chat: ChatPort, found: ProjectSettings) -> str:
    """Return where what is said would go if the settings counted, in words; empty if it stays on
    this machine, or they choose no model."""
    chosen = {change.path: change.after for change in found.changes}
    provider, model = chosen.get(("provider",)), chosen.get(("model",))
    if not provider and not model:
        return ""
    try:
        host = await chat.app.workspace.models.destination(provider, model)
    except OllmError as error:  # whoever has the model later may pass it on
        return f"may send what you write to another machine ({visible(str(error))})"
    return f"would send what you write to {host}" if host else ""


def _settings_text(found: ProjectSettings) -> str:
    refused = (f"{each.key}: {each.problem}" for each in found.problems)
    return "\n".join((found.file, "", *map(str, found.changes), *refused))


def _texts(found: Instructions | None) -> Iterator[str]:
    for name, content in found.files if found else ():
        yield f"{name}\n\n{content}"


def _costs(found: Instructions) -> list[str]:
    """List what each file costs, where there are several, and what they name that is not read."""
    each = [f"{name}, ≈{short_count(cost)} tokens" for name, cost in found.costs]
    return [*(each if len(each) > 1 else ()), *(f"not read: {words}" for words in found.left_out)]


def _size(found: Instructions) -> str:
    names = found.names if len(found.files) < MOST_NAMED else f"{len(found.files)} files"
    return f"{names}, ≈{short_count(found.tokens)} tokens"


async def _ask_about_hook(chat: ChatPort, hooks: Hooks, hook: Hook) -> None:
    # An answer is about what is shown here, whatever the file says by then.
    shown = await asyncio.to_thread(hooks.content, hook)

    async def give(answer: str) -> str:
        verdict = "always" if answer == "yes" else "never"
        await asyncio.to_thread(hooks.keep_verdict, shown, verdict)
        if await asyncio.to_thread(hooks.verdict, hook) is None:
            chat.screen.run_worker(_ask_about_hook(chat, hooks, hook))
            return "The hook has changed since; asking again"
        effect = f"Hook enabled for {hook.event}" if answer == "yes" else "Hook not run"
        return f"{effect} · asks again when it changes"

    words = f"Your settings have a hook for {hook.event}: {hook.command}. Run it?"
    await _ask(chat, Question(f"hook {hook.command}", words, FOR_GOOD, shown.text, give))


def _listen(chat: ChatPort, bar: TrustQuestion, hooks: Hooks) -> None:
    """Show what hooks report in the stream, at the place where it happened."""

    def note(notice: HookNotice) -> None:
        if notice.is_untrusted:
            chat.screen.run_worker(_ask_about_hook(chat.front(), hooks, notice.hook))
        else:
            words = f"hook {notice.hook.key}: {notice.words}"
            chat.front().transcript.add(Entry(f"hook-{time.monotonic_ns()}", "note", words))

    # Once: the widget and the hooks outlive the conversation that asked first.
    if not bar.is_listening:
        bar.is_listening = True
        hooks.told.subscribe(note)
