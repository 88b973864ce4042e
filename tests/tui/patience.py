"""A pilot that waits for keys: the application hands them on one by one, in tasks of its own."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from textual.pilot import Pilot


def patient(pilot: Pilot[Any]) -> None:
    """Have a pilot's `press` and `pause` wait until every key so far has had its effect."""
    inner = cast(Any, pilot)
    wait = inner._wait_for_screen

    async def wait_for_keys(timeout: float = 30.0) -> bool:
        done = await wait(timeout)
        while _is_busy(pilot.app):
            await asyncio.sleep(0.002)
            done = await wait(timeout)
        return bool(done)

    inner._wait_for_screen = wait_for_keys


def _is_busy(app: object) -> bool:
    queue = cast(Any, app)._input
    return bool(queue._waiting) or (queue._worker is not None and not queue._worker.done())
