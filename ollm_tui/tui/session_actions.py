"""What is done with sessions in a list, each answering with a line that says what was done."""

from __future__ import annotations

from typing import NamedTuple, assert_never

from ollm_tui.core.errors import UsageError
from ollm_tui.core.intake import clean
from ollm_tui.engine.workspace import Workspace
from ollm_tui.tui.widgets.session_list import SessionList

LONGEST_QUOTE = 40


Wanted = (
    SessionList.RenameWanted
    | SessionList.PinWanted
    | SessionList.DeleteWanted
    | SessionList.ForkWanted
    | SessionList.UndoWanted
)


class Done(NamedTuple):
    """What was done, in words, and the session to stand on now, if it is another."""

    words: str
    session_id: str | None = None


class SessionActions:
    """Carries out what lists of sessions ask for; remembers what can be brought back."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._deleted: list[SessionList.DeleteWanted] = []

    async def carry_out(self, wanted: Wanted) -> Done:
        """Do what is wanted. OllmError if that is not possible."""
        match wanted:
            case SessionList.RenameWanted():
                await self.workspace.rename(wanted.session_id, wanted.title)
                return Done("renamed")
            case SessionList.PinWanted():
                await self.workspace.pin(wanted.session_id, wanted.pinned)
                kept = "pinned: stays on top and is kept"
                return Done(kept if wanted.pinned else "no longer pinned")
            case SessionList.DeleteWanted():
                await self.workspace.discard(wanted.session_id)
                self._deleted.append(wanted)
                return Done(f"deleted {_quoted(wanted.title)} · u undo")
            case SessionList.ForkWanted():
                copy = await self.workspace.fork(wanted.session_id)
                return Done("forked: the copy is a session of its own", copy)
            case SessionList.UndoWanted():
                return await self._undo()
            case _:
                assert_never(wanted)

    async def _undo(self) -> Done:
        """Bring back what was deleted last."""
        if not self._deleted:
            raise UsageError("nothing was deleted here", "ollm sessions trash list shows the rest")
        last = self._deleted[-1]
        await self.workspace.restore(last.session_id)
        self._deleted.pop()
        return Done(f"brought back {_quoted(last.title)}", last.session_id)


def _quoted(title: str) -> str:
    words = " ".join(clean(title).split())
    return f"“{words if len(words) <= LONGEST_QUOTE else words[: LONGEST_QUOTE - 1] + '…'}”"
