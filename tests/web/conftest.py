"""Starts `ollm serve` and opens its page in Debian's chromium."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright
from playwright.sync_api import TimeoutError as PageTimeout

from tests.cli.conftest import run_ollm as run_ollm
from tests.stand_ins.warm_command import OLLM

PATIENCE_MILLISECONDS = 60_000
"""A page that shows nothing new for as long hangs."""
# xterm.js keeps cells that no longer fit, out of sight; a cell that can be seen has its own place.
SCREEN = """() => {
    const screen = document.querySelector(".xterm-screen")?.getBoundingClientRect();
    const rows = document.querySelectorAll(".xterm-rows > div");
    const visible = row => Array.from(row.querySelectorAll("span"))
        .filter(cells => cells.getBoundingClientRect().left < screen.right - 1)
        .map(cells => cells.innerText).join("");
    return Array.from(rows, visible).join("\\n").replaceAll("\\u00a0", " ");
}"""
PLACE = """word => {
    const walk = document.createTreeWalker(document.querySelector(".xterm-rows"), 4);
    while (walk.nextNode()) {
        const at = walk.currentNode.data.indexOf(word);
        if (at < 0) continue;
        const range = document.createRange();
        range.setStart(walk.currentNode, at);
        range.setEnd(walk.currentNode, at + word.length);
        const box = range.getBoundingClientRect();
        return [box.left + 1, box.right - 1, box.top + box.height / 2];
    }
}"""
SWIPE = """([from, to]) => {
    const target = document.querySelector(".xterm-screen");
    const at = clientY => [new Touch({ identifier: 1, target, clientX: 100, clientY })];
    const send = (name, touches) => target.dispatchEvent(
        new TouchEvent(name, { touches, bubbles: true, cancelable: true }));
    send("touchstart", at(from));
    for (let step = 1; step <= 10; step++) send("touchmove", at(from + (to - from) * step / 10));
    send("touchend", []);
}"""
HAS_TEXT = f"words => words.every(each => ({SCREEN})().includes(each))"
LACKS_TEXT = f"word => !({SCREEN})().includes(word)"


class Served:
    """A running `ollm serve` and what it printed."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout
        self.process = process
        self.addresses: list[str] = []
        for line in process.stdout:
            if found := re.search(r"https?://\S+", line):
                self.addresses.append(found[0])
            if line.startswith("Ctrl+C"):
                break

    @property
    def address(self) -> str:
        """The first address that it printed."""
        return self.addresses[0]

    @property
    def host(self) -> str:
        """Its name and port."""
        return urlsplit(self.address).netloc

    def children(self) -> list[int]:
        """The programs of its tabs."""
        path = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(each) for each in path.read_text().split()]


Serve = Callable[..., Served]


@pytest.fixture
def serve(home: Path) -> Iterator[Serve]:
    """Starts `ollm serve`; with `script` the model says that. It ends with the test."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str, script: Any = None, **variables: str) -> Served:
        environment = dict(os.environ) | variables
        if script is not None:
            file = home.parent / "script.json"
            file.write_text(json.dumps(script))
            environment["OLLM_TEST_SCRIPT"] = str(file)
        command = [str(OLLM), "serve", *arguments]
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        started.append(process)
        return Served(process)

    yield start
    for process in started:
        process.send_signal(signal.SIGTERM)
        process.communicate()


class Tab:
    """A tab of the browser: what a user types into it and reads in it."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def type(self, text: str) -> None:
        """Type letters."""
        self.page.keyboard.type(text)

    def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            self.page.keyboard.press(key)

    def swipe(self, start: int, end: int) -> None:
        """Move a finger up or down over the screen."""
        self.page.evaluate(SWIPE, [start, end])

    def wait_for(self, *words: str) -> None:
        """Wait until all words are on the screen at once."""
        self._wait(HAS_TEXT, list(words))

    def wait_until_gone(self, word: str) -> None:
        """Wait until a word is no longer on the screen."""
        self._wait(LACKS_TEXT, word)

    def _wait(self, condition: str, words: object) -> None:
        try:
            self.page.wait_for_function(condition, arg=words, timeout=PATIENCE_MILLISECONDS)
        except PageTimeout:
            pytest.fail(f"waited in vain for {words}:\n{self.screen()}")

    def place(self, word: str) -> tuple[float, float, float]:
        """Where a word begins and ends, and its height."""
        left, right, height = self.page.evaluate(PLACE, word)
        return left, right, height

    def screen(self) -> str:
        """What is on the screen, line by line."""
        return self.page.evaluate(SCREEN)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One chromium, which can resolve no name, so that nothing but loopback is reached.

    Not for the whole run: Playwright keeps a loop running, in which no async test could run.
    """
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("there is no chromium (apt install chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program,
            args=["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"],
        )
        yield browser
        browser.close()


Open = Callable[..., Tab]


@pytest.fixture
def open_tab(browser: Browser) -> Iterator[Open]:
    """Opens an address in a tab. In the end nothing but loopback was asked for, and no script
    failed."""
    contexts: list[BrowserContext] = []
    asked: list[str] = []
    failures: list[str] = []

    def open_one(address: str, width: int = 1000, height: int = 600) -> Tab:
        if not contexts:
            contexts.append(browser.new_context())
            contexts[0].grant_permissions(["clipboard-read", "clipboard-write"])
        page = contexts[0].new_page()
        page.set_viewport_size({"width": width, "height": height})
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: failures.append(str(error)))
        page.on(
            "console", lambda said: failures.append(said.text) if said.type == "error" else None
        )
        page.goto(address)
        return Tab(page)

    yield open_one
    for context in contexts:
        context.close()
    # A server that has ended is asked for again and again.
    assert not [each for each in failures if "ERR_CONNECTION_REFUSED" not in each]
    assert {urlsplit(each).hostname for each in asked} <= {"127.0.0.1", None}
