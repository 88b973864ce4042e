"""Programs behind tabs: they outlive pages for a while, and no page can hold them up."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ollm_tui.core.errors import OllmError
from ollm_tui.providers.llama_cpp.shared_server import ModelSharing
from ollm_tui.web.browser_tab import ENDED, MOST_UNREAD, RESET, TAKEN, BrowserTab
from ollm_tui.web.browser_tabs import MOST_TABS, BrowserTabs, TabKey
from ollm_tui.web.serving import OWN, SHARED, starter
from ollm_tui.web.terminal_program import Size, TerminalProgram
from tests.end_to_end.terminal import Picture
from tests.providers.test_embedded import children

PATIENCE_SECONDS = 60
SIZE = Size(80, 24)
KEY = TabKey(OWN, "first")


class Watched:
    """The connection of a page that keeps what it was sent."""

    def __init__(self) -> None:
        self.sent = b""
        self.code: int | None = None
        self._news = asyncio.Event()

    async def send_bytes(self, data: bytes) -> None:
        self.sent += data
        self._news.set()

    async def close(self, *, code: int) -> None:
        self.code = code
        self._news.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until something holds."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not condition():
                self._news.clear()
                await self._news.wait()

    async def shows(self, *words: str) -> None:
        """Wait until all words are on the screen at once."""
        await self.until(lambda: all(each in self.screen() for each in words))

    def screen(self) -> str:
        picture = Picture(SIZE)
        picture.feed(self.sent.decode("utf-8", "replace"))
        return picture.text


async def python(source: str) -> TerminalProgram:
    """A program in a terminal that is not ours."""
    return await TerminalProgram.start((sys.executable, "-c", source), os.environ, SIZE)


def ignore(_tab: BrowserTab) -> None:
    pass


async def test_a_page_that_comes_back_late_finds_its_session_and_its_draft(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = home.parent / "script.json"
    script.write_text(json.dumps([[{"text": "Half of an answer"}, {"wait": 600}]]))
    monkeypatch.setenv("OLLM_TEST_SCRIPT", str(script))
    models = ModelSharing()
    tabs = BrowserTabs(starter({OWN: ()}, models), frozenset(), kept_seconds=0)
    first = Watched()
    tab = await tabs.open(KEY, SIZE)
    tab.attach(first, SIZE)
    await first.shows("Type a message")
    await tab.type(b"Tell me all\r")
    await first.shows("Half of an answer")
    await tab.type(b"next I ask")
    await first.shows("next I ask")
    reloaded = Watched()
    page = tab.attach(reloaded, SIZE)  # everything is drawn again, although nothing has changed
    await reloaded.shows("Tell me all", "Half of an answer", "next I ask")
    tab.detach(page)
    tabs.leave(KEY)
    for _ in range(2):  # the minute, which has no seconds here, is over
        await asyncio.sleep(0)
    second = Watched()
    again = await tabs.open(KEY, SIZE)
    assert again is not tab
    again.attach(second, SIZE)
    await second.shows("Tell me all", "Half of an answer", "next I ask")
    await tabs.close()
    await models.close()
    assert second.code == ENDED


@pytest.mark.more
async def test_a_page_that_comes_back_in_time_finds_the_same_program() -> None:
    async def start(_view: str, _session: str | None, _size: Size) -> TerminalProgram:
        return await python("print('ready', flush=True); input()")

    tabs = BrowserTabs(start, frozenset())
    tab = await tabs.open(KEY, SIZE)
    tab.detach(tab.attach(Watched(), SIZE))
    tabs.leave(KEY)
    assert await tabs.open(KEY, SIZE) is tab
    assert await tabs.open(TabKey(OWN, "other"), SIZE) is not tab
    for number in range(2, MOST_TABS):
        await tabs.open(TabKey(OWN, str(number)), SIZE)
    with pytest.raises(OllmError, match="too many"):
        await tabs.open(TabKey(OWN, "last"), SIZE)
    await tabs.open(TabKey(SHARED, "last"), SIZE)
    await tabs.close()


async def test_another_page_takes_a_tab_over_in_the_modes_it_had() -> None:
    source = r"""
