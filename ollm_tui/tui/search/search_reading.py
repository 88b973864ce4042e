"""Reads what the search screen shows: hits with every letter, their session when the highlight
rests."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing
from functools import partial

from textual.worker import Worker

from ollm_tui.core.counts import counted
from ollm_tui.core.errors import OllmError, StoreError
from ollm_tui.core.search import Hit, IndexProgress, Order, Query, Results
from ollm_tui.core.session.session_state import SessionState, recorded_calls
from ollm_tui.services.search.query import parse_query
from ollm_tui.tui.search.hit_preview import Place
from ollm_tui.tui.search.port import SearchPort
from ollm_tui.tui.search.words import GONE, SEARCH_AGAIN, count_so_far
from ollm_tui.tui.stream.entries.job_entries import with_commands
from ollm_tui.tui.stream.entries.message_entries import each_entry
from ollm_tui.tui.stream.transcript.entry import Entry
from ollm_tui.tui.stream.transcript.spots import Terms

MADE_AT_ONCE = 500
"""Entries of the preview that are made before keys are heard again."""
REST_SECONDS = 0.05
"""How long the highlight rests on a hit before its session is read: not while it passes."""
SHOWN_FROM = 20
"""From how many sessions on progress is shown: fewer are read before a number could be."""


class SearchReading:
    """Reads for one search screen, and has it show what was read."""

    def __init__(self, search: SearchPort) -> None:
        self._search = search
        self._history = search.workspace.history
        self.query = Query()
        self.results = Results((), 0, at_least=False)
        self.order: Order = "relevance"
        self._looking: Worker[None] | None = None
        self._place: Place | None = None
        """The branch that was read last."""

    def begin(self) -> None:
        """Take in what is not in the index yet, then search again."""
        self._search.screen.run_worker(self._refresh, group="refresh")

    def end(self) -> None:
        """End the search that runs, and give back the memory it took."""
        self._history.cancel()
        self._history.release()

    def look_for(self, text: str, *, is_new: bool = True) -> None:
        """Search for words; a search that still runs is given up."""
        work = partial(self._look_for, text, is_new=is_new)
        self._looking = self._search.screen.run_worker(work, group="search", exclusive=True)

    def look_at(self, hit: Hit | None) -> None:
        """Show a hit among the messages around it; None clears the preview."""
        work = partial(self._look_at, hit)
        self._search.screen.run_worker(work, group="preview", exclusive=True)

    def show_progress(self, progress: IndexProgress) -> None:
        """Show how far the index is; what was not found in it yet is looked for again."""
        is_waiting = not (self.query.asks_nothing or self.results.total)
        if is_waiting and (self._looking is None or self._looking.is_finished):
            self.look_for(self._search.text, is_new=False)
        if progress.total >= SHOWN_FROM:
            done = f"{progress.done:,} of {counted(progress.total, 'session')}"
            self._search.show_count(f"Reading {done}")

    @property
    def words(self) -> Terms:
        """The words to mark in the preview and in the chat."""
        return Terms(self.results.marked or self.query.terms, self.results.where)

    async def place(self, hit: Hit) -> Place:
        """Return the branch that a hit is on. StoreError if the message is gone.

        The last branch is kept: hits of one session follow each other.
        """
        known = self._place
        if known and known.state.header.session_id == hit.session_id:
            if hit.message_id in known.branch or hit.message_id in known.calls:
                return known
            state = known.state
        else:
            state = await self._search.workspace.points.state(hit.session_id)
        calls = recorded_calls(state).apart
        if hit.message_id not in state and hit.message_id not in calls:
            raise StoreError(GONE, SEARCH_AGAIN)
        branch = _branch_through(state, hit.message_id)
        entries: list[Entry] = []
        for entry in each_entry(state, branch[-1]) if branch else ():
            entries.append(entry)
            if len(entries) % MADE_AT_ONCE == 0:
                await asyncio.sleep(0)  # keys come first
        self._place = Place(state, branch, with_commands(entries, state), calls)
        return self._place

    async def _refresh(self) -> None:
        stop = self._history.progress.subscribe(self.show_progress)
        try:
            await self._history.refresh()
        except OllmError as error:
            self._search.complain(error)
        finally:
            stop()
        self.look_for(self._search.text, is_new=False)
        if host := await self._history.meaning.host_to_allow():
            self._search.ask_to_send(host)
        else:
            self._history.meaning.wake()

    async def _look_for(self, text: str, *, is_new: bool) -> None:
        self.query = query = parse_query(text, typing=True)
        self._search.show_notes(query.notes)
        if query.asks_nothing:
            self._history.cancel()
            self._show(Results((), 0, at_least=False), is_new=is_new)
            self._search.show_overview(None, "")
            return
        begun = time.perf_counter()
        took = ""
        try:
            async with aclosing(self._history.search(query, order=self.order)) as found:
                results = Results((), 0, at_least=False)
                async for results in found:
                    took = took or f"{(time.perf_counter() - begun) * 1000:.0f} ms"
                    if results.total:  # "nothing" is said when the search has ended
                        self._show(results, is_new=is_new)
                        self._search.show_count(count_so_far(results, took))
                        is_new = False
                if not results.total:
                    self._show(results, is_new=is_new)
            overview = await self._history.overview(query, results.where, results.others)
        except OllmError as error:
            self._search.complain(error)
            return
        if overview:
            self._search.show_overview(overview, took)

    def _show(self, results: Results, *, is_new: bool) -> None:
        self.results = results
        self._search.show_results(results, is_new=is_new)

    async def _look_at(self, hit: Hit | None) -> None:
        preview = self._search.preview
        if hit is None:
            preview.show_problem("")
            return
        await asyncio.sleep(REST_SECONDS)
        try:
            place = await self.place(hit)
        except OllmError as error:
            preview.show_problem(error.lines)
            return
        preview.show(hit, place, self.words)


def _branch_through(state: SessionState, message_id: str) -> list[str]:
    """Return the ids of the current branch if it has the message, else of the latest branch through
    it. What is no message is on every branch."""
    current = [message.id for message in state.branch()]
    if message_id in current or message_id not in state:
        return current
    return [message.id for message in state.branch(state.latest_leaf(message_id))]
