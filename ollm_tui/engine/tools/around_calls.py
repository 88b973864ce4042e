"""What happens before and after every tool call: hooks, a snapshot, and a look at the files."""

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
    """A function that runs the hooks of an event."""

    async def __call__(self, event: HookEvent, **facts: object) -> None:
        """Run the hooks of an event; they get the facts as JSON."""
        ...


class AroundCalls:
    """Runs the hooks, and keeps the context and the files as they are before a change."""

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
        """The snapshot of this turn, taken before its first change."""

    async def before(self, call: ToolCallPart, action: Action) -> None:
        """Run the hooks; before a call that may change files also keep those, and once a turn the
        context."""
        await self._run_hooks("before-tool", callId=call.call_id, tool=call.name, args=call.args)
        if action.effect not in CHANGING:
            return
        if self.snapshot_id is None:
            self.snapshot_id = await self._snapshot("tool")
        if files := self._files():
            # What a command will change is not known: all files are compared then.
            path = action.subject if action.effect == "write" else ""
            await asyncio.to_thread(files.before, path)

    async def after(self, action: Action) -> bool | None:
        """Compare the files after a call, also one that was stopped. Whether any are different;
        None if they were not compared."""
        if action.effect in CHANGING and (files := self._files()):
            return bool(await asyncio.to_thread(files.after))
        return None

    async def over(self, call: ToolCallPart, changed: bool | None) -> None:
        """Run the hooks after a call that was not stopped."""
        await self._run_hooks("after-tool", callId=call.call_id, tool=call.name, changed=changed)
