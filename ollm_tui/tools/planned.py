"""A call that was understood: what it would do, and the work that does it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from ollm_tui.core.tool import Action, Tell, ToolOutcome

Work = Callable[[Tell], Awaitable[ToolOutcome]]


@dataclass(frozen=True)
class Planned:
    """Most tools need no more than this."""

    action: Action
    work: Work

    async def run(self, tell: Tell) -> ToolOutcome:
        """Do it."""
        return await self.work(tell)
