"""The actions of the browser on a point or on messages: mark, compare, export, copy, tag, fork."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import assert_never

from ollm_tui.core.counts import counted
from ollm_tui.core.errors import OllmError, UsageError
from ollm_tui.core.intake import visible
from ollm_tui.core.session.message import Message
from ollm_tui.engine.snapshots.points import Point
from ollm_tui.services.export.export_file import export_to
from ollm_tui.tui.browser.diff_screen import DiffSide, SnapshotDiffScreen
from ollm_tui.tui.browser.port import BrowserPort
from ollm_tui.tui.browser.session_list import SessionList
from ollm_tui.tui.browser.session_preview import MessageAction
from ollm_tui.tui.browser.session_tree import BrowserAction
from ollm_tui.tui.browser.words import (
    CHOOSE_OR_MARK,
    EXPORT,
    IS_CURRENT,
    MARK_ANOTHER_LINE_WITH_M,
    MARKED,
    NO_MESSAGES_HERE_YET,
    TAGS,
)
from ollm_tui.tui.chat.chat_points import end_before_turn, end_of_turn
from ollm_tui.tui.kit.question import Question
from ollm_tui.tui.terminal.clipboard import copy


class BrowserActions:
    """Carries out actions for one browser, which shows what went wrong in one line."""

    def __init__(self, browser: BrowserPort) -> None:
        self._browser = browser

    def do(self, action: BrowserAction, point: Point) -> None:
        """Carry out an action on a point."""
        browser = self._browser
        match action:
            case "mark":
                self._mark(point)
            case "compare":
                self._attempt(lambda: self._compare(point))
            case "copy_id":
                self._attempt(lambda: self._copy_id(point))
            case "export":
                name = f"{(point.snapshot or point.session_id)[:8]}.md"
                self._ask(Question(EXPORT, name, "export"), lambda to: self._export(point, to))
            case "tag":
                before = browser.session_tree.session.tags if browser.session_tree.session else ()
                question = Question(TAGS, " ".join(map(visible, before)), "keep")
                self._ask(question, lambda text: self._tag(point, text, before))
            case _:
                assert_never(action)

    def do_with(
        self,
        action: MessageAction,
        session_id: str,
        said: Sequence[Message],
        chosen: Sequence[Message],
    ) -> None:
        """Carry out an action on the chosen messages; `said` are all messages of the preview."""
        browser = self._browser
        if action == "graft":
            browser.beside.bring(chosen, session_id)
            brought = counted(len(chosen), "message")
            browser.say(f"Attached {brought} to the prompt · Esc Esc goes there")
            return
        try:
            end = (end_before_turn if action == "before" else end_of_turn)(said, chosen[0].id)
        except UsageError as error:
            browser.complain(error)
            return
        point = Point(session_id, message=end)
        if action == "fork":
            fork = SessionList.ForkRequested(point)
            browser.carry_out(lambda: browser.actions.carry_out(fork))
        else:
            browser.leave(lambda: browser.beside.go_to(point))

    def _mark(self, point: Point) -> None:
        browser = self._browser
        browser.marked = None if browser.marked == point else point
        browser.say(MARKED if browser.marked else "Unmarked")

    async def _compare(self, point: Point) -> None:
        """Show what differs from the marked point, or from the present if none is marked."""
        browser = self._browser
        if browser.marked and browser.marked != point:
            left, right = await self._side(browser.marked), await self._side(point)
        else:
            left, right = await self._side(point), await self._present(point)
        browser.marked = None
        # Reading takes a while, and the user may close the browser meanwhile.
        if browser.is_open:
            browser.show_keys()
            browser.app.push_screen(SnapshotDiffScreen(left, right))

    async def _side(self, point: Point) -> DiffSide:
        points = self._browser.actions.workspace.points
        context = await points.at(point)
        return DiffSide.of(context, points.budget(context), is_snapshot=bool(point.snapshot))

    async def _present(self, point: Point) -> DiffSide:
        """Return the present that a point is compared with.

        That of its own session; where the session is gone, or the point is that present, the
        open conversation. UsageError if there is nothing to compare with.
        """
        browser, is_now = self._browser, not (point.snapshot or point.message)
        if is_now and point.session_id == browser.current:
            hint = CHOOSE_OR_MARK
            raise UsageError(IS_CURRENT, hint)
        is_there = not browser.session_tree.is_gone
        if not is_now and is_there and point.session_id != browser.current:
            return await self._side(Point(point.session_id))
        now = browser.beside.now()
        if now is None:
            raise UsageError(NO_MESSAGES_HERE_YET, MARK_ANOTHER_LINE_WITH_M)
        budget = browser.actions.workspace.points.budget(now)
        return DiffSide.of(now, budget, is_snapshot=False)._replace(name="now")

    async def _copy_id(self, point: Point) -> None:
        which = "snapshot" if point.snapshot else "message" if point.message else "session"
        where = await copy(self._browser.app, point.snapshot or point.message or point.session_id)
        self._browser.say(f"{which.capitalize()} id {where}")

    async def _export(self, point: Point, name: str) -> None:
        points = self._browser.actions.workspace.points
        if point.snapshot:
            session = await points.session(point)
            branch = session.messages
        else:
            state = await points.state(point.session_id)
            session, branch = state.session(), state.branch(point.message or None)
        keeps_outputs = self._browser.app.loaded.settings.retention.store_tool_outputs
        file = await export_to(name, session, branch, keeps_outputs=keeps_outputs)
        self._browser.say(f"Exported to {visible(str(file))}")

    async def _tag(self, point: Point, text: str, before: tuple[str, ...]) -> None:
        actions = self._browser.actions
        self._browser.carry_out(lambda: actions.tag(point, text, before))

    def _ask(self, question: Question, use: Callable[[str], Awaitable[None]]) -> None:
        def answer(text: str | None) -> None:
            if text is not None:
                self._attempt(lambda: use(text))

        self._browser.app.push_screen(question, answer)

    def _attempt(self, action: Callable[[], Awaitable[None]]) -> None:
        self._browser.screen.run_worker(partial(self._attempted, action), group="actions")

    async def _attempted(self, action: Callable[[], Awaitable[None]]) -> None:
        try:
            await action()
        except OllmError as error:
            self._browser.complain(error)
