"""The actions on sessions and snapshots in a list. Each returns a line that says what was done, and
each can be undone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple, assert_never

from ollm_tui.core.errors import UsageError
from ollm_tui.core.intake import clean
from ollm_tui.engine.project.workspace import Workspace
from ollm_tui.engine.snapshots.points import Point
from ollm_tui.tui.browser.session_list import SessionList
from ollm_tui.tui.browser.session_tree import SessionTree
from ollm_tui.tui.browser.words import (
    FORK_MOVED_TO_THE_TRASH,
    FORKED,
    NOTHING_TO_UNDO,
    OLD_NAME_RESTORED,
    PIN_RESTORED,
    TAGS_RESTORED,
    UNDO,
    WHERE_THE_TRASH_IS,
)

LONGEST_QUOTE = 40
"""Characters of a title that are quoted at most."""

SessionRequest = (
    SessionList.RenameRequested
    | SessionList.PinRequested
    | SessionList.DeleteRequested
    | SessionList.ForkRequested
    | SessionList.UndoRequested
    | SessionTree.ArchiveRequested
)


class Done(NamedTuple):
    """What was done, in words, and the point to highlight now, if it is another one."""

    words: str
    point: Point | None = None


class _WayBack(NamedTuple):
    """How an action is undone, and what is said and highlighted then."""

    words: str
    point: Point
    action: Callable[[], Awaitable[object]]


class SessionActions:
    """Carries out what lists ask for, and remembers how to undo it."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._ways_back: list[_WayBack] = []

    async def carry_out(self, request: SessionRequest) -> Done:
        """Carry out a request of a list. OllmError if that is not possible."""
        match request:
            case SessionList.RenameRequested():
                return await self._rename(request.point, request.title, request.before)
            case SessionList.PinRequested():
                return await self._pin(request.point, request.pinned)
            case SessionList.DeleteRequested():
                return await self._delete(request.point, request.title)
            case SessionList.ForkRequested():
                return await self._fork(request.point)
            case SessionTree.ArchiveRequested():
                return await self._archive(request.point, request.archived)
            case SessionList.UndoRequested():
                return await self._undo()
            case _:
                assert_never(request)

    async def tag(self, point: Point, text: str, before: tuple[str, ...]) -> Done:
        """Give a session the words of a line as tags; `before` are those it had. OllmError."""
        workspace, session_id = self.workspace, point.session_id
        tags = clean(text).replace(",", " ").replace("#", " ").split()
        await workspace.tag(session_id, tags)
        self._note(TAGS_RESTORED, point, lambda: workspace.tag(session_id, before))
        return Done(f"Tagged {' '.join(tags)} · {UNDO}" if tags else f"Tags removed · {UNDO}")

    async def _rename(self, point: Point, title: str, before: str) -> Done:
        async def rename(name: str) -> None:
            if point.snapshot:
                await self.workspace.snapshots.rename(*point[:2], name)
            else:
                await self.workspace.rename(point.session_id, name)

        await rename(title)
        self._note(OLD_NAME_RESTORED, point, lambda: rename(before))
        return Done(f"Renamed · {UNDO}")

    async def _pin(self, point: Point, pinned: bool) -> Done:
        async def pin(is_pinned: bool) -> None:
            if point.snapshot:
                await self.workspace.snapshots.pin(*point[:2], is_pinned)
            else:
                await self.workspace.pin(point.session_id, is_pinned)

        await pin(pinned)
        self._note(PIN_RESTORED, point, lambda: pin(not pinned))
        kept = (
            "Pinned: never cleaned up"
            if point.snapshot
            else "Pinned: stays on top, never cleaned up"
        )
        return Done(kept if pinned else "Unpinned")

    async def _delete(self, point: Point, title: str) -> Done:
        snapshots = self.workspace.snapshots

        async def bring_back() -> None:
            if point.snapshot:
                await snapshots.undelete(*point[:2])
            else:
                await self.workspace.restore(point.session_id)

        if point.snapshot:
            await snapshots.delete(*point[:2])
        else:
            await self.workspace.discard(point.session_id)
        self._note(f"Restored {_quoted(title)}", point, bring_back)
        return Done(f"Deleted {_quoted(title)} · {UNDO}")

    async def _fork(self, point: Point) -> Done:
        copy = await self.workspace.points.fork(point)
        self._note(FORK_MOVED_TO_THE_TRASH, point, lambda: self.workspace.discard(copy))
        return Done(FORKED, Point(copy))

    async def _archive(self, point: Point, archived: bool) -> Done:
        workspace, session_id = self.workspace, point.session_id
        await workspace.archive(session_id, archived)
        back = "Undone"
        self._note(back, point, lambda: workspace.archive(session_id, not archived))
        words = "Archived" if archived else "Unarchived"
        return Done(f"{words} · {UNDO}", point)

    async def _undo(self) -> Done:
        """Undo the last action. UsageError if there is none."""
        if not self._ways_back:
            raise UsageError(NOTHING_TO_UNDO, WHERE_THE_TRASH_IS)
        last = self._ways_back[-1]
        await last.action()
        # Only after it succeeded: what failed can be tried again.
        self._ways_back.pop()
        return Done(last.words, last.point)

    def _note(self, words: str, point: Point, action: Callable[[], Awaitable[object]]) -> None:
        self._ways_back.append(_WayBack(words, point, action))


def _quoted(title: str) -> str:
    words = " ".join(clean(title).split())
    return f"“{words if len(words) <= LONGEST_QUOTE else words[: LONGEST_QUOTE - 1] + '…'}”"
