"""The commands of the chat itself: stop, leave, move and find in the stream, and what is done with
a message: copy, edit, answer again, fork, show another version."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from ollm_tui.core.counts import counted
from ollm_tui.core.errors import UsageError
from ollm_tui.core.session.graft import as_written
from ollm_tui.tui.chat.files_back import offer_files_of
from ollm_tui.tui.chat.port import Action, ChatPort
from ollm_tui.tui.chat.words import (
    CLOSE_THE_TAB_INSTEAD,
    CTRL_F_STARTS_A_SEARCH,
    DRAFT_ASIDE,
    ESC_AGAIN_REWINDS,
    FULL_CONVERSATION,
    HOW_TO_MAKE_VERSIONS,
    HOW_TO_REGENERATE,
    NO_CODE_BLOCK_HERE,
    NO_MESSAGES_YET,
    NO_OTHER_VERSION,
    NO_SHELL_TO_RETURN_TO,
    NOTHING_TO_COPY_YET,
    NOTHING_TO_EDIT_YET,
    NOTHING_TO_EXPAND_HERE,
    NOTHING_TO_FIND,
    NOTHING_TO_FORK_YET,
    NOTHING_TO_REWIND_TO,
    ONLY_YOUR_OWN,
    QUEUE_EMPTY,
    SELECT_ANOTHER,
    SEND_FIRST,
    SEND_NOW_AGAIN,
    WHAT_CAN_BE_EXPANDED,
)
from ollm_tui.tui.context.prompt_screen import PromptScreen
from ollm_tui.tui.conversations.standing import AT_WORK
from ollm_tui.tui.conversations.words import what_ends
from ollm_tui.tui.kit.find_bar import FindBar
from ollm_tui.tui.kit.words import STILL_ANSWERING, STOP_FIRST
from ollm_tui.tui.prompt.prompt import Prompt
from ollm_tui.tui.terminal.clipboard import copy as copy_text

AGAIN_SECONDS = 2.0
"""A second press within this time means more than the first."""


@dataclass
class _Memory:
    """What the commands here remember from one key to the next."""

    last_press: tuple[str, float] = ("", 0.0)
    """A key whose second press means more than its first, and when it was pressed."""
    last_copied: tuple[str, int] = ("", 0)
    """The message a code block was copied from, and which one."""


def stop(chat: ChatPort, _argument: str) -> None:
    """Do the least that Esc can mean: stop a command or the answer, leave the stream, give up an
    edit, rewind."""
    if chat.app.shell and chat.app.shell.stop():
        return
    if chat.is_busy:
        _stop(chat)
    elif not isinstance(chat.screen.focused, Prompt):
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
            chat.tell(ESC_AGAIN_REWINDS)


async def interrupt(chat: ChatPort, _argument: str) -> None:
    """Do what Ctrl+C means: copy the selection, else stop what runs, else put the draft aside;
    twice in a row, leave."""
    if selected := chat.prompt.selected_text or chat.screen.get_selected_text():
        chat.tell(await copy_text(chat.app, selected))
        chat.screen.clear_selection()
    elif chat.app.shell and chat.app.shell.stop():
        pass
    elif chat.is_busy:
        _stop(chat)
    elif chat.prompt.text:
        chat.put_aside()
        chat.tell(DRAFT_ASIDE)
    elif pressed_again(chat, "ctrl+c"):
        await chat.app.leave()
    else:
        working = [each for each in chat.standings() if each.state in AT_WORK]
        ends = what_ends(working, chat.app.shell.would_end if chat.app.shell else "")
        chat.tell(*(f"Ctrl+C again quits{each and f' and kills {each}'}" for each in ends or [""]))


def rewind(chat: ChatPort, _argument: str) -> None:
    """Move the cursor to the user's last message, where it can be edited or the session forked."""
    state = chat.conversation.state
    own = [key for key in chat.transcript.keys if key in state and state[key].role == "user"]
    if not own:
        raise UsageError(NOTHING_TO_REWIND_TO, SEND_FIRST)
    chat.transcript.cursor.move_to(own[-1])
    chat.transcript.focus()


