"""Sessions: begin, open, name, pin, save, export; the lists of them."""

from __future__ import annotations

import asyncio

from ollm_tui.core.errors import StoreError, UsageError
from ollm_tui.core.intake import visible
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.tui.browser.chat_sidebar import ChatSidebar
from ollm_tui.tui.browser.screen import SessionBrowser
from ollm_tui.tui.browser.session_actions import SessionActions
from ollm_tui.tui.chat.going_back import ChatPoints
from ollm_tui.tui.chat.screen import ChatScreen
from ollm_tui.tui.kit.export_file import export_to
from ollm_tui.tui.kit.question import Question


async def new(chat: ChatScreen, _argument: str) -> None:
    """Begin another conversation with the model that answers now."""
    choice = chat.app.conversation and chat.app.conversation.choice

    async def begin() -> tuple[Conversation, tuple[str, ...]]:
        workspace = chat.app.workspace
        if choice is None:
            return await workspace.begin(), ()
        return await workspace.begin(provider=choice.provider.name, model=choice.model), ()

    await chat.switch(begin)
    chat.prompt.focus()


async def clear(chat: ChatScreen, _argument: str) -> None:
    """The same under the name other programs have for it; nothing is deleted."""
    await new(chat, "")


def picker(chat: ChatScreen, _argument: str) -> None:
    """Look through all sessions and snapshots, and go to one."""
    open_browser(chat)


def open_browser(chat: ChatScreen, *, at_snapshots: bool = False) -> None:
    """Open the browser, at the snapshots of this session if that is wanted."""
    conversation = chat.app.conversation
    current = conversation.session_id if conversation else None

    points = ChatPoints(chat)

    def show_changes(_: None) -> None:
        chat.lines.show_facts()
        chat.reload_sidebar()
        points.offer_files()

    browser = SessionBrowser(_actions(chat), points, current, at_snapshots=at_snapshots)
    chat.app.push_screen(browser, show_changes)


async def load(chat: ChatScreen, argument: str) -> None:
    """Open a session by its id, or choose one."""
    if argument:
        await chat.open_session(await chat.app.workspace.find(argument))
    else:
        picker(chat, "")


async def sidebar(chat: ChatScreen, argument: str) -> None:
    """Show the sessions beside the stream and go there; again, hide them.

    `as-before` shows them as they were left: the prompt keeps the focus, and on a narrow
    terminal, where they would stand in the place of the conversation, nothing is shown.
    """
    if argument == "as-before":
        if not chat.has_class("narrow") and not chat.query(ChatSidebar):
            await _show_sidebar(chat)
        return
    is_open = await _show_sidebar(chat)
    if is_open:
        chat.query_one(ChatSidebar).begin()
    else:
        chat.prompt.focus()
    await asyncio.to_thread(chat.app.memory.keep_sidebar, is_open)


async def _show_sidebar(chat: ChatScreen) -> bool:
    """Show the sidebar, or hide it if it is there; whether it is there now."""
    if not chat.query(ChatSidebar):
        pane = ChatSidebar(chat, _actions(chat), unicode=chat.app.abilities.unicode)
        await chat.query_one("#middle").mount(pane, before=0)
        pane.display = False
    pane = chat.query_one(ChatSidebar)
    pane.display = not pane.display
    chat.set_class(pane.display, "with-sidebar")
    chat.reload_sidebar()
    return pane.display


async def rename(chat: ChatScreen, argument: str) -> None:
    """Give this session another title."""
    conversation = chat.conversation

    async def use(title: str | None) -> None:
        if title is not None:
            await chat.app.workspace.rename(conversation.session_id, title)
            chat.lines.show_facts()
            chat.reload_sidebar()

    if argument:
        await use(argument)
        return

    async def attempt(title: str | None) -> None:
        await chat.attempt(lambda: use(title))

    title = visible(conversation.state.header.title)
    chat.app.push_screen(Question("Title of this session", title, "rename"), attempt)


async def star(chat: ChatScreen, _argument: str) -> None:
    """Pin this session, so that it stays on top and is never cleaned up; or no longer."""
    pinned = not chat.conversation.state.header.pinned
    await chat.app.workspace.pin(chat.conversation.session_id, pinned)
    chat.reload_sidebar()
    kept = " and is kept" if chat.conversation.is_kept else ""
    chat.lines.tell(f"pinned: stays on top{kept}" if pinned else "no longer pinned")


async def save(chat: ChatScreen, _argument: str) -> None:
    """Write everything into the session file, also what could not be written so far."""
    conversation = chat.conversation
    if not len(conversation.state):
        raise UsageError("there is nothing to save yet", "send a message first")
    if not conversation.is_kept:
        raise UsageError("an ephemeral session is not kept", "/export writes it into a file")
    await conversation.save()
    if conversation.unsaved:
        raise StoreError(f"{conversation.unsaved} records are still not saved", "ollm doctor")
    chat.lines.unsaved = ""
    chat.lines.show_saving()
    chat.lines.tell("everything is in the session file")


async def export(chat: ChatScreen, argument: str) -> None:
    """Write the conversation into a file; its ending says in which form."""
    conversation = chat.conversation
    if not len(conversation.state):
        raise UsageError("there is nothing to export yet", "send a message first")
    name = argument or f"{conversation.session_id[:8]}.md"
    state = conversation.state
    file = await export_to(name, state.session(), state.branch())
    chat.lines.tell(f"exported to {visible(str(file))}")


def _actions(chat: ChatScreen) -> SessionActions:
    """The same for all lists: what was deleted in one can be brought back in another."""
    chat.session_actions = chat.session_actions or SessionActions(chat.app.workspace)
    return chat.session_actions
