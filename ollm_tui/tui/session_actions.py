"""What is done with sessions in a list, each answering with a line that says what was done."""

from __future__ import annotations

from ollm_tui.core.errors import UsageError
from ollm_tui.core.intake import clean
from ollm_tui.engine.workspace import Workspace
from ollm_tui.tui.widgets.session_list import SessionList

LONGEST_QUOTE = 40


class SessionActions:
    """Carries out what a list of sessions asks for; remembers what can be brought back.

    Every method may raise an OllmError.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._deleted: list[SessionList.DeleteWanted] = []

    async def rename(self, wanted: SessionList.RenameWanted) -> str:
        """Give a session its title."""
        await self.workspace.rename(wanted.session_id, wanted.title)
        return "renamed"

    async def pin(self, wanted: SessionList.PinWanted) -> str:
        """Pin a session, or no longer."""
        await self.workspace.pin(wanted.session_id, wanted.pinned)
        return "pinned: stays on top and is kept" if wanted.pinned else "no longer pinned"

    async def delete(self, wanted: SessionList.DeleteWanted) -> str:
        """Move a session to the trash, from where `undo` brings it back."""
        await self.workspace.discard(wanted.session_id)
        self._deleted.append(wanted)
        return f"deleted {_quoted(wanted.title)} · u undo"

    async def undo(self) -> tuple[str, str]:
        """Bring back what was deleted last; also gives its id."""
        if not self._deleted:
            raise UsageError("nothing was deleted here", "ollm sessions trash list shows the rest")
        last = self._deleted[-1]
        await self.workspace.restore(last.session_id)
        self._deleted.pop()
        return f"brought back {_quoted(last.title)}", last.session_id

    async def fork(self, wanted: SessionList.ForkWanted) -> tuple[str, str]:
        """Copy a session into a new one; also gives its id."""
        session_id = await self.workspace.fork(wanted.session_id)
        return "forked: the copy is a session of its own", session_id


def _quoted(title: str) -> str:
    words = " ".join(clean(title).split())
    return f"“{words if len(words) <= LONGEST_QUOTE else words[: LONGEST_QUOTE - 1] + '…'}”"