def _stop(chat: ChatPort) -> None:
    """Stop the answer; queued messages go on waiting until something is sent."""
    chat.hold_queue(True)
    chat.conversation.cancel()


def send_waiting(chat: ChatPort, _argument: str) -> None:
    """Send the next queued message; while the model answers, a second press stops the answer."""
    if not chat.prompt.can_take_back:
        chat.tell(QUEUE_EMPTY)
    elif not chat.is_busy:
        chat.hold_queue(False)
        chat.go_on()
    elif pressed_again(chat, "send waiting"):
        chat.conversation.cancel()  # the queue is not held, so its first message follows
    else:
        chat.tell(SEND_NOW_AGAIN)


def pressed_again(chat: ChatPort, key: str) -> bool:
    """Return whether a key was pressed shortly before as well; remembers this press."""
    now = time.monotonic()
    memory = chat.app.part(_Memory, _Memory)
    before, memory.last_press = memory.last_press, (key, now)
    return before[0] == key and now - before[1] < AGAIN_SECONDS


def page_up(chat: ChatPort, _argument: str) -> None:
    """Read a page up without leaving the prompt."""
    _page(chat, -1)


def page_down(chat: ChatPort, _argument: str) -> None:
    """Read a page down without leaving the prompt."""
    _page(chat, 1)


def start(chat: ChatPort, _argument: str) -> None:
    """Scroll to the beginning."""
    if keys := chat.transcript.keys:
        chat.transcript.go_to(keys[0])


def end(chat: ChatPort, _argument: str) -> None:
    """Scroll to the end and follow what is added."""
    chat.transcript.go_to_end()


def earlier(chat: ChatPort, _argument: str) -> None:
    """Move the cursor to the message above, from anywhere."""
    _move(chat, -1)


def later(chat: ChatPort, _argument: str) -> None:
    """Move the cursor to the message below, from anywhere."""
    _move(chat, 1)


up, down = earlier, later


def extend_up(chat: ChatPort, _argument: str) -> None:
    """Mark one more message above."""
    chat.transcript.cursor.extend(-1)


def extend_down(chat: ChatPort, _argument: str) -> None:
    """Mark one more message below."""
    chat.transcript.cursor.extend(1)


def first(chat: ChatPort, _argument: str) -> None:
    """Move the cursor to the first message."""
    if keys := chat.transcript.keys:
        chat.transcript.cursor.move_to(keys[0])


def last(chat: ChatPort, _argument: str) -> None:
    """Move the cursor to the last message, and the view to the end."""
    if keys := chat.transcript.keys:
        chat.transcript.cursor.move_to(keys[-1])
    chat.transcript.go_to_end()


async def find(chat: ChatPort, argument: str) -> None:
    """Open the find bar with some words."""
    if not chat.screen.query(FindBar):
        await chat.screen.mount(FindBar(chat.transcript), after="#middle")
    bar = chat.screen.query_one(FindBar)
    chat.part(FindBar, lambda: bar).open(argument)


async def find_here(chat: ChatPort, _argument: str) -> None:
    """Open the find bar from the stream."""
    await find(chat, "")


def next_hit(chat: ChatPort, _argument: str) -> None:
    """Go to the next hit."""
    go_to_hit(chat, 1)


def previous_hit(chat: ChatPort, _argument: str) -> None:
    """Go to the hit before."""
    go_to_hit(chat, -1)


def go_to_hit(chat: ChatPort, step: int) -> None:
    """Go to another hit and tell which one it is. UsageError if nothing is looked for."""
    finder = chat.transcript.finder
    finder.go(step)
    number, total = finder.position
    if not total:
        raise UsageError(NOTHING_TO_FIND, CTRL_F_STARTS_A_SEARCH)
    chat.transcript.cursor.move_to(finder.key, reveal=False)
    chat.tell(f"Match {number} of {total:,}")


