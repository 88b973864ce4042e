"""What can be done with a message: copy, edit, answer again, fork, change the version."""

from __future__ import annotations

from ollm_tui.core.errors import UsageError
from ollm_tui.core.session.graft import as_written
from ollm_tui.tui.chat.screen import ChatScreen
from ollm_tui.tui.terminal.clipboard import copy as copy_text


async def copy(chat: ChatScreen, _argument: str) -> None:
    """Copy the marked messages, or the last one, as they were written."""
    keys = chat.transcript.cursor.keys or chat.transcript.keys[-1:]
    if not keys:
        raise UsageError("there is nothing to copy yet", "send a message first")
    where = await copy_text(chat.app, chat.transcript.copy_text(keys))
    what = "message" if len(keys) == 1 else f"{len(keys)} messages"
    chat.lines.tell(f"{what} {where}")


async def copy_code(chat: ChatScreen, _argument: str) -> None:
    """Copy a code block of the message; pressed again, the next one."""
    key = chat.transcript.cursor.key or _last_with_code(chat)
    blocks = chat.transcript.code_blocks(key) if key else []
    if key is None or not blocks:
        raise UsageError("there is no code block here", "move to a message that has one")
    before, number = chat.last_copied
    number = (number + 1) % len(blocks) if before == key else 0
    chat.last_copied = (key, number)
    where = await copy_text(chat.app, blocks[number])
    chat.lines.tell(f"code block {number + 1} of {len(blocks)} {where}")


def edit(chat: ChatScreen, _argument: str) -> None:
    """Put one of the user's own messages into the prompt, to be sent in its place."""
    state = chat.conversation.state
    key = _chosen(chat)
    if chat.transcript.cursor.key is None:
        own = [each for each in chat.transcript.keys if _is_users(chat, each)]
        key = own[-1] if own else None
    if key is None:
        raise UsageError("there is nothing to edit yet", "send a message first")
    if state[key].role != "user":
        raise UsageError("only your own messages can be edited", "r has the answer written again")
    if chat.is_busy:
        raise UsageError("the model is still answering", "Esc stops it")
    chat.put_aside()
    chat.editing = key
    chat.prompt.put(state[key].text, as_written(state[key]))
    chat.prompt.focus()


def regenerate(chat: ChatScreen, _argument: str) -> None:
    """Have the answer written again; the old one stays as another version."""
    chat.start(chat.conversation.regenerate(_chosen(chat)))


async def fork(chat: ChatScreen, _argument: str) -> None:
    """Go on from here in a new session; this one stays as it is."""
    conversation = chat.conversation
    if not len(conversation.state):
        raise UsageError("there is nothing to fork yet", "send a message first")
    session_id = await chat.app.workspace.fork(conversation.session_id, _chosen(chat))
    await chat.switch(lambda: chat.app.workspace.resume(session_id))
    chat.prompt.focus()
    # When the focus has moved: that shows the keys of another place.
    kept = "" if chat.conversation.is_kept else ", not kept either"
    told = f"forked: what you say now is a session of its own{kept}"
    chat.call_after_refresh(chat.lines.tell, told)


async def version_before(chat: ChatScreen, _argument: str) -> None:
    """Show the version of the message that was written before."""
    await _change_version(chat, -1)


async def version_after(chat: ChatScreen, _argument: str) -> None:
    """Show the version of the message that was written after."""
    await _change_version(chat, 1)


async def _change_version(chat: ChatScreen, step: int) -> None:
    conversation = chat.conversation
    state, key = conversation.state, chat.transcript.cursor.key
    if key is None or key not in state:
        return
    versions = [version.id for version in state.children(state.parent(key))]
    number = versions.index(key) + step
    if not 0 <= number < len(versions):
        raise UsageError("there is no other version that way", "e and r make new ones")
    if chat.is_busy:
        raise UsageError("the model is still answering", "Esc stops it")
    await conversation.switch_to(state.latest_leaf(versions[number]))
    chat.show_branch()
    chat.transcript.cursor.move_to(versions[number])
    chat.lines.show_facts()
    chat.lines.show_state()


def _chosen(chat: ChatScreen) -> str | None:
    """The message under the cursor, or above the note it is on; None without a cursor."""
    keys, state = chat.transcript.keys, chat.conversation.state
    cursor = chat.transcript.cursor.key
    above = keys[: keys.index(cursor) + 1] if cursor in keys else []
    return next((key for key in reversed(above) if key in state), None)


def _is_users(chat: ChatScreen, key: str) -> bool:
    state = chat.conversation.state
    return key in state and state[key].role == "user"


def _last_with_code(chat: ChatScreen) -> str | None:
    for key in reversed(chat.transcript.keys):
        if "```" in chat.transcript.entry(key).text:
            return key
    return None
