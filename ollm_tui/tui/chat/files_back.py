"""The question after going back: which of the files that tools changed since come back, too."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from textual import events, on
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from ollm_tui.core.counts import counted, short_size
from ollm_tui.core.errors import OllmError
from ollm_tui.core.intake import visible
from ollm_tui.core.snapshot import ContextSnapshot
from ollm_tui.engine.snapshots.conversation_snapshots import SnapshotFiles
from ollm_tui.tui.chat.words import (
    FILE_STEPS,
    FILES_ABOUT,
    FILES_KEYS,
    FILES_TITLE,
    FILES_UNDO,
    brought_back,
)
from ollm_tui.tui.kit.choice_list import Choice, ChoiceList

if TYPE_CHECKING:
    from ollm_tui.engine.conversation.conversation import Conversation
    from ollm_tui.services.files.file_changes import FileStep
    from ollm_tui.tui.chat.port import ChatPort

CAN_BE = ("restore", "delete", "recreate", "conflict")
"""The steps that can be done; the last one only where the user marks the file."""
CHOSEN, FREE, FIXED = "●", "○", " "
FRAME_LINES = 10
"""Lines of the dialog around the list."""


async def offer_files(
    chat: ChatPort, snapshot: ContextSnapshot, *, is_restored: bool = True
) -> None:
    """Ask which files are brought back to a snapshot, or to a message that was gone back to;
    nothing if none changed. `is_restored` tells whether the conversation went there."""
    conversation = chat.conversation
    files = SnapshotFiles(conversation.state.header.project, conversation.tools)
    last = conversation.snapshots.standing
    # Going back to a message names no snapshot.
    names = (snapshot.id, "")
    can_undo = bool(is_restored and last and last.safety and last.snapshot in names)

    def bring(paths: tuple[str, ...] | None) -> None:
        if paths:
            work = partial(_bring, chat, files, snapshot, paths, can_undo=can_undo)
            chat.screen.run_worker(work, group="files")

    try:
        steps = await files.preview(snapshot)
    except OllmError as error:
        chat.complain(error)
        return
    # Looking for the files takes a while; another conversation may be shown by now.
    if steps and chat.screen.is_current and chat.front() is chat:
        chat.ask(FilesBack(steps, can_undo=can_undo), bring)


def offer_files_of(chat: ChatPort, message_id: str) -> None:
    """Ask the same before a message is edited: what followed it is left behind then."""
    state = chat.conversation.state
    before = state.parent(message_id)
    point = at_message(chat.conversation, before) if before else None
    if point is None:
        return
    offer = partial(offer_files, chat, point, is_restored=False)
    chat.screen.run_worker(offer, group="files", exclusive=True)


def at_message(conversation: Conversation, message_id: str) -> ContextSnapshot:
    """Return the context as of a message; files count as they were when it was said."""
    said_at = conversation.state[message_id].timestamp
    return replace(conversation.snapshots.at(message_id), timestamp=said_at)


async def _bring(
    chat: ChatPort,
    files: SnapshotFiles,
    snapshot: ContextSnapshot,
    paths: tuple[str, ...],
    *,
    can_undo: bool,
) -> None:
    undo = " · /undo reverts that too" if can_undo else ""
    try:
        chat.tell(brought_back(await files.restore(snapshot, paths), undo))
    except OllmError as error:
        chat.complain(error)


class FilesBack(ModalScreen[tuple[str, ...]]):
    """Asks which files to bring back; closes with their paths, with none unless y is pressed."""

    CSS_PATH = "../kit/dialog.tcss"
    BINDINGS = [
        Binding("y", "bring", "Restore", id="files.bring", tooltip="Restore the marked files"),
        Binding("space", "mark", "Mark", id="files.mark", tooltip="Mark or unmark this file"),
        Binding(
            "n,escape", "leave", "Keep", id="files.leave", tooltip="Keep all files as they are"
        ),
    ]

    app: App[Any]

    def __init__(self, steps: Sequence[FileStep], *, can_undo: bool = True) -> None:
        super().__init__()
        self._about = FILES_ABOUT + (FILES_UNDO if can_undo else ".")
        self._steps = steps
        # What somebody else wrote is not overwritten unless that is asked for.
        self._marked = {each.path for each in steps if each.how in CAN_BE[:-1]}
        self._seen = math.inf
        """When the question was first painted; infinite before that."""

    def compose(self) -> ComposeResult:
        """Lay out the question, the files and the keys."""
        with Vertical(id="dialog"):
            title = FILES_TITLE.format(counted(len(self._steps), "file"))
            yield Static(Content(title), id="title")
            yield Static(Content(self._about), id="about")
            yield ChoiceList(unicode=not self.app.has_class("-ascii"))
            yield Static(Content(FILES_KEYS), id="keys")

    def on_mount(self) -> None:
        """Show the files. Keys count from the first paint on."""
        self.query_one("#dialog").styles.height = len(self._steps) + FRAME_LINES
        self._show()
        self.query_one(ChoiceList).focus()
        self.call_after_refresh(self._is_seen)

    def on_key(self, event: events.Key) -> None:
        """Ignore a key typed before the question was seen: it was meant for something else."""
        if event.time < self._seen:
            event.stop()
            event.prevent_default()

    def action_bring(self) -> None:
        """Close with the paths of the marked files."""
        self.dismiss(tuple(step.path for step in self._steps if step.path in self._marked))

    def action_leave(self) -> None:
        """Close without a file."""
        self.dismiss(())

    @on(ChoiceList.Chosen)
    def action_mark(self) -> None:
        """Mark or unmark the highlighted file, if it can be brought back."""
        highlighted = self.query_one(ChoiceList).highlighted
        if highlighted and highlighted.mark != FIXED:
            self._marked ^= {highlighted.key}
            self._show()

    def _show(self) -> None:
        self.query_one(ChoiceList).show([self._line(step) for step in self._steps])

    def _line(self, step: FileStep) -> Choice:
        mark = FREE if step.how in CAN_BE else FIXED
        sizes = " → ".join(map(_size, (step.now, step.then)))
        note = f"{FILE_STEPS[step.how]} · {sizes}"
        return Choice(
            step.path, visible(step.path), note, CHOSEN if step.path in self._marked else mark
        )

    def _is_seen(self) -> None:
        # Read from an event, so that it is the clock that stamps the keys.
        self._seen = events.Event().time


def _size(size: int | None) -> str:
    if size is None:
        return "none"
    return short_size(size)