def expand(chat: ChatPort, _argument: str) -> None:
    """Open or close the folds of the message under the cursor, or of the last one that has any."""
    cursor = chat.transcript.cursor.key
    folded = [key for key in chat.transcript.keys if chat.transcript.entry(key).folds]
    key = cursor or (folded[-1] if folded else None)
    if key is None:
        raise UsageError(NOTHING_TO_EXPAND_HERE, WHAT_CAN_BE_EXPANDED)
    chat.transcript.toggle_folds(key)


def history(chat: ChatPort, _argument: str) -> None:
    """Show all that was said on this branch, also what the model no longer sees."""
    said = chat.conversation.state.branch()
    if not said:
        raise UsageError(NO_MESSAGES_YET, SEND_FIRST)
    text = "\n\n".join(f"{each.role}\n{each.text}" for each in said if each.text.strip())
    chat.ask(PromptScreen(FULL_CONVERSATION, counted(len(said), "message"), text))


def unfold(chat: ChatPort, _argument: str) -> None:
    """Open or close folds from the stream, as `expand` does."""
    expand(chat, "")


def details(chat: ChatPort, _argument: str) -> None:
    """Show or hide the time, model, tokens and speed of messages."""
    chat.transcript.show_details = not chat.transcript.show_details


def _page(chat: ChatPort, direction: int) -> None:
    transcript = chat.transcript
    lines = max(transcript.size.height - 1, 1) * direction
    transcript.scroll_to(y=transcript.scroll_offset.y + lines, animate=False)


def _move(chat: ChatPort, step: int) -> None:
    chat.transcript.focus()
    chat.transcript.cursor.move(step)


async def copy(chat: ChatPort, _argument: str) -> None:
    """Copy the marked messages, or the last one, as they were written."""
    keys = chat.transcript.cursor.keys or chat.transcript.keys[-1:]
    if not keys:
        raise UsageError(NOTHING_TO_COPY_YET, SEND_FIRST)
    where = await copy_text(chat.app, chat.transcript.copy_text(keys))
    what = "Message" if len(keys) == 1 else f"{len(keys)} messages"
    chat.tell(f"{what} {where}")


async def copy_code(chat: ChatPort, _argument: str) -> None:
    """Copy a code block of the message; pressed again, the next one."""
    key = chat.transcript.cursor.key or _last_with_code(chat)
    blocks = chat.transcript.code_blocks(key) if key else []
    if key is None or not blocks:
        raise UsageError(NO_CODE_BLOCK_HERE, SELECT_ANOTHER)
    memory = chat.app.part(_Memory, _Memory)
    before, number = memory.last_copied
    number = (number + 1) % len(blocks) if before == key else 0
    memory.last_copied = (key, number)
    where = await copy_text(chat.app, blocks[number])
    chat.tell(f"Code block {number + 1} of {len(blocks)} {where}")


def edit(chat: ChatPort, _argument: str) -> None:
    """Put one of the user's own messages into the prompt, to be sent in its place."""
    state = chat.conversation.state
    key = _chosen(chat)
    if chat.transcript.cursor.key is None:
        own = [each for each in chat.transcript.keys if _is_users(chat, each)]
        key = own[-1] if own else None
    if key is None:
        raise UsageError(NOTHING_TO_EDIT_YET, SEND_FIRST)
    if state[key].role != "user":
        raise UsageError(ONLY_YOUR_OWN, HOW_TO_REGENERATE)
    if chat.is_busy:
        raise UsageError(STILL_ANSWERING, STOP_FIRST)
    chat.put_aside()
    chat.editing = key
    chat.prompt.put(state[key].text, as_written(state[key]))
    chat.prompt.focus()
    offer_files_of(chat, key)


def go_on(chat: ChatPort, _argument: str) -> None:
    """Have the model go on with an answer that was stopped or cut off."""
    chat.run(chat.conversation.go_on())


def regenerate(chat: ChatPort, _argument: str) -> None:
    """Have the model answer again; the old answer stays as another version."""
    chat.run(chat.conversation.regenerate(_chosen(chat)))


