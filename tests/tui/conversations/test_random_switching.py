"""Going about in four conversations at random: each record is what was done in it, and no more."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from textual.pilot import Pilot

from ollm_tui.core.provider import ChatRequest, Completed, TextDelta
from ollm_tui.providers.scripted import Scripted, Step
from ollm_tui.settings.schema import ProviderSettings, Settings
from ollm_tui.tui.app import OllmApp
from tests.conftest import LONG
from tests.tui.conftest import OpenApp
from tests.tui.conversations.test_several_conversations import begin_another
from tests.tui.seen import chat, settled, stream
from tests.tui.typing_in import type_in

HOW_MANY = 4
QUESTION = re.compile(r"q(\d)\.")
LOOKS = 300
"""A program that is at rest so often, and has not done what is waited for, will not do it."""
Act = Literal["send", "finish", "cancel", "look", "finish behind"]
acts = st.lists(
    st.tuples(
        st.integers(0, HOW_MANY - 1),
        st.sampled_from(("send", "send", "finish", "cancel", "look", "finish behind")),
    ),
    min_size=4,
    max_size=10,
)
OFTEN: list[tuple[int, Act]] = [
    (0, "send"),
    (2, "cancel"),
    (0, "finish behind"),
    (1, "send"),
    (3, "look"),
    (1, "finish behind"),
    (3, "cancel"),
    (0, "look"),
]
"""A walk on which whatever reaches another conversation is noticed."""


class Said(NamedTuple):
    role: str
    text: str
    status: str


class Alone:
    """What one conversation has to be, told by what was done in it and nothing else."""

    def __init__(self) -> None:
        self.said: list[Said] = []
        self.running = ""
        self._waiting: deque[str] = deque()

    def send(self, words: str) -> None:
        self._waiting.append(words)
        if not self.running:
            self._next()

    def end(self, status: str) -> None:
        text = f"To {self.running}: begun" + (" over" if status == "complete" else "")
        self.said += [Said("user", self.running, "complete"), Said("assistant", text, status)]
        self.running = ""
        if status == "complete":
            self._next()  # after a stop, what waits is held back

    def _next(self) -> None:
        self.running = self._waiting.popleft() if self._waiting else ""


class Walk:
    """The screen, and what it has to have come to."""

    def __init__(self, app: OllmApp, pilot: Pilot[int], gates: dict[str, asyncio.Event]) -> None:
        self._app = app
        self._pilot = pilot
        self._gates = gates
        self.there = [Alone() for _ in range(HOW_MANY)]
        self._count = 0

    async def begin(self) -> None:
        """Open all of them, with an answer that runs in each."""
        for number in range(HOW_MANY):
            if number:
                await begin_another(self._app, self._pilot)
            await self._send(number)

    async def do(self, number: int, act: Act) -> None:
        here = self.there[number]
        if act == "finish behind":
            await self._finish_behind(number)
            return
        await self._pilot.press(f"alt+{number + 1}")
        await self._until(lambda: self._shown == number, f"conversation {number} is shown")
        await self._seen(here)
        if act == "send":
            await self._send(number)
        elif act == "finish" and here.running:
            self._gates[here.running].set()
            await self._end(here, "complete")
        elif act == "cancel" and here.running:
            await self._pilot.press("escape")
            await self._end(here, "cancelled")

    async def end(self) -> None:
        for number, here in enumerate(self.there):
            while here.running:
                await self.do(number, "finish")
        await settled(self._app, self._pilot)

    def said(self, number: int) -> list[Said]:
        branch = self._app.conversations[number].state.branch()
        return [Said(each.role, each.text, each.status) for each in branch]

    async def _send(self, number: int) -> None:
        here, self._count = self.there[number], self._count + 1
        words = f"q{number}.{self._count}"
        self._gates[words] = asyncio.Event()
        here.send(words)
        await type_in(self._pilot, words)
        await self._pilot.press("enter")
        await self._seen(here)

    async def _finish_behind(self, number: int) -> None:
        """Let an answer come to its end wherever the user is; what waits is sent then."""
        here = self.there[number]
        if not here.running:
            return
        self._gates[here.running].set()
        here.end("complete")
        begun = [Said("user", here.running, "complete")] if here.running else []
        there = len(here.said) + len(begun)
        await self._until(
            lambda: self.said(number)[:there] == [*here.said, *begun],
            f"conversation {number} has {here.said}, then {here.running!r}",
        )
        await self._pilot.pause()
        self._shows_only_its_own()

    async def _end(self, here: Alone, status: str) -> None:
        here.end(status)
        if not here.running:
            await self._until(lambda: not chat(self._app).chat.is_busy, f"{status}, and at rest")
        await self._seen(here)

    async def _seen(self, here: Alone) -> None:
        """Wait until the answer that runs is on the screen: only then can it be stopped as far."""
        words = f"To {here.running}: begun"
        if here.running:
            await self._until(lambda: words in " ".join(stream(self._app)), words)
        self._shows_only_its_own()

    @property
    def _shown(self) -> int:
        return self._app.conversations.index(chat(self._app).chat.conversation)

    def _shows_only_its_own(self) -> None:
        lines = stream(self._app)
        assert {int(one) for one in QUESTION.findall(" ".join(lines))} <= {self._shown}, lines

    async def _until(self, holds: Callable[[], bool], what: str) -> None:
        for _ in range(LOOKS):
            if holds():
                return
            await self._pilot.pause(0.01)
        pytest.fail(f"it never came to this: {what}\n{stream(self._app)}")


@settings(
    max_examples=20 if LONG else 1,
    # To make a walk shorter is to wait again and again for what never comes.
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@example(done=OFTEN)
@given(done=acts)
async def test_each_record_tells_only_what_was_done_in_it(
    open_app: OpenApp, done: list[tuple[int, Act]]
) -> None:
    gates: dict[str, asyncio.Event] = {}

    def answer(request: ChatRequest) -> Sequence[Step]:
        words = [each.text for each in request.messages if each.role == "user"][-1]
        begun = TextDelta(f"To {words}: begun")
        return [begun, gates[words], TextDelta(" over"), Completed(finish="stop")]

    parallel = Settings(providers={"scripted": ProviderSettings(parallel=HOW_MANY)})
    async with open_app(Scripted(answer), size=(120, 50), settings=parallel) as (app, pilot):
        walk = Walk(app, pilot, gates)
        await walk.begin()
        for number, act in done:
            await walk.do(number, act)
        await walk.end()
        found = [walk.said(number) for number in range(HOW_MANY)]
    assert found == [each.said for each in walk.there]
