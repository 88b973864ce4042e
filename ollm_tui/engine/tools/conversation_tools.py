"""The tools of one conversation: which are offered, what they may do, and what they wait for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple

from ollm_tui.core.file_change import FileVersion
from ollm_tui.core.loop import LoopAnswer
from ollm_tui.core.session.session import Metadata
from ollm_tui.core.snapshot import Reason
from ollm_tui.core.tool import APPROVAL_MODES, Action, ApprovalMode, Decision, Tool, Verdict
from ollm_tui.engine.context.session_context import SessionContext
from ollm_tui.engine.conversation.conversation_goals import ConversationGoals
from ollm_tui.engine.conversation.held_session import HeldSession
from ollm_tui.engine.loops.loop_watch import LoopWatch
from ollm_tui.engine.tools.around_calls import AroundCalls, RunHooks
from ollm_tui.engine.tools.tool_calls import Approvals, ToolCalls
from ollm_tui.engine.tools.tool_output import allowance, cut
from ollm_tui.settings.schema import Settings

if TYPE_CHECKING:
    from ollm_tui.engine.tools.policy import Policy
    from ollm_tui.services.files.file_changes import FileWatch
    from ollm_tui.services.safety.grants import Grant

SPEC_SHARE = 0.25
"""Of the longest prompt: so much the descriptions of the tools may take; the last go first."""


class ToolKit(NamedTuple):
    """What a conversation works with: made when first needed, for a model that can use it."""

    tools: tuple[Tool, ...]
    """The most useful first."""
    policy: Policy
    redact: Callable[[str], str]
    files: FileWatch | None
    sandbox_words: str


MakeOutfit = Callable[[HeldSession, ConversationGoals], Awaitable[ToolKit]]


class ConversationTools:
    """Offers tools to the model, judges what it asks for, and has it done."""

    def __init__(
        self,
        session: HeldSession,
        context: SessionContext,
        settings: Settings,
        change_metadata: Callable[[Metadata], Awaitable[None]],
        snapshot: Callable[[Reason], Awaitable[str | None]],
        run_hooks: RunHooks,
    ) -> None:
        self._session = session
        self._context = context
        self._settings = settings
        self._goals = ConversationGoals(session, change_metadata)
        """Changed by the model in the middle of its turn."""
        self._toolkit: ToolKit | None = None
        self._making: asyncio.Future[ToolKit] | None = None
        self._offered: dict[str, Tool] = {}
        self._approvals = Approvals()
        self._around = AroundCalls(run_hooks, snapshot, lambda: self.file_watch)
        self.make_toolkit: MakeOutfit | None = None
        """How the tools are had; without it there are none."""
        self.approval_mode: ApprovalMode = "ask"
        self.loops = LoopWatch(
            session, change_metadata, settings.loop_detection, self._asks, self._before_loop
        )

    # What is offered

    @property
    def is_ready(self) -> bool:
        """Whether the tools are at hand, or none are needed: `ready` takes no time then."""
        is_missing = self.make_toolkit and self._toolkit is None
        return not (is_missing and self._can_use_tools)

    async def ready(self) -> bool:
        """Have the tools at hand and offer them, where the model can use any. Whether that is
        new: the prompt is longer with them."""
        toolkit = await self._made() if self._can_use_tools else None
        return self._offer(self._fitting(self._allowed(toolkit.tools)) if toolkit else {})

    async def model_refused(self) -> None:
        """The model cannot use tools after all: they are not offered to it again."""
        await self._context.counter.tools_refused()
        self._offer({})

    @property
    def offered(self) -> tuple[str, ...]:
        """The names of the tools the model is told about."""
        return tuple(self._offered)

    def named(self, name: str) -> str:
        """A tool by the name a model gave it: small models spell it freely."""
        if name in self._offered:
            return name
        plain = _plain(name)
        return next((known for known in self._offered if _plain(known) == plain), name)

    # Asking the user

    @property
    def can_ask(self) -> bool:
        """Whether somebody is there to be asked; otherwise what would ask is refused."""
        return self._approvals.can_ask

    @can_ask.setter
    def can_ask(self, can: bool) -> None:
        """Say whether somebody is."""
        self._approvals.can_ask = can

    def answer(self, call_id: str, decision: Decision) -> None:
        """What the user says to ApprovalRequested."""
        self._approvals.answer(call_id, decision)

    def answer_loop(self, answer: LoopAnswer, words: str = "") -> None:
        """What the user says to LoopPaused; with `tell`, the words go to the model."""
        self.loops.answer(answer, words)

    def next_approval_mode(self) -> ApprovalMode:
        """Ask less, or again for everything."""
        place = APPROVAL_MODES.index(self.approval_mode) + 1
        self.approval_mode = APPROVAL_MODES[place % len(APPROVAL_MODES)]
        return self.approval_mode

    async def grants(self) -> list[Grant]:
        """What the user allowed or forbade for more than once, also in earlier sessions."""
        toolkit = await self._made()
        return toolkit.policy.grants() if toolkit else []

    async def clear_grants(self) -> int:
        """Ask again for all of it; says how many there were."""
        toolkit = await self._made()
        return toolkit.policy.clear_grants() if toolkit else 0

    @property
    def sandbox_words(self) -> str:
        """What holds the commands of the model; empty until that is known."""
        return self._toolkit.sandbox_words if self._toolkit else ""

    # In a turn

    def begin_turn(self, question: str) -> None:
        """The user said something: what was repeated before does not count any more."""
        self._around.snapshot_id = None
        self.loops.user_spoke(question)

    def calls(self) -> ToolCalls:
        """What runs the calls of replies, where tools are offered."""
        toolkit = self._toolkit
        assert toolkit is not None
        return ToolCalls(
            self._session,
            lambda: self._offered,
            self._judge,
            self._approvals,
            self.loops,
            self._around,
            self._shorten,
            toolkit.redact,
        )

    def file_versions(self) -> tuple[FileVersion, ...]:
        """The files that tools changed, as they left them: a snapshot remembers this."""
        return self.file_watch.versions() if self.file_watch else ()

    @property
    def file_watch(self) -> FileWatch | None:
        """What knows the files that tools changed; None until tools are ready, or without any."""
        return self._toolkit.files if self._toolkit else None

    def whole_output(self, call_id: str) -> str | None:
        """What a call printed, also what the model was not given; None if nobody knows."""
        for call in reversed(self._session.state.tool_calls):
            if call.id == call_id:
                return call.result.return_display or call.result.llm_content
        return None

    @property
    def _can_use_tools(self) -> bool:
        context = self._context
        return context.choice.tools is not False and context.counter.takes_tools

    async def _made(self) -> ToolKit | None:
        """The tools and rules, whether the model can use them or not; None where there are none."""
        if self.make_toolkit is None:
            return None
        if self._making is None:
            made = self.make_toolkit(self._session, self._goals)
            self._making = asyncio.ensure_future(made)
        self._toolkit = toolkit = await asyncio.shield(self._making)
        self._approvals.keep = toolkit.policy.remember
        return toolkit

    def _judge(self, tool: str, action: Action) -> Verdict:
        assert self._toolkit is not None
        return self._toolkit.policy.judge(tool, action, self.approval_mode)

    def _allowed(self, tools: tuple[Tool, ...]) -> dict[str, Tool]:
        wanted, rules = self._context.mode.tools, self._settings.tools
        return {
            tool.spec.name: tool
            for tool in tools
            if (wanted is None or tool.spec.name in wanted)
            and any(fnmatchcase(tool.spec.name, each) for each in rules.allowed)
            and rules.permissions.get(tool.spec.name) != "deny"
        }

    def _fitting(self, tools: dict[str, Tool]) -> dict[str, Tool]:
        """As many as a small window has room for; at least one."""
        room = self._context.budget(self._context.count()).room
        names = list(tools)
        while room and len(names) > 1:
            specs = tuple(tools[name].spec for name in names)
            if self._context.counter.tools(specs) <= room.limit * SPEC_SHARE:
                break
            names.pop()
        return {name: tools[name] for name in names}

    def _offer(self, tools: Mapping[str, Tool]) -> bool:
        if list(tools) == list(self._offered):
            return False
        self._offered = dict(tools)
        self._context.tools = tuple(tool.spec for tool in tools.values())
        self._context.forget_count()
        self._context.read = 0
        return True

    def _asks(self) -> bool:
        return self._approvals.can_ask

    async def _before_loop(self) -> str | None:
        return self._around.snapshot_id

    async def _shorten(self, text: str) -> str:
        room = self._context.budget(self._context.count()).room
        tokens = allowance(room.limit if room else None)
        if len(text) <= tokens:
            return text
        return await asyncio.to_thread(cut, text, tokens, self._context.counter.text_tokens)


def _plain(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())
