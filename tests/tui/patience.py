"""How a pilot waits: until what it did has had its effect, and no longer.

Textual looks whether the process has used the processor in the last 20 ms, twice for each key. On a
loaded machine a program that gets no processor looks idle, and on any machine most of the time of
the tests went there. Whether the loop, the pools of threads and the timers have something to do can
be seen instead.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from math import inf
from time import monotonic
from typing import Any, cast

import pytest
import textual.app
import textual.pilot
from textual._context import active_app
from textual.app import App
from textual.pilot import Pilot

MOMENT_SECONDS = 0.04
"""A timer that ends sooner belongs to what is being done: a screen is drawn within two frames."""
MOST_MOMENTS = 50
"""So many timers in a row belong to something that goes on by itself."""
MOST_TURNS = 10_000
"""So many turns of the loop without a rest belong to something that never rests."""
QUIET_TURNS = 3
"""A task that ends wakes the one that waits for it a turn later."""
LONGEST_SECONDS = 2
"""What a thread does longer is none of what is waited for: it waits for something itself."""

_in_threads: dict[Future[Any], float] = {}
"""What threads have to do, and since when."""


@pytest.fixture(autouse=True)
def exact_pilots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every pilot waits as this module says."""
    submit = ThreadPoolExecutor.submit

    def noted(
        pool: ThreadPoolExecutor, work: Callable[..., Any], /, *arguments: Any, **options: Any
    ) -> Future[Any]:
        future = submit(pool, work, *arguments, **options)
        _in_threads[future] = monotonic()
        future.add_done_callback(lambda done: _in_threads.pop(done, None))
        return future

    shut_down = cast(Any, App)._shutdown

    async def shut_down_as_when_quitting(app: App[Any]) -> None:
        app.workers.cancel_all()  # elsewhere they end before the widgets go; `run_test` forgets it
        await shut_down(app)

    monkeypatch.setattr(ThreadPoolExecutor, "submit", noted)
    monkeypatch.setattr(App, "_shutdown", shut_down_as_when_quitting)
    monkeypatch.setattr(textual.app, "wait_for_idle", wait_for_idle)
    monkeypatch.setattr(textual.pilot, "wait_for_idle", wait_for_idle)


async def wait_for_idle(min_sleep: float = MOMENT_SECONDS, max_sleep: float = 1) -> None:
    """Wait until the program waits for its user, for a timer, or for something outside of it."""
    loop = asyncio.get_running_loop()
    start = loop.time()
    moments = 0
    while True:
        await _rest(loop)
        if _threads_work() or _has_keys(active_app.get(None)):
            await asyncio.sleep(0.001)
        elif moments < MOST_MOMENTS and (due := _next_timer(loop)) < loop.time() + MOMENT_SECONDS:
            moments += 1
            await asyncio.sleep(max(0, due - loop.time()))
        elif loop.time() < start + min_sleep:
            await asyncio.sleep(min_sleep)
        else:
            return


def _threads_work() -> bool:
    young = monotonic() - LONGEST_SECONDS
    return any(since > young for since in tuple(_in_threads.values()))


async def _rest(loop: asyncio.AbstractEventLoop) -> None:
    """Let the loop turn until nothing but this is left to run."""
    ready = cast(Any, loop)._ready
    quiet = turns = 0
    while quiet < QUIET_TURNS and turns < MOST_TURNS:
        turns += 1
        await asyncio.sleep(0)
        quiet = 0 if ready else quiet + 1


def _next_timer(loop: asyncio.AbstractEventLoop) -> float:
    timers = cast("list[asyncio.TimerHandle]", cast(Any, loop)._scheduled)
    return min((timer.when() for timer in timers if not timer.cancelled()), default=inf)


def patient(pilot: Pilot[Any]) -> None:
    """Have a pilot's `press` and `pause` wait until every key so far has had its effect."""
    inner = cast(Any, pilot)
    wait = inner._wait_for_screen

    async def wait_for_keys(timeout: float = 30.0) -> bool:
        done = await wait(timeout)
        while _has_keys(pilot.app):
            await asyncio.sleep(0.002)
            done = await wait(timeout)
        return bool(done)

    inner._wait_for_screen = wait_for_keys


def _has_keys(app: object) -> bool:
    """Whether keys still wait for those before them."""
    queue = getattr(app, "_input", None)  # only the whole application has one
    return queue is not None and (
        bool(queue._waiting) or (queue._worker is not None and not queue._worker.done())
    )
