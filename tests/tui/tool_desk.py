"""The application on a scripted model that has tools: real engine, tools that only pretend."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast

from textual.pilot import Pilot

from ollm_tui.core.errors import ToolError
from ollm_tui.core.provider import Completed, TextDelta, ToolCallArrived, ToolSpec
from ollm_tui.core.session.message import ToolCallPart
from ollm_tui.core.tool import (
    Action,
    ApprovalMode,
    Decision,
    PlannedCall,
    Tell,
    ToolOutcome,
    Verdict,
)
from ollm_tui.engine.tools.conversation_tools import ToolKit
from ollm_tui.providers.scripted import Scripted, Step
from ollm_tui.services.redaction.redactor import Redactor
from ollm_tui.tui.app import OllmApp
from ollm_tui.tui.tools.approval import Approval
from ollm_tui.tui.tools.loop_bar import LoopBar
from tests.tui.conftest import OpenApp
from tests.tui.dialog_host import shown
from tests.tui.seen import chat, prompt
from tests.tui.typing_in import type_in

DIFF = """--- a/uploader.py
+++ b/uploader.py
@@ -1,2 +1,2 @@
 def delay(attempt):
-    return 1
+    return min(60, 2 ** attempt)
"""
SANDBOX = "✓ bwrap, no network"
DONE = Completed(finish="stop")


@dataclass
class FakePlan:
    """A call that was understood, and does what the test says."""

    action: Action
    work: Callable[[Tell], Any]

    async def run(self, tell: Tell) -> ToolOutcome:
        return await self.work(tell)


@dataclass
class FakeTool:
    """A tool that prints, waits and answers as it is told."""

    name: str
    action: Callable[[Mapping[str, Any]], Action]
    outcome: ToolOutcome
    prints: Sequence[str] = ()
    until: asyncio.Event | None = None
    ran: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, f"does {self.name}", {"type": "object"})

    async def plan(self, args: Mapping[str, Any]) -> PlannedCall:
        if args.get("wrong"):
            raise ToolError("that makes no sense", "call it differently")

        async def work(tell: Tell) -> ToolOutcome:
            self.ran.append(args)
            for text in self.prints:
                tell(text)
            if self.until:
                await self.until.wait()
            return self.outcome

        return FakePlan(self.action(args), work)


@dataclass
class FakePolicy:
    """Reading is allowed, all else asks; answers for good are kept."""

    dangerous: str = "rm -rf"
    grant: str = "this command in this directory"
    kept: list[Decision] = field(default_factory=list[Decision])

    def judge(self, tool: str, action: Action, mode: ApprovalMode) -> Verdict:
        if action.effect in ("none", "read"):
            return Verdict("allow", "reads within the project")
        if self.dangerous in action.subject:
            return Verdict("ask", "deletes without asking", dangerous=True)
        return Verdict("ask", "it changes something", grant=self.grant)

    def remember(self, tool: str, action: Action, verdict: Verdict, decision: Decision) -> None:
        self.kept.append(decision)

    def grants(self) -> list[Any]:
        return []

    def clear_grants(self) -> int:
        count = len(self.kept)
        self.kept.clear()
        return count


def reader(outcome: ToolOutcome | None = None) -> FakeTool:
    fine = ToolOutcome("import time\n" * 212, summary="212 lines")
    return FakeTool("read_file", lambda args: Action("read", "read", args["path"]), outcome or fine)


def editor() -> FakeTool:
    return FakeTool(
        "edit_file",
        lambda args: Action("write", "change", args["path"], diff=args.get("diff", DIFF)),
        ToolOutcome("changed uploader.py: +1 −1 lines", changed=True, summary="+1 −1"),
    )


def runner(
    outcome: ToolOutcome | None = None,
    prints: Sequence[str] = (),
    until: asyncio.Event | None = None,
) -> FakeTool:
    return FakeTool(
        "exec",
        lambda args: Action("run", "run", args["code"], place="/work/code", language="shell"),
        outcome or ToolOutcome("2 passed\n[exit 0]", summary="exit 0"),
        prints,
        until,
    )


def calls(*wanted: tuple[str, Mapping[str, Any]], words: str = "Let me see.") -> list[Step]:
    """A reply that asks for tools."""
    return [
        TextDelta(words),
        *(
            ToolCallArrived(ToolCallPart(call_id=f"c{number}", name=name, args=dict(args)))
            for number, (name, args) in enumerate(wanted, 1)
        ),
        DONE,
    ]


def says(words: str) -> list[Step]:
    return [TextDelta(words), DONE]


@asynccontextmanager
async def tools_open(
    open_app: OpenApp,
    script: Sequence[Sequence[Step]] | Scripted,
    *tools: FakeTool,
    policy: FakePolicy | None = None,
    sandbox: str = SANDBOX,
    size: tuple[int, int] = (100, 30),
    **options: Any,
) -> AsyncGenerator[tuple[OllmApp, Pilot[int]]]:
    """The application; its model has these tools."""
    toolkit = ToolKit(tools, cast(Any, policy or FakePolicy()), Redactor(), None, sandbox)

    async def make(*_: object) -> ToolKit:
        return toolkit

    async with open_app(script, size=size, **options) as (app, pilot):
        assert app.conversation
        app.conversation.tools.make_toolkit = make
        yield app, pilot


async def ask(app: OllmApp, pilot: Pilot[int], text: str = "go") -> None:
    """Send something, and do not wait for its end."""
    await type_in(pilot, text)
    await pilot.press("enter")


async def until(pilot: Pilot[int], what: Callable[[], object]) -> None:
    """Wait for something to be so; what never comes ends the test, not the day."""
    async with asyncio.timeout(60):
        while not what():
            await pilot.pause(0.02)


async def approval(app: OllmApp, pilot: Pilot[int], *, quiet: bool = True) -> Approval:
    """The block that asks, when it is there and takes keys."""
    await until(pilot, lambda: any(block.display for block in chat(app).query(Approval)))
    await pilot.pause()
    if quiet:
        await pilot.pause(0.45)
    return chat(app).query_one(Approval)


async def loop_bar(app: OllmApp, pilot: Pilot[int]) -> LoopBar:
    """The bar that tells of a loop, when it is there."""
    await until(pilot, lambda: any(bar.display for bar in chat(app).query(LoopBar)))
    await pilot.pause()
    return chat(app).query_one(LoopBar)


def page(app: OllmApp) -> str:
    """The whole screen as text, with blanks joined."""
    return "\n".join(" ".join(line.strip(" ┃").split()) for line in shown(app).splitlines())


def is_idle(app: OllmApp) -> bool:
    return not chat(app).chat.is_busy


def prompt_has_focus(app: OllmApp) -> bool:
    return app.focused is prompt(app)
