"""After going back: the files that tools changed since are offered, and brought back if wanted."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ollm_tui.core.counts import counted
from ollm_tui.core.errors import OllmError
from ollm_tui.core.intake import visible
from ollm_tui.core.snapshot import ContextSnapshot
from ollm_tui.engine.snapshots.snapshot_files import SnapshotFiles
from ollm_tui.tui.chat.tui_dialogs_files_back import FilesBack

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_tui.services.files.file_changes import FileStep
    from ollm_tui.tui.chat.screen import ChatScreen

LEFT = ("no-copy", "refused")


async def offer_files(chat: ChatScreen, snapshot: ContextSnapshot) -> None:
    """Ask which files go along with a snapshot the conversation went back to, if there are any."""
    conversation = chat.conversation
    files = SnapshotFiles(conversation.state.header.project, conversation.tools)
    last = conversation.snapshots.standing
    can_undo = bool(last and last.safety and last.snapshot == snapshot.id)

    def bring(wanted: tuple[str, ...] | None) -> None:
        if wanted:
            deed = partial(_bring, chat, files, snapshot, wanted, can_undo=can_undo)
            chat.run_worker(deed, group="files")

    try:
        steps = await files.preview(snapshot)
    except OllmError as error:
        chat.lines.complain(error)
        return
    if steps and chat.is_current and conversation is chat.app.conversation:
        chat.app.push_screen(FilesBack(steps, can_undo=can_undo), bring)


async def _bring(
    chat: ChatScreen,
    files: SnapshotFiles,
    snapshot: ContextSnapshot,
    wanted: tuple[str, ...],
    *,
    can_undo: bool,
) -> None:
    undo = " · /undo takes that back too" if can_undo else ""
    try:
        chat.lines.tell(_told(await files.restore(snapshot, wanted), undo))
    except OllmError as error:
        chat.lines.complain(error)


def _told(done: Sequence[FileStep], undo: str) -> str:
    left = [step.path for step in done if step.how in LEFT]
    words = f"{counted(len(done) - len(left), 'file')} brought back{undo}"
    return f"{words} · not {visible(', '.join(left))}" if left else words
