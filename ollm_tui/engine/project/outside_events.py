"""Events for outsiders: all that happens in a workspace, as JSON, for extensions and files."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import msgspec

from ollm_tui.core import clock
from ollm_tui.core.compression_events import SummaryArrived
from ollm_tui.core.errors import UsageError
from ollm_tui.core.events import (
    AnyTurnEvent,
    ReasoningArrived,
    SnapshotEvent,
    StoreEvent,
    TextArrived,
)
from ollm_tui.core.session.encoding import to_tree
from ollm_tui.core.session.message import Message
from ollm_tui.core.tool_events import ToolOutputArrived
from ollm_tui.settings.schema import TURN_HOOKS

if TYPE_CHECKING:  # most users have no hooks
    from ollm_tui.services.hooks import Hooks

DELTAS = (TextArrived, ReasoningArrived, ToolOutputArrived, SummaryArrived)
"""Pieces of what arrives, many a second: only `--output stream-json` has them."""

ALL_EVENTS: tuple[type[msgspec.Struct], ...] = tuple(
    dict.fromkeys(
        (*get_args(StoreEvent), *get_args(SnapshotEvent), *get_args(AnyTurnEvent)),
    )
)
"""Every event there is, those of the store and of snapshots first."""

log = logging.getLogger(__name__)


def event_tree(event: object) -> dict[str, Any]:
    """An event for JSON; messages in it have the form they have on disk."""
    tree: dict[str, Any] = msgspec.to_builtins(event)
    for name, value in (
        ("userMessage", getattr(event, "user_message", None)),
        ("message", getattr(event, "message", None)),
    ):
        if isinstance(value, Message):
            tree[name] = to_tree(value)
    return tree


class OutsideEvents:
    """Passes events on to everybody who listens; without listeners nothing is made of them."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[dict[str, Any]], None]] = []

    def subscribe(self, listener: Callable[[dict[str, Any]], None]) -> None:
        """Add a listener; it gets every event as a tree with `event`, `at` and `sessionId`."""
        self._listeners.append(listener)

    def publish(self, event: object, session_id: str = "") -> None:
        """Pass an event on, unless it is only a piece of something."""
        if not self._listeners or isinstance(event, DELTAS):
            return
        tree = {"at": clock.now(), "sessionId": session_id, **event_tree(event)}
        for listener in tuple(self._listeners):
            listener(tree)


class EventHooks:
    """Runs the user's hooks for events of the store, of snapshots, compressions and loops, one
    after the other. Nobody waits for them, and what they print is not used."""

    def __init__(self, hooks: Hooks) -> None:
        self._hooks = hooks
        self._events = frozenset(hook.event for hook in hooks.all) - TURN_HOOKS
        self._last: asyncio.Future[None] | None = None

    def take(self, tree: dict[str, Any]) -> None:
        """Run the hooks of an event after those of the events before it."""
        if tree["event"] in self._events:
            self._last = asyncio.ensure_future(self._run(tree, self._last))

    async def close(self) -> None:
        """Wait for the hooks that run."""
        if self._last:
            await asyncio.wait({self._last})

    async def _run(self, tree: dict[str, Any], before: asyncio.Future[None] | None) -> None:
        if before:
            await asyncio.wait({before})
        await self._hooks.run(tree["event"], tree)


class EventsFile:
    """Writes events into a file, one JSON object a line, in a thread of its own."""

    def __init__(self, path: Path) -> None:
        try:
            self._file = path.expanduser().open("ab")
        except OSError as error:
            raise UsageError(
                f"cannot write events to {path}: {error.strerror}", "name another file"
            ) from error
        self._thread = ThreadPoolExecutor(1, "events")

    def take(self, tree: dict[str, Any]) -> None:
        """Write an event soon, after those before it."""
        self._thread.submit(self._write, tree)

    def close(self) -> None:
        """Write what is left, and close the file."""
        self._thread.shutdown()
        self._file.close()

    def _write(self, tree: dict[str, Any]) -> None:
        try:
            self._file.write(msgspec.json.encode(tree) + b"\n")
            self._file.flush()
        except (OSError, ValueError) as error:
            log.warning("an event was not written: %s", error)
