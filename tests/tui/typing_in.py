"""Typing as fast as a terminal delivers it: many keys at once, then a look at the screen."""

from __future__ import annotations

from typing import TypeVar

from textual import events
from textual.drivers.headless_driver import HeadlessDriver
from textual.keys import (
    _character_to_key,  # pyright: ignore[reportPrivateUsage] as Textual's own reader of keys does
)
from textual.pilot import Pilot

R = TypeVar("R")


async def type_in(pilot: Pilot[R], text: str) -> None:
    """Type a text; `press` would wait twice for each letter."""
    driver = pilot.app._driver  # pyright: ignore[reportPrivateUsage] where keys come in
    assert isinstance(driver, HeadlessDriver)
    for letter in text:
        event = events.Key(_character_to_key(letter), letter)
        event.set_sender(pilot.app)
        driver.send_message(event)
    await pilot.pause()
