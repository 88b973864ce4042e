"""Talking: stop the answer, leave step by step, go back to what was said."""

from __future__ import annotations

import time

from ollm_tui.core.errors import UsageError
from ollm_tui.core.session.graft import as_written
from ollm_tui.tui.chat.screen import ChatScreen
from ollm_tui.tui.kit.find_bar import FindBar
from ollm_tui.tui.prompt.prompt import Prompt
from ollm_tui.tui.terminal.clipboard import copy as copy_text


async def leave(chat: ChatScreen, _argument: str) -> None:
    """Leave; everything said is on disk already."""
    await chat.app.action_quit()


def suspend(chat: ChatScreen, _argument: str) -> None:
    """Back to the shell; fg brings the program back."""
    chat.app.action_suspend_process()


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


def page_up(chat: ChatScreen, _argument: str) -> None:
    """Read a page up without leaving the prompt."""
    _page(chat, -1)


def page_down(chat: ChatScreen, _argument: str) -> None:
    """Read a page down without leaving the prompt."""
    _page(chat, 1)


def start(chat: ChatScreen, _argument: str) -> None:
    """Show the beginning."""
    if keys := chat.transcript.keys:
        chat.transcript.go_to(keys[0])


def end(chat: ChatScreen, _argument: str) -> None:
    """Show the latest and stay there."""
    chat.transcript.go_to_end()


def earlier(chat: ChatScreen, _argument: str) -> None:
    """Move the cursor to the message above, from anywhere."""
    _move(chat, -1)


def later(chat: ChatScreen, _argument: str) -> None:
    """Move the cursor to the message below, from anywhere."""
    _move(chat, 1)


up, down = earlier, later


def extend_up(chat: ChatScreen, _argument: str) -> None:
    """Mark one message more above."""
    chat.transcript.cursor.extend(-1)


def extend_down(chat: ChatScreen, _argument: str) -> None:
    """Mark one message more below."""
    chat.transcript.cursor.extend(1)


def first(chat: ChatScreen, _argument: str) -> None:
    """The cursor on the first message."""
    if keys := chat.transcript.keys:
        chat.transcript.cursor.move_to(keys[0])


def last(chat: ChatScreen, _argument: str) -> None:
    """The cursor on the last message, and the view at the end."""
    if keys := chat.transcript.keys:
        chat.transcript.cursor.move_to(keys[-1])
    chat.transcript.go_to_end()


async def find(chat: ChatScreen, argument: str) -> None:
    """Open the line to find with."""
    if not chat.query(FindBar):
        await chat.mount(FindBar(chat.transcript), after="#middle")
    chat.query_one(FindBar).open(argument)


async def find_here(chat: ChatScreen, _argument: str) -> None:
    """The same, from the stream."""
    await find(chat, "")


def next_hit(chat: ChatScreen, _argument: str) -> None:
    """The next place where the words stand."""
    go_to_hit(chat, 1)


def previous_hit(chat: ChatScreen, _argument: str) -> None:
    """The place before."""
    go_to_hit(chat, -1)


def go_to_hit(chat: ChatScreen, step: int) -> None:
    """Another hit, and which one it is."""
    finder = chat.transcript.finder
    finder.go(step)
    number, total = finder.position
    if not total:
        raise UsageError("nothing is looked for", "Ctrl+F finds words")
    chat.transcript.cursor.move_to(finder.key, reveal=False)
    chat.lines.tell(f"hit {number} of {total:,}")


def expand(chat: ChatScreen, _argument: str) -> None:
    """Open or close what is folded in the message under the cursor, or in the last with folds."""
    cursor = chat.transcript.cursor.key
    folded = [key for key in chat.transcript.keys if chat.transcript.entry(key).folds]
    wanted = cursor or (folded[-1] if folded else None)
    if wanted is None:
        raise UsageError("nothing is folded here", "thoughts, tools and attachments are")
    chat.transcript.toggle_folds(wanted)


def unfold(chat: ChatScreen, _argument: str) -> None:
    """The same, in the stream."""
    expand(chat, "")


def details(chat: ChatScreen, _argument: str) -> None:
    """Show or hide when, by whom, how long and how fast."""
    chat.transcript.show_details = not chat.transcript.show_details


def _page(chat: ChatScreen, direction: int) -> None:
    transcript = chat.transcript
    lines = max(transcript.size.height - 1, 1) * direction
    transcript.scroll_to(y=transcript.scroll_offset.y + lines, animate=False)


def _move(chat: ChatScreen, step: int) -> None:
    chat.transcript.focus()
    chat.transcript.cursor.move(step)


AGAIN_SECONDS = 2.0
"""A second press within this time means more than the first."""


def stop(chat: ChatScreen, _argument: str) -> None:
    """Esc: the least that helps. Stop the answer, leave the stream, give up an edit, rewind."""
    if chat.app.shell and chat.app.shell.stop():
        return
    if chat.is_busy:
        _stop(chat)
    elif not isinstance(chat.focused, Prompt):
        chat.transcript.finder.clear()
        chat.transcript.cursor.move_to(None)
        chat.prompt.focus()
    elif chat.editing:
        chat.editing = None
        chat.transcript.cursor.move_to(None)
        chat.put_aside()
        chat.lines.show_state()
    elif not chat.prompt.text and len(chat.conversation.state):
        if pressed_again(chat, "escape"):
            rewind(chat, "")
        else:
            chat.lines.tell("Esc again goes back to an earlier message")


async def interrupt(chat: ChatScreen, _argument: str) -> None:
    """Ctrl+C: copy the selection, else stop, else put the draft aside; twice in a row, leave."""
    if selected := chat.prompt.selected_text or chat.get_selected_text():
        chat.lines.tell(await copy_text(chat.app, selected))
        chat.clear_selection()
    elif chat.app.shell and chat.app.shell.stop():
        pass
    elif chat.is_busy:
        _stop(chat)
    elif chat.prompt.text:
        chat.put_aside()
        chat.lines.tell("draft put aside, Up brings it back")
    elif pressed_again(chat, "ctrl+c"):
        await chat.leave()
    else:
        ends = chat.app.shell.would_end if chat.app.shell else ""
        chat.lines.tell(f"Ctrl+C again quits{ends and f' and ends {ends}'}")


def rewind(chat: ChatScreen, _argument: str) -> None:
    """Stand on your last message, from where it can be edited or the session forked."""
    state = chat.conversation.state
    own = [key for key in chat.transcript.keys if key in state and state[key].role == "user"]
    if not own:
        raise UsageError("there is nothing to go back to", "send a message first")
    chat.transcript.cursor.move_to(own[-1])
    chat.transcript.focus()


def _stop(chat: ChatScreen) -> None:
    """Stop the answer; what waits goes on waiting until something is sent."""
    chat.is_holding = True
    chat.conversation.cancel()


def pressed_again(chat: ChatScreen, key: str) -> bool:
    """Whether a key was pressed shortly before as well; remembers this press."""
    now = time.monotonic()
    before, chat.last_press = chat.last_press, (key, now)
    return before[0] == key and now - before[1] < AGAIN_SECONDS
