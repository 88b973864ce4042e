"""What stands around every call of a tool: hooks, a snapshot before changes, the files changed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol

from ollm_tui.core.session.message import ToolCallPart
from ollm_tui.core.snapshot import Reason
from ollm_tui.core.tool import Action
from ollm_tui.settings.schema import HookEvent

if TYPE_CHECKING:
    from ollm_tui.services.files.file_changes import FileWatch

CHANGING = ("write", "run")
"""The effects of calls that may change files."""


class RunHooks(Protocol):
    """Runs the user's own commands at an event."""

    async def __call__(self, event: HookEvent, **facts: object) -> None:
        """Run them, with some facts to read."""
        ...


class AroundCalls:
    """Tells the hooks, and keeps context and files as they are before something changes them."""

    def __init__(
        self,
        run_hooks: RunHooks,
        snapshot: Callable[[Reason], Awaitable[str | None]],
        files: Callable[[], FileWatch | None],
    ) -> None:
        self._run_hooks = run_hooks
        self._snapshot = snapshot
        self._files = files
        self.snapshot_id: str | None = None
        """Of this turn, taken before the first change."""

    async def before(self, call: ToolCallPart, action: Action) -> None:
        """Hooks; and before a change, the context is kept once a turn, the files as they are."""
        await self._run_hooks("before-tool", callId=call.call_id, tool=call.name, args=call.args)
        if action.effect not in CHANGING:
            return
        if self.snapshot_id is None:
            self.snapshot_id = await self._snapshot("tool")
        if files := self._files():
            path = action.subject if action.effect == "write" else ""
            await asyncio.to_thread(files.before, path)

    async def after(self, action: Action) -> bool | None:
        """To be called when it ran, also when it was stopped. Whether files are different now;
        None where nobody looked."""
        if action.effect in CHANGING and (files := self._files()):
            return bool(await asyncio.to_thread(files.after))
        return None

    async def over(self, call: ToolCallPart, changed: bool | None) -> None:
        """The hooks that come last, unless it was stopped."""
        await self._run_hooks("after-tool", callId=call.call_id, tool=call.name, changed=changed)
