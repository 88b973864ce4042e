"""The tools of one conversation: which are offered, what they may do, and the user's answers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple, Protocol

from msgspec.structs import replace

from ollm_tui.core.cut_output import in_lines
from ollm_tui.core.errors import UsageError
from ollm_tui.core.intake import clean
from ollm_tui.core.loop import LoopAnswer
from ollm_tui.core.session.message import Attachment
from ollm_tui.core.session.session import Metadata
from ollm_tui.core.snapshot import FileVersion, Reason
from ollm_tui.core.tool import (
    APPROVAL_MODES,
    Action,
    ApprovalMode,
    Decision,
    Tool,
    Verdict,
    wire_name,
)
from ollm_tui.engine.context.session_context import SessionContext
from ollm_tui.engine.conversation.conversation_goals import ConversationGoals
from ollm_tui.engine.conversation.held_session import HeldSession
from ollm_tui.engine.loops.loop_watch import LoopWatch
from ollm_tui.engine.tools.tool_calls import (
    Approvals,
    AroundCalls,
    RunHooks,
    ToolCalls,
    Touch,
)
from ollm_tui.engine.tools.tool_output import allowance, cut
from ollm_tui.engine.tools.tool_selection import ToolSelection
from ollm_tui.services.redaction.redactor import Redactor
from ollm_tui.settings.schema import Settings

if TYPE_CHECKING:
    from ollm_tui.engine.tools.policy import Policy
    from ollm_tui.services.files.file_changes import FileWatch
    from ollm_tui.services.safety.grants import Grant

READS_PARTS = "read_output"
"""The tool that reads cut outputs, and attachments in parts."""
PLACE_OF_READING = 2
"""Where the tool that reads cut outputs stands among the others."""
SPEC_SHARE = 0.25
"""Share of the limit that the descriptions of tools may take; the last tools are left out first."""


class ToolKit(NamedTuple):
    """The tools of a conversation with all they need; made when first needed."""

    tools: tuple[Tool, ...]
    """The most useful first."""
    policy: Policy
    redactor: Redactor
    files: FileWatch | None
    """Copies of the files that tools change; None where the session keeps none."""
    sandbox_words: str
    """Which sandbox holds the commands, for the user."""


MakeToolKit = Callable[[HeldSession, ConversationGoals], Awaitable[ToolKit]]


class FurtherTools(Protocol):
    """Tools that come from elsewhere, and may come and go: of MCP servers and extensions."""

    selection: ToolSelection

    @property
    def is_ready(self) -> bool:
        """Whether `ready` takes no time."""
        ...

    async def ready(self) -> None:
        """Wait until these tools are known."""
        ...

    def tools(self) -> Sequence[Tool]:
        """The tools there are now."""
        ...

    async def checked(self, tool: str, output: str) -> str:
        """What the model gets of an output; an extension may replace or withhold it."""
        ...


class ConversationTools:
    """Offers tools to the model and runs its calls, as far as the rules and the user allow."""

    def __init__(
        self,
        session: HeldSession,
        context: SessionContext,
        settings: Settings,
        change_metadata: Callable[[Metadata], Awaitable[None]],
        snapshot: Callable[[Reason], Awaitable[str | None]],
        run_hooks: RunHooks,
        touch: Touch | None = None,
    ) -> None:
        self._session = session
        self._context = context
        self._settings = settings
        self._goals = ConversationGoals(session, change_metadata)
        """For the tool that changes goals in the middle of a turn."""
        self._toolkit: ToolKit | None = None
        self._making: asyncio.Future[ToolKit] | None = None
        self._offered: dict[str, Tool] = {}
        self._has_cut = False
        """Whether an output was cut since the conversation was opened."""
        self._approvals = Approvals()
        self._around = AroundCalls(run_hooks, snapshot, lambda: self.file_watch, touch)
        self.make_toolkit: MakeToolKit | None = None
        """Makes the tools; without it there are none."""
        self.further: FurtherTools | None = None
        """Tools of servers and extensions, where there are any."""
        self._selection = ToolSelection(settings.tools.max_offered)
        self.approval_mode: ApprovalMode = "ask"
        self.loops = LoopWatch(
            session, change_metadata, settings.loop_detection, self._asks, self._before_loop
        )

    # What is offered

    @property
    def is_ready(self) -> bool:
        """Whether the tools are loaded, or none are needed, so that `ready` takes no time."""
        is_missing = self.make_toolkit and (
            self._toolkit is None or not (self.further is None or self.further.is_ready)
        )
        return not (is_missing and self.can_use_tools)

    async def ready(self) -> bool:
        """Load the tools and offer them, if the model can use any. Whether others are offered now
        than before, which changes the length of the prompt."""
        toolkit = await self._made() if self.can_use_tools else None
        if toolkit and self.further:
            await self.further.ready()
        return self._offer(self._fitting(self._allowed(toolkit)) if toolkit else {})

    async def model_refused(self) -> None:
        """Remember that the model cannot use tools, and offer it none."""
        await self._context.counter.tools_refused()
        self._offer({})

    @property
    def offered(self) -> tuple[str, ...]:
        """The names of the tools the model is told about."""
        return tuple(self._offered)

    @property
    def known(self) -> tuple[Tool, ...]:
        """All tools, also those that are not offered now; empty until they are loaded."""
        own = self._toolkit.tools if self._toolkit else ()
        return (*own, *(self.further.tools() if self.further else ()))

    async def switch(self, name: str, *, on: bool) -> None:
        """Offer a tool to the model from now on, or no longer. UsageError if there is none."""
        await self.ready()
        names = [tool.spec.name for tool in self.known]
        if name not in names:
            known = f"available: {', '.join(names)}" if names else "this model has no tools"
            raise UsageError(f"no tool {clean(name)}", known)
        (self.further.selection if self.further else self._selection).switch(name, on=on)
        await self.ready()

    @property
    def reads_parts(self) -> bool:
        """Whether the model would be offered the tool that reads a long text in parts; known once
        tools are loaded."""
        if self._toolkit is None or not self.can_use_tools:
            return False
        return READS_PARTS in self._fitting(self._allowed(self._toolkit, is_cut=True))

    def cost(self, tool: Tool) -> int:
        """About how many tokens the description of a tool takes in every prompt."""
        return self._context.counter.tools((tool.spec,))

    def named(self, name: str) -> str:
        """The real name of a tool that a model asked for: small models spell names freely. One
        that fits no tool comes back as it is."""
        if name in self._offered:
            return name
        plain = _plain(name)
        return next((known for known in self._offered if _plain(known) == plain), name)

    # Asking the user

    @property
    def can_ask(self) -> bool:
        """Whether somebody can answer; otherwise calls that need an approval are refused."""
        return self._approvals.can_ask

    @can_ask.setter
    def can_ask(self, can: bool) -> None:
        """Set whether somebody can answer."""
        self._approvals.can_ask = can

    def answer(self, call_id: str, decision: Decision) -> None:
        """Give the user's answer to ApprovalRequested."""
        self._approvals.answer(call_id, decision)

    def answer_loop(self, answer: LoopAnswer, words: str = "") -> None:
        """Give the user's answer to LoopPaused; with `tell`, the words go to the model."""
        self.loops.answer(answer, words)

    def next_approval_mode(self) -> ApprovalMode:
        """Change to the next approval mode, after the last to the first; returns it."""
        index = APPROVAL_MODES.index(self.approval_mode) + 1
        self.approval_mode = APPROVAL_MODES[index % len(APPROVAL_MODES)]
        return self.approval_mode

    async def grants(self) -> list[Grant]:
        """The grants that hold here: answers for more than one call, also of earlier sessions."""
        toolkit = await self._made()
        return toolkit.policy.grants() if toolkit else []

    async def clear_grants(self) -> int:
        """Forget all grants that hold here; returns how many there were."""
        toolkit = await self._made()
        return toolkit.policy.clear_grants() if toolkit else 0

    @property
    def sandbox_words(self) -> str:
        """Which sandbox holds the model's commands, in words; empty until that is known."""
        return self._toolkit.sandbox_words if self._toolkit else ""

    # In a turn

    def begin_turn(self, question: str) -> None:
        """Start a turn: the next change takes a new snapshot, and loops are counted anew."""
        self._around.snapshot_id = None
        self.loops.user_spoke(question)

    def calls(self) -> ToolCalls:
        """What runs the calls of a reply. Only to be called once tools are offered."""
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
            toolkit.redactor,
            self.further.checked if self.further else None,
        )

    def file_versions(self) -> tuple[FileVersion, ...]:
        """The versions of files that tools left behind, for snapshots to remember."""
        return self.file_watch.versions() if self.file_watch else ()

    @property
    def file_watch(self) -> FileWatch | None:
        """The watch over files that tools change; None before the tools are ready, or without any
        that keep them."""
        return self._toolkit.files if self._toolkit else None

    def whole_output(self, call_id: str) -> str | None:
        """All that a call printed, also what the model was not given; None for an unknown call."""
        for call in reversed(self._session.state.tool_calls):
            if call.id == call_id:
                return call.result.return_display or call.result.llm_content
        return None

    def _cut_output(self, call_id: str) -> str | None:
        """All that a call printed; without an id, what the last output was that was cut."""
        whole = self.whole_output(call_id or next(self._cut_calls(), ""))
        if whole is not None:
            return whole
        attached = self._attached_in_parts()
        found = (each for each in attached if not call_id or each.handle == call_id)
        return next((in_lines(each.content) for each in found), None)

    def _attached_in_parts(self) -> Iterator[Attachment]:
        """The attachments that the model reads in parts, the latest first."""
        for message in reversed(self._session.state.branch()):
            yield from (p for p in message.parts if isinstance(p, Attachment) and p.handle)

    def _cut_calls(self) -> Iterator[str]:
        """The ids of the calls of which the model was not given all, the latest first."""
        for call in reversed(self._session.state.tool_calls):
            if call.result.return_display is not None and not call.is_command:
                yield call.id

    @property
    def can_use_tools(self) -> bool:
        """Whether the model can use tools, as far as that is known."""
        context = self._context
        return context.choice.tools is not False and context.counter.takes_tools

    async def _made(self) -> ToolKit | None:
        """The toolkit, also for a model that cannot use tools: its grants are of use to the user.
        None where there is none."""
        if self.make_toolkit is None:
            return None
        if self._making is None:
            made = self.make_toolkit(self._session, self._goals)
            self._making = asyncio.ensure_future(made)
        # Shielded: one who stops waiting must not take the tools from those who wait on.
        self._toolkit = toolkit = await asyncio.shield(self._making)
        self._approvals.keep = toolkit.policy.remember
        return toolkit

    def _judge(self, tool: str, action: Action) -> Verdict:
        assert self._toolkit is not None
        return self._toolkit.policy.judge(tool, action, self.approval_mode)

    def _allowed(self, toolkit: ToolKit, *, is_cut: bool = False) -> dict[str, Tool]:
        """The tools that the mode and the settings allow, by name. Reading what was cut is offered
        once something was: every description takes room in the window."""
        own = [each for each in toolkit.tools if self._is_of_mode(each.spec.name)]
        is_cut = is_cut or self._has_cut or next(self._cut_calls(), None) is not None
        if own and (is_cut or next(self._attached_in_parts(), None)):
            # Not last, since those are left out first.
            own.insert(PLACE_OF_READING, self._read_output())
        selection, further = self._selection, list[Tool]()
        if self.further:
            selection = self.further.selection
            further = [each for each in self.further.tools() if self._is_of_mode(each.spec.name)]
        allowed = [
            [tool for tool in tools if self._allow(tool.spec.name)] for tools in (own, further)
        ]
        return {tool.spec.name: tool for tool in selection.arrange(*allowed)}

    def _is_of_mode(self, name: str) -> bool:
        of_mode = self._context.mode.tools
        return of_mode is None or any(fnmatchcase(name, each) for each in of_mode)

    def _allow(self, name: str) -> bool:
        rules = self._settings.tools
        is_named = any(fnmatchcase(name, each) for each in rules.allowed)
        return is_named and rules.permissions.get(name) != "deny"

    def _read_output(self) -> Tool:
        from ollm_tui.tools.read_output import ReadOutput

        return ReadOutput(self._cut_output)

    def _fitting(self, tools: dict[str, Tool]) -> dict[str, Tool]:
        """The first tools, as many as the window has room for; at least one."""
        room = self._context.budget(self._context.count()).room
        names = list(tools)
        while room and len(names) > 1:
            specs = tuple(tools[name].spec for name in names)
            if self._context.counter.tools(specs) <= room.limit * SPEC_SHARE:
                break
            names.pop()
        return {name: tools[name] for name in names}

    def _offer(self, tools: Mapping[str, Tool]) -> bool:
        """Tell the model about these tools from now on; whether they are others than before."""
        specs = tuple(replace(tool.spec, name=wire_name(name)) for name, tool in tools.items())
        self._offered = dict(tools)
        if specs == self._context.tools:
            return False
        self._context.tools = specs
        self._context.read = 0  # measured with the other tools in the prompt
        self._session.changed.publish(None)
        return True

    def _asks(self) -> bool:
        return self._approvals.can_ask

    async def _before_loop(self) -> str | None:
        return self._around.snapshot_id

    async def _shorten(self, text: str, call_id: str) -> str:
        """An output cut to what the window allows; counted in a thread, it may be long. Once one
        was cut, the model can read the rest."""
        room = self._context.budget(self._context.count()).room
        tokens = allowance(room.limit if room else None)
        if len(text) <= tokens:
            return text
        reading = call_id if self._allow(READS_PARTS) else ""
        count = self._context.counter.text_tokens
        short = await asyncio.to_thread(cut, text, tokens, count, reading)
        if short != text and not self._has_cut:
            self._has_cut = True
            await self.ready()
        return short


def _plain(name: str) -> str:
    """A name in lower case without anything but letters and digits, for comparing."""
    return "".join(character for character in name.lower() if character.isalnum())
