"""Asks whether the instructions of a project and hooks that never ran before may be used."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from ollm_tui.core.counts import short_count
from ollm_tui.engine.project.project_context import Instructions
from ollm_tui.tui.chat.trust_question import Question, TrustQuestion
from ollm_tui.tui.stream.transcript.entry import Entry

if TYPE_CHECKING:
    from ollm_tui.services.hooks import Hook, HookNotice, Hooks
    from ollm_tui.tui.chat.port import ChatPort

# Keys, and the answer each gives.
ABOUT_INSTRUCTIONS = {"y": "once", "a": "always", "n": "never"}
ABOUT_HOOKS = {"y": "yes", "n": "never"}


def ask(chat: ChatPort) -> None:
    """Ask about what is new in this project, in a worker: the user can go on typing."""
    chat.screen.run_worker(_look_around(chat), group="trust", exclusive=True)


async def _look_around(chat: ChatPort) -> None:
    for bar in chat.screen.query(TrustQuestion):
        bar.questions.clear()
        bar.show()
    project = chat.app.workspace.project
    found = await project.instructions()
    if found and not _is_used(chat, found):
        verdict = await asyncio.to_thread(project.verdict, found)
        if verdict is None:
            await _ask(chat, _about_instructions(chat, found))
    hooks = chat.app.workspace.hooks
    if hooks:
        _listen(chat, await bar_of(chat), hooks)
        for hook in hooks.all:
            if await asyncio.to_thread(hooks.verdict, hook) is None:
                await _ask_about_hook(chat, hooks, hook)


def _is_used(chat: ChatPort, found: Instructions) -> bool:
    entries = {entry.key: entry.content for entry in chat.conversation.notes.all}
    return all(entries.get(name) == text for name, text in found.files)


async def _ask(chat: ChatPort, question: Question) -> None:
    (await bar_of(chat)).ask(question)


async def bar_of(chat: ChatPort) -> TrustQuestion:
    """Return the widget that asks, above the gauge; it is made with the first question."""
    if not chat.screen.query(TrustQuestion):
        reach = chat.lines.hints.keys("context.trust")[0]
        await chat.mount_above_gauge(TrustQuestion(reach))
    return chat.screen.query_one(TrustQuestion)


def _about_instructions(chat: ChatPort, found: Instructions) -> Question:
    project = chat.app.workspace.project

    async def give(answer: str) -> str:
        if answer == "never":
            await asyncio.to_thread(project.keep_verdict, found, "never")
            return f"{found.names} is not used; it is asked again when it changes"
        await project.use(chat.conversation.notes, found)
        if answer == "always":
            await asyncio.to_thread(project.keep_verdict, found, "always")
        chat.lines.show_facts()
        return f"{found.names} is in every prompt now; /context list shows it"

    tokens = f"≈{short_count(found.tokens)} tokens"
    words = f"This folder has instructions for the model: {found.names}, {tokens}. Use them?"
    text = "\n\n".join(f"{name}\n\n{content}" for name, content in found.files)
    return Question("instructions", words, ABOUT_INSTRUCTIONS, text, give)


async def _ask_about_hook(chat: ChatPort, hooks: Hooks, hook: Hook) -> None:
    # An answer is about what is shown here, whatever the file says by then.
    shown = await asyncio.to_thread(hooks.content, hook)

    async def give(answer: str) -> str:
        verdict = "always" if answer == "yes" else "never"
        await asyncio.to_thread(hooks.keep_verdict, shown, verdict)
        if await asyncio.to_thread(hooks.verdict, hook) is None:
            chat.screen.run_worker(_ask_about_hook(chat, hooks, hook))
            return "the hook changed since it was shown; it is asked again"
        effect = f"runs at {hook.event} from now on" if answer == "yes" else "is not run"
        return f"the hook {effect}; it is asked again when it changes"

    words = f"Your settings have a hook for {hook.event}: {hook.command}. Run it?"
    await _ask(chat, Question(f"hook {hook.command}", words, ABOUT_HOOKS, shown.text, give))


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