async def fork(chat: ChatPort, _argument: str) -> None:
    """Go on from here in a new session; this one stays as it is."""
    conversation = chat.conversation
    if not len(conversation.state):
        raise UsageError(NOTHING_TO_FORK_YET, SEND_FIRST)
    workspace = chat.app.workspace
    session_id = await workspace.fork(conversation.session_id, _chosen(chat))
    fork = await chat.switch(lambda: workspace.resume(session_id))
    fork.prompt.focus()
    kept = "" if fork.conversation.is_kept else ", not saved either"
    notice = f"Forked: you are in the new session{kept}"
    # After the refresh: the move of the focus shows key hints, which would replace this line.
    chat.screen.call_after_refresh(fork.tell, notice)


async def version_before(chat: ChatPort, _argument: str) -> None:
    """Show the version of the message that was written before."""
    await _change_version(chat, -1)


async def version_after(chat: ChatPort, _argument: str) -> None:
    """Show the version of the message that was written after."""
    await _change_version(chat, 1)


async def _change_version(chat: ChatPort, step: int) -> None:
    conversation = chat.conversation
    state, key = conversation.state, chat.transcript.cursor.key
    if key is None or key not in state:
        return
    versions = [version.id for version in state.children(state.parent(key))]
    number = versions.index(key) + step
    if not 0 <= number < len(versions):
        raise UsageError(NO_OTHER_VERSION, HOW_TO_MAKE_VERSIONS)
    if chat.is_busy:
        raise UsageError(STILL_ANSWERING, STOP_FIRST)
    await conversation.switch_to(state.latest_leaf(versions[number]))
    chat.show_branch()
    chat.transcript.cursor.move_to(versions[number])
    chat.lines.show_facts()
    chat.lines.show_state()


def _chosen(chat: ChatPort) -> str | None:
    """Return the message under the cursor, or the one above if the cursor is on a note; None
    without a cursor."""
    keys, state = chat.transcript.keys, chat.conversation.state
    cursor = chat.transcript.cursor.key
    above = keys[: keys.index(cursor) + 1] if cursor in keys else []
    return next((key for key in reversed(above) if key in state), None)


def _is_users(chat: ChatPort, key: str) -> bool:
    state = chat.conversation.state
    return key in state and state[key].role == "user"


def _last_with_code(chat: ChatPort) -> str | None:
    for key in reversed(chat.transcript.keys):
        if "```" in chat.transcript.entry(key).text:
            return key
    return None


def suspend(chat: ChatPort, _argument: str) -> None:
    """Suspend the program; fg in the shell brings it back. UsageError if there is no shell."""
    if not chat.app.abilities.has_shell:
        raise UsageError(NO_SHELL_TO_RETURN_TO, CLOSE_THE_TAB_INSTEAD)
    chat.app.action_suspend_process()


async def leave(chat: ChatPort, _argument: str) -> None:
    """Quit; what is not on disk yet is saved first."""
    await chat.app.action_quit()


ACTIONS: Mapping[str, Action] = {
    "chat.stop": stop,
    "chat.interrupt": interrupt,
    "chat.rewind": rewind,
    "chat.send_waiting": send_waiting,
    "read.page_up": page_up,
    "read.page_down": page_down,
    "read.start": start,
    "read.end": end,
    "read.earlier": earlier,
    "read.later": later,
    "read.up": up,
    "read.down": down,
    "read.extend_up": extend_up,
    "read.extend_down": extend_down,
    "read.first": first,
    "read.last": last,
    "read.find": find,
    "read.find_here": find_here,
    "read.next_hit": next_hit,
    "read.previous_hit": previous_hit,
    "read.expand": expand,
    "read.history": history,
    "read.unfold": unfold,
    "read.details": details,
    "message.copy": copy,
    "message.copy_code": copy_code,
    "message.edit": edit,
    "message.go_on": go_on,
    "message.regenerate": regenerate,
    "message.fork": fork,
    "message.version_before": version_before,
    "message.version_after": version_after,
    "app.suspend": suspend,
    "app.leave": leave,
}
