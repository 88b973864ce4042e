"""Questions to the user about what a tool would do, and the answers that are waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from ollm_tui.core.tool import Action, Decision, Verdict

Remember = Callable[[str, Action, Verdict, Decision], None]
"""Keeps an answer that holds for more than once."""


class Approvals:
    """What waits for an answer in one conversation. One question at a time."""

    def __init__(self) -> None:
        self.can_ask = False
        """Whether anybody is there who could answer."""
        self.keep: Remember | None = None
        self._waiting: dict[str, asyncio.Future[Decision]] = {}

    def ask(self, call_id: str) -> asyncio.Future[Decision]:
        """The answer about a call, which may come from now on."""
        waiting: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()
        self._waiting = {call_id: waiting}
        return waiting

    def answer(self, call_id: str, decision: Decision) -> None:
        """What the user says; to a question that is over, it is nothing."""
        waiting = self._waiting.get(call_id)
        if waiting and not waiting.done():
            waiting.set_result(decision)

    def remember(self, tool: str, action: Action, verdict: Verdict, decision: Decision) -> None:
        """Keep an answer that holds for more than this once."""
        if self.keep and decision.answer in ("always", "never"):
            self.keep(tool, action, verdict, decision)
