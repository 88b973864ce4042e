"""Reads what the browser shows: the list at once, the rest when the highlight rests on a line."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from functools import partial
from typing import TypeVar

from ollm_tui.core.counts import counted, short_size
from ollm_tui.core.errors import OllmError
from ollm_tui.core.session.branches import Branch, holders
from ollm_tui.core.session.message import Message
from ollm_tui.core.session.session import SessionSummary
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.core.snapshot import ContextSnapshot
from ollm_tui.engine.snapshots.points import Overview, Point
from ollm_tui.tui.browser.port import BrowserPort
from ollm_tui.tui.browser.session_tree import Parts
from ollm_tui.tui.browser.snapshot_choices import Inside, key_of
from ollm_tui.tui.browser.words import (
    GONE_FACTS,
    GONE_TITLE,
    branch_title,
    part_facts,
    point_facts,
    snapshot_title,
)

R = TypeVar("R")

REST_SECONDS = 0.05
"""How long the highlight rests on a line before it is read: not while it passes."""
SEEN_FIRST = 100
"""How many sessions are shown before all are read: more than a screen has lines."""
NAMES_FROM = 200
"""Of how many sessions, the latest first, snapshots are read when words are searched for."""

GONE_READ = 50
"""Of how many gone sessions snapshots are read, to show what was said last in them."""


class BrowserReading:
    """Reads for one browser, and has it show what was read."""

    def __init__(self, browser: BrowserPort) -> None:
        self._browser = browser
        self._summaries: Sequence[SessionSummary] = ()
        self._ids: set[str] = set()
        self._counts: dict[str, int] = {}
        self._size = 0
        self._overview: Overview | None = None
        """The overview that was read last; it is not read again for the same session."""

        self._point: Point | None = None
        """The point that the preview shows."""
        self._said: list[Message] = []
        """Its messages, once they are read."""

    async def begin(self, *, at_snapshots: bool) -> None:
        """Show the sessions, then what is below the current one, then how many there are."""
        browser = self._browser
        await self._show_known()
        await self._show_sessions(None)
        if self._overview:  # its links were named by the sessions known so far
            self._point = None
            self.look_at(browser.session_tree.point)
        current = browser.current
        if current in self._ids:
            browser.session_tree.open_up(current)
            if at_snapshots:
                await self._read_inside(current, at_snapshots=True)
        await self._show_counts()

    async def show_again(self, highlight: str | None) -> None:
        """Read the list and the session in the preview again, after something changed."""
        browser = self._browser
        known = self._overview.state.header.session_id if self._overview else None
        self._overview = None
        await self._show_sessions(highlight)
        await self._show_counts()
        if known and (known in self._counts or known in self._ids):
            self._learn(await self._read(known), highlight)
        self._point = None
        self.look_at(browser.session_tree.point)

    def said_at(self, point: Point | None) -> Sequence[Message]:
        """Return the messages of a point; none unless the preview shows it and they were read."""
        return self._said if point == self._point else ()

    def look_at(self, point: Point | None) -> None:
        """Show what is known of a point at once, and the rest when the highlight rests on it."""
        if point == self._point:
            return
        self._point = point
        tree, preview = self._browser.session_tree, self._browser.preview
        self._said = []
        if tree.snapshot:
            preview.show_facts(snapshot_title(tree.snapshot), (tree.snapshot.damage or "",))
        elif tree.is_gone:
            preview.show_facts(GONE_TITLE, GONE_FACTS)
        elif point and not point.message:
            preview.show(tree.session)
        look = partial(self._look_at, point)
        self._browser.screen.run_worker(look, exclusive=True, group="preview")

    def read_inside(self, session_id: str) -> None:
        """Read the branches and snapshots of a session."""
        self._browser.screen.run_worker(partial(self._read_inside, session_id), group="inside")

    def find_names(self, words: str) -> None:
        """Read the names of snapshots, so that words find these too."""
        if words.strip():
            self._browser.screen.run_worker(self._find_names, exclusive=True, group="names")

    async def _seen(self, reading: Awaitable[R]) -> R:
        """Return what was read. Ends the worker if the browser was closed meanwhile."""
        found = await reading
        if not self._browser.is_open:
            raise asyncio.CancelledError
        return found

    async def _look_at(self, point: Point | None) -> None:
        preview, strip = self._browser.preview, self._browser.timeline
        if point is None:
            preview.show(None)
            preview.show_messages(())
            strip.show(None)
            return
        await self._seen(asyncio.sleep(REST_SECONDS))
        try:
            overview = await self._read(point.session_id)
            strip.show(overview.timeline, point.snapshot)
            if self._browser.session_tree.is_gone and not point.snapshot:
                preview.show_messages(())
                return
            points = self._browser.actions.workspace.points
            context = await self._seen(points.at(point, overview.state))
        except OllmError as error:
            preview.show_problem(error.lines)
            return
        self._show(point, overview, context)

    def _show(self, point: Point, overview: Overview, context: ContextSnapshot) -> None:
        tree, preview = self._browser.session_tree, self._browser.preview
        budget = self._browser.actions.workspace.points.budget(context)
        facts = list(point_facts(context))
        if tree.snapshot:
            title = snapshot_title(tree.snapshot)
            preview.show_facts(title, facts, budget, estimated=context.tokens_estimated)
        elif branch := _branch(overview, point):
            title = branch_title(branch)
            preview.show_facts(title, facts, budget, estimated=context.tokens_estimated)
        elif tree.session:
            header = overview.state.header
            tree.learn_parts(header.session_id, Parts(header.continues, header.continued_in))
            titles = {each.session_id: each.title for each in self._summaries}
            links, estimated = part_facts(header, titles), context.tokens_estimated
            preview.show_session(tree.session, budget, links, estimated=estimated)
            self._browser.show_keys(about=tree.highlighted_key)
        self._said = _said(context, overview.state)
        preview.show_messages(self._said, overview.state)

    async def _read(self, session_id: str) -> Overview:
        known = self._overview
        if known is None or known.state.header.session_id != session_id:
            points = self._browser.actions.workspace.points
            known = await self._seen(points.overview(session_id))
            self._overview = known
        return known

    async def _read_inside(self, session_id: str, *, at_snapshots: bool = False) -> None:
        try:
            overview = await self._read(session_id)
        except OllmError as error:
            self._browser.complain(error)
            return
        newest = overview.snapshots[0].id if overview.snapshots and at_snapshots else ""
        self._learn(overview, key_of(Point(session_id, newest)) if newest else None)

    async def _show_counts(self) -> None:
        held = await self._seen(self._browser.actions.workspace.points.holdings())
        self._counts, self._size = dict(held.counts), held.size
        self._browser.pane.show_total(self._total())
        gone = {key: count for key, count in self._counts.items() if key not in self._ids}
        self._browser.session_tree.show_gone(gone)
        await self._learn_names([*gone][:GONE_READ])

    async def _find_names(self) -> None:
        await self._seen(asyncio.sleep(REST_SECONDS))
        ids = [each.session_id for each in self._summaries if self._counts.get(each.session_id)]
        await self._learn_names(ids[:NAMES_FROM])

    async def _learn_names(self, session_ids: Sequence[str]) -> None:
        tree, snapshots = self._browser.session_tree, self._browser.actions.workspace.snapshots
        unknown = [session_id for session_id in session_ids if not tree.knows(session_id)]
        if not unknown:
            return
        try:
            found = {
                key: Inside(await self._seen(snapshots.list(key)), is_whole=False)
                for key in unknown
            }
        except OllmError as error:
            self._browser.complain(error)
            return
        tree.learn(found)

    def _learn(self, overview: Overview, highlight: str | None) -> None:
        inside = Inside(
            overview.snapshots, overview.branches, holders(overview.branches, overview.state)
        )
        self._browser.session_tree.learn({overview.state.header.session_id: inside}, highlight)

    async def _show_known(self) -> None:
        """Show the latest sessions as the index has them, painted before all files are read."""
        browser, seen = self._browser, asyncio.Event()
        known = await self._seen(browser.actions.workspace.known_sessions(SEEN_FIRST))
        if known:
            browser.pane.show_sessions(known, browser.current)
            browser.pane.show_total("")
            browser.screen.call_after_refresh(seen.set)
            await self._seen(seen.wait())

    async def _show_sessions(self, highlight: str | None) -> None:
        browser = self._browser
        self._summaries = await self._seen(browser.actions.workspace.sessions())
        self._ids = {each.session_id for each in self._summaries}
        browser.pane.show_sessions(self._summaries, browser.current, highlight)
        browser.pane.show_total(self._total())

    def _total(self) -> str:
        parts = [counted(len(self._summaries), "session")]
        if snapshots := sum(self._counts.values()):
            parts.append(counted(snapshots, "snapshot"))
        if self._size:
            parts.append(short_size(self._size))
        return " · ".join(parts)


def _branch(overview: Overview, point: Point) -> Branch | None:
    found = (branch for branch in overview.branches if branch.leaf == point.message)
    return next(found, None)


def _said(context: ContextSnapshot, state: SessionState) -> list[Message]:
    """Return the messages of a context in order, with those that a checkpoint stands for."""
    known = {key: state[key] for key in context.order if key in state}
    known |= {message.id: message for message in context.sent()}
    return [known[key] for key in context.order if key in known]
