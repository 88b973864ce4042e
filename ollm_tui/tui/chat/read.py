"""Reading: moving through the stream, finding words, opening what is folded."""

from __future__ import annotations

from ollm_tui.core.errors import UsageError
from ollm_tui.tui.chat.screen import ChatScreen
from ollm_tui.tui.kit.find_bar import FindBar


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
