"""A planned call for most tools: what the call would do, and the function that does it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from ollm_tui.core.tool import Action, Tell, ToolOutcome

Work = Callable[[Tell], Awaitable[ToolOutcome]]


@dataclass(frozen=True)
class Planned:
    """A planned call made of an action and a function."""

    action: Action
    work: Work

    async def run(self, tell: Tell) -> ToolOutcome:
        """Do what the action says."""
        return await self.work(tell)
