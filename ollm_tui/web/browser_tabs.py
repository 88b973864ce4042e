"""All tabs of one server: each finds its program again after a reload, a sleep or a lost line."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from ollm_tui.core.errors import OllmError
from ollm_tui.web.browser_tab import BrowserTab
from ollm_tui.web.terminal_program import Size, TerminalProgram

KEPT_SECONDS = 60.0
"""How long the program of a tab goes on while no page shows it."""
MOST_TABS = 16
"""Each tab is a process of some 100 MB. Tabs of others are counted apart: however many look on, the
user can open one."""
MOST_REMEMBERED = 200


class TabKey(NamedTuple):
    """What names a tab: what it may see, and the name its page gave itself."""

    view: str
    name: str


Start = Callable[[str, str | None, Size], Awaitable[TerminalProgram]]
"""Starts the program of a tab: what it may see, the session to go on with, its size."""


class BrowserTabs:
    """Starts and ends the programs of tabs."""

    def __init__(
        self, start: Start, read_only: frozenset[str], kept_seconds: float = KEPT_SECONDS
    ) -> None:
        self._start = start
        self._read_only = read_only
        self._kept_seconds = kept_seconds
        self._tabs: dict[TabKey, BrowserTab] = {}
        self._sessions: dict[TabKey, str] = {}
        """The sessions of tabs whose programs were ended because nobody looked."""
        self._leaving: dict[TabKey, asyncio.TimerHandle] = {}
        self._ending: dict[TabKey, asyncio.Task[None]] = {}
        self._opening = asyncio.Lock()

    async def open(self, key: TabKey, size: Size) -> BrowserTab:
        """Return a tab, with its program started if it does not run. OllmError if there are too
        many, or the program cannot be started."""
        if leaving := self._leaving.pop(key, None):
            leaving.cancel()
        if ending := self._ending.get(key):
            await asyncio.wait((ending,))  # what it said is saved then, and is opened again
        async with self._opening:
            if tab := self._tabs.get(key):
                return tab
            if sum(each.view == key.view for each in self._tabs) >= MOST_TABS:
                raise OllmError("too many open tabs", "close some")
            program = await self._start(key.view, self._sessions.pop(key, None), size)
            tab = BrowserTab(
                program,
                is_read_only=key.view in self._read_only,
                ended=lambda ended: self._forget(key, ended),
            )
            self._tabs[key] = tab
            return tab

    def leave(self, key: TabKey) -> None:
        """Note that a page is gone: its program ends after a while if nobody comes back."""
        tab = self._tabs.get(key)
        if tab and not tab.is_shown and key not in self._leaving:
            loop = asyncio.get_running_loop()
            self._leaving[key] = loop.call_later(self._kept_seconds, self._begin_end, key, tab)

    async def close(self) -> None:
        """End all programs; each saves first."""
        for leaving in self._leaving.values():
            leaving.cancel()
        await asyncio.gather(*(tab.end() for tab in tuple(self._tabs.values())))
        await asyncio.gather(*self._ending.values())

    def _begin_end(self, key: TabKey, tab: BrowserTab) -> None:
        del self._leaving[key]
        task = asyncio.create_task(self._end(key, tab))
        self._ending[key] = task
        task.add_done_callback(lambda _: self._ending.pop(key))

    async def _end(self, key: TabKey, tab: BrowserTab) -> None:
        await tab.end()
        if tab.session:
            self._sessions[key] = tab.session
            for oldest in tuple(self._sessions)[:-MOST_REMEMBERED]:
                del self._sessions[oldest]

    def _forget(self, key: TabKey, tab: BrowserTab) -> None:
        if self._tabs.get(key) is tab:
            del self._tabs[key]
