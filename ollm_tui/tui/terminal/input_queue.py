"""What the terminal sends, handed on in its order: each key has had its effect before the next."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any

from textual.app import App
from textual.dom import DOMNode
from textual.events import (
    AppBlur,
    AppFocus,
    Event,
    InputEvent,
    Key,
    MouseMove,
    MouseScrollDown,
    MouseScrollLeft,
    MouseScrollRight,
    MouseScrollUp,
    Paste,
)
from textual.keys import key_to_character
from textual.screen import Screen
from textual.widget import Widget

PATIENCE_SECONDS = 5.0
"""How long input waits for what an earlier key started. Esc and Ctrl+C have to get through."""
LOOK_SECONDS = 0.05
"""How often a long wait is looked after: a key may have opened a dialog that waits for the next."""
MOST_ROUNDS = 20
"""How often the queues are looked through: an animation may never leave them empty."""
_PASSIVE = (MouseMove, MouseScrollDown, MouseScrollLeft, MouseScrollRight, MouseScrollUp)
"""Events that neither change what a key means nor have to wait for one."""


class InputQueue:
    """Hands on what the terminal sends, each event when the one before it has had its effect.

    Textual alone sends a key to whatever has the focus when the key arrives, and does what is bound
    to it only after it has bubbled up to the application. Of keys that arrive together, letters
    would overtake those that are bound, and keys behind one that opens a dialog would miss it.
    """

    def __init__(
        self,
        app: App[Any],
        handle: Callable[[Event], Coroutine[Any, Any, None]],
        fail: Callable[[Exception], None],
    ) -> None:
        """`handle` is what the application itself does with an event, `fail` tells of an error."""
        self._app = app
        self._handle = handle
        self._fail = fail
        self._waiting: deque[Event] = deque()
        self._tasks: set[asyncio.Task[None]] = set()
        """Everything under way; without a reference a task may be gone before it has ended."""
        self._worker: asyncio.Task[None] | None = None
        self._target: DOMNode | None = None
        """What the event before was sent to; None before the first."""
        self._target_front: Screen[Any] | None = None
        """The screen that was in front then."""
        self._field: Widget | None = None
        """The text field it was typed into, if it was text."""

    @staticmethod
    def takes(event: Event) -> bool:
        """Whether an event comes from the terminal and has its place among the keys."""
        return isinstance(event, InputEvent | Paste | AppFocus | AppBlur) and not event.is_forwarded

    async def add(self, event: Event) -> None:
        """Hand an event on, now or when its turn comes."""
        is_free = self._worker is None or self._worker.done()
        if is_free and self._goes_at_once(event):
            await self._hand_on(event)
            return
        self._waiting.append(event)
        if is_free:
            self._worker = self._start(self._hand_on_all())

    def _goes_at_once(self, event: Event) -> bool:
        """Whether an event waits for nothing: more text for a field keeps its order there, and
        before the first text there was nothing to wait for."""
        if isinstance(event, _PASSIVE):
            return True
        field = self._field_for(event)
        return field is not None and (field is self._field or self._target is None)

    async def _hand_on_all(self) -> None:
        while self._waiting and self._app.is_running:
            event = self._waiting[0]
            if self._goes_at_once(event):
                await self._hand_on(self._waiting.popleft())
                continue
            await self._wait_for_effects()
            if isinstance(event, Key | Paste):
                # Whatever the terminal said: who types is there. Textual does so for keys only.
                self._app.app_focus = True
            await self._patiently(self._hand_on(self._waiting.popleft()))

    async def _hand_on(self, event: Event) -> None:
        if not isinstance(event, _PASSIVE):
            self._field = self._field_for(event)
            self._target_front = self._front
            self._target = self._app.focused or self._front or self._app
        await self._handle(event)

    async def _wait_for_effects(self) -> None:
        """Wait until the event before has had its effect, on whatever screen is in front then."""
        target, front = self._target, self._target_front
        while True:
            if front is not self._front:  # the other screen may wait for this one to be closed
                front = self._front
                target = target and front
            await self._patiently(self._settle(target))
            if front is self._front:
                return

    async def _patiently(self, work: Coroutine[Any, Any, None]) -> None:
        """Wait for some work, unless it takes too long or waits for what comes next itself."""
        loop, front = asyncio.get_running_loop(), self._front
        task, end = self._start(work), loop.time() + PATIENCE_SECONDS
        while not task.done() and self._front is front and loop.time() < end:
            await asyncio.wait({task}, timeout=LOOK_SECONDS)

    async def _settle(self, target: DOMNode | None) -> None:
        """Wait until an event that was sent somewhere has had its effect: first on the way up, then
        wherever it has led to, such as a screen that is being opened."""
        if target is None:  # the first screen has to be there, and no more
            await _reach(self._front or self._app)
            return
        for node in target.ancestors_with_self:
            await _reach(node)
        seen: Screen[Any] | None = None
        for _ in range(MOST_ROUNDS):
            front = self._front
            if front is None:
                return
            nodes = (*front.walk_children(with_self=True), self._app)
            busy = [node for node in nodes if node.message_queue_size]
            if front is not seen:  # it may be about to show itself, with nothing in its queue
                busy.append(front)
            if not busy:
                return
            seen = front
            await _reach(*busy)

    def _field_for(self, event: Event) -> Widget | None:
        """Return the text field that takes an event as text and has the focus."""
        if isinstance(event, Key):
            key, letter = event.key, key_to_character(event.key)
        elif isinstance(event, Paste):
            key = letter = "a"  # who takes a letter takes a paste
        else:
            return None
        focused = self._app.focused
        return focused if focused and focused.check_consume_key(key, letter) else None

    @property
    def _front(self) -> Screen[Any] | None:
        stack = self._app.screen_stack
        return stack[-1] if stack else None

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._end)
        return task

    def _end(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, Exception):
            self._fail(error)


async def _reach(*nodes: DOMNode) -> None:
    """Wait until nodes have dealt with everything that was sent to them before."""
    reached = [asyncio.Event() for _ in nodes]
    for node, event in zip(nodes, reached, strict=True):
        if not node.call_later(event.set):  # it is gone
            event.set()
    for event in reached:
        await event.wait()