import sys, time
for piece in ("\x1b[?10", "49h\x1b[?1000;1006h\x1b[?25l", "\x1b[?25h\x1b[?1006lready"):
    sys.stdout.write(piece); sys.stdout.flush(); time.sleep(0.05)
input()
"""
    tab = BrowserTab(await python(source), is_read_only=False, ended=ignore)
    first, second = Watched(), Watched()
    tab.attach(first, SIZE)
    await first.until(lambda: b"ready" in first.sent)
    tab.attach(second, SIZE)
    await first.until(lambda: first.code == TAKEN)
    await second.until(lambda: bool(second.sent))
    assert second.sent.startswith(RESET)
    modes = second.sent.removeprefix(RESET)
    assert modes == b"\x1b[?1049h\x1b[?1000h\x1b[?25h\x1b[?1006l"
    await tab.end()
    assert second.code == ENDED


async def test_a_page_that_shows_nothing_holds_no_program_up_and_is_drawn_anew() -> None:
    source = f"import sys; sys.stdout.write('x' * {4 * MOST_UNREAD}); print('all written')"
    ended = asyncio.Event()
    tab = BrowserTab(await python(source), is_read_only=False, ended=lambda _: ended.set())
    slow = Watched()
    page = tab.attach(slow, SIZE)
    async with asyncio.timeout(PATIENCE_SECONDS):
        await ended.wait()  # it has written all of it, although nothing was read
    await slow.until(lambda: slow.code == ENDED)
    assert MOST_UNREAD < len(slow.sent) < 2 * MOST_UNREAD
    assert page.note_read(1) is False
    assert page.note_read(len(slow.sent)) is True
    assert page.note_read(0) is False


@pytest.mark.more
async def test_where_nothing_may_be_typed_only_scrolling_arrives() -> None:
    source = r"""
import os, sys, tty
tty.setraw(0)
print("ready", flush=True)
seen = b""
while not seen.endswith(b"\x1b[6~"):
    seen += os.read(0, 1000)
print(seen.hex(), flush=True)
"""
    tab = BrowserTab(await python(source), is_read_only=True, ended=ignore)
    page = Watched()
    tab.attach(page, SIZE)
    await page.until(lambda: b"ready" in page.sent)
    for keys in (b"rm -rf\r", b"\x03", b"\x1b[5~", b"\x1bOR", b"\x1b[<0;3;4M", b"\x1b[<65;3;4M"):
        await tab.type(keys)
    await tab.type(b"\x1b[6~")
    await page.until(lambda: page.code == ENDED)
    assert b"\x1b[5~\x1b[<65;3;4M\x1b[6~".hex().encode() in page.sent


async def test_a_program_that_does_not_read_is_ended_all_the_same() -> None:
    tab = BrowserTab(await python("import time; time.sleep(600)"), is_read_only=False, ended=ignore)
    typing = asyncio.create_task(tab.type(b"x" * 1_000_000))
    await tab.end()
    await typing


@pytest.mark.long
@pytest.mark.model
async def test_all_tabs_have_their_answers_from_one_server_of_the_model(model_home: Path) -> None:
    models = ModelSharing()
    tabs = BrowserTabs(starter({OWN: ()}, models), frozenset())
    pages = [Watched(), Watched()]
    for number, page in enumerate(pages):
        tab = await tabs.open(TabKey(OWN, str(number)), SIZE)
        tab.attach(page, SIZE)
        await page.shows("Type a message")
        await tab.type(b"What is the capital of France?\r")
    for page in pages:
        await page.shows("is Paris", "saved")
    assert len(children()) == 1
    await tabs.close()
    await models.close()
    assert children() == []
