"""The context of one session, kept up to date as it grows: the prompt, its count, its budget,
and the view of them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from ollm_tui.core.provider import (
    CanTokenize,
    ChatRequest,
    PromptMessage,
    ToolSpec,
    vendor_of,
)
from ollm_tui.core.session.compression import Shortening, was_undone
from ollm_tui.core.session.context_marks import (
    AnyContextChange,
    Mark,
    Marks,
    MarksRestored,
    marked,
    resolved,
)
from ollm_tui.core.session.message import Message, Opaque, Part
from ollm_tui.core.session.session import Metadata, Session
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.engine.compression.plan.material import Material
from ollm_tui.engine.context.budget import Budget, BudgetRules
from ollm_tui.engine.context.context_view import CompressesAt, ContextView, cost_of
from ollm_tui.engine.context.prompt_assembly import Assembly, assemble, begin
from ollm_tui.engine.context.prompt_message import pieces_of, without_pictures
from ollm_tui.engine.context.system_prompt import sections
from ollm_tui.engine.conversation.conversation_wishes import wanted_thinking
from ollm_tui.engine.conversation.model_choice import ModelChoice
from ollm_tui.engine.conversation.modes import Mode, current_mode, modes_of
from ollm_tui.engine.turn.engine_line import Asker, EngineLines, InLine
from ollm_tui.services.tokens.counter import GrowingCount, TokenCounter, TokenCounters
from ollm_tui.services.tokens.prompt_count import Piece, PromptCount
from ollm_tui.settings.schema import Settings

PIECES_AT_A_TIME = 200
"""Pieces that are counted before other tasks get their turn."""
UNKNOWN_WINDOW = 8192
"""The least window, in tokens, that a compression reckons with where nobody knows it."""
SURE_SHARE = 0.5
"""A prompt that has at most this share of the limit fits, however wrong the estimate is."""


class LiveCount:
    """The count of a prompt and of the reply to it that is arriving.

    Text is only collected until `count` is read, so a delta costs next to nothing.
    """

    def __init__(self) -> None:
        self._growing: GrowingCount | None = None
        self._count: PromptCount | None = None
        self._arrived: list[str] = []

    def begin(self, count: PromptCount, growing: GrowingCount) -> None:
        """Start with the count of a prompt that is being sent."""
        self._growing, self._count = growing, count
        self._arrived.clear()

    def add(self, text: str) -> None:
        """Add more text of the reply."""
        self._arrived.append(text)

    def end(self) -> None:
        """Stop counting: the reply is a message now, or the server refused the prompt."""
        self._growing = self._count = None
        self._arrived.clear()

    @property
    def count(self) -> PromptCount | None:
        """The count of the prompt and of what arrived so far; None if none was sent."""
        if self._growing and self._arrived:
            self._count = self._growing.add("".join(self._arrived))
            self._arrived.clear()
        return self._count


class _Counted(NamedTuple):
    """A count, and what tells whether a prompt is the counted one or a continuation of it."""

    assembly: Assembly
    pieces: int
    last: Piece | None
    tools: tuple[ToolSpec, ...]
    version: int
    """The version of the counter."""
    tokens: PromptCount


class _Made(NamedTuple):
    """What the assembly was made from. Every record gives the session a new header, so the same
    three mean the same prompt."""

    header: Session
    asked: str | None
    choice: ModelChoice

    def is_still(self, other: _Made) -> bool:
        """Whether nothing has changed between the two."""
        is_same = self.header is other.header and self.choice is other.choice
        return is_same and self.asked == other.asked


class SessionContext:
    """Assembles and counts what is sent to the model.

    There is one view for each version of the session: whoever asks again gets the same one. Only
    new messages are looked at, unless the user changed the context or the branch.
    """

    def __init__(
        self,
        state: SessionState,
        choice: ModelChoice,
        counters: TokenCounters,
        settings: Settings,
    ) -> None:
        self._state = state
        self.lines = EngineLines()
        """Where requests wait while a server answers others; a workspace has the same for all."""
        self._counters = counters
        self._settings = settings
        self._rules = BudgetRules.of(settings)
        self._may_compress = settings.compression.enabled
        self.modes = modes_of(settings)
        self._assembly: Assembly | None = None
        self._made: _Made | None = None
        self._view: tuple[_Made, PromptCount, ContextView] | None = None
        # What the assembly was made from: its own shortening is only what holds on the branch.
        self._short = Shortening()
        self._covered = frozenset[str]()
        self._counted: _Counted | None = None
        self._continues = False
        """Whether the message that is being answered is an answer that goes on."""
        self._asked: str | None = None
        """The id of the message that is being answered; None between turns."""
        self.tools: tuple[ToolSpec, ...] = ()
        """The tools offered to the model."""
        self.live = LiveCount()
        self._has_room = False
        """Whether the prompt that was sent last is far shorter than the window."""
        self.read = 0
        """The tokens the model read of an earlier prompt that the present one begins with."""
        self.choice = choice
        self._used: dict[tuple[str, str], TokenCounter] = {}
        self.counter = self._counter_of(choice)

    def _counter_of(self, choice: ModelChoice) -> TokenCounter:
        """The counter of a model: going back to a model finds what it has told."""
        key = (choice.provider.name, choice.model)
        known = self._used.get(key)
        # A thread that looks ahead may have made one in this moment: there is only one.
        return known or self._used.setdefault(
            key, self._counters.counter(choice.provider, choice.model)
        )

    def for_model(self, choice: ModelChoice) -> SessionContext:
        """A context of the same session for another model, which is asked beside this one."""
        context = SessionContext(self._state, choice, self._counters, self._settings)
        context.lines = self.lines
        return context

    def use(self, choice: ModelChoice) -> None:
        """Assemble and count for another model from now on, or for another window."""
        before, self.choice = self.choice, choice
        if (before.provider, before.model) != (choice.provider, choice.model):
            self.counter = self._counter_of(choice)
            self._assembly = None
            self.read = 0

    def in_line(self) -> InLine:
        """Wait in line before the server of this conversation."""
        session_id = self._state.header.session_id
        asker = Asker(session_id, lambda: self._state.header.title)
        return self.lines.place(self.choice.provider.name, asker)

    @property
    def mode(self) -> Mode:
        """The mode the session is in."""
        return current_mode(self._state.header.metadata, self.modes)

    @property
    def assembly(self) -> Assembly:
        """The assembled prompt; while a reply is written, the one that was sent."""
        for _ in self._assembling():
            pass
        assert self._assembly is not None
        return self._assembly

    def _assembling(self) -> Iterator[None]:
        """Assemble the prompt as it is now, with a pause after every few messages."""
        made = self._makings()
        if self._assembly and self._made and self._made.is_still(made):
            return
        header, leaf = made.header, self.leaf
        marks = self._marks(header)
        parts, short = sections(header, self.mode), _shortening(header)
        known = self._assembly
        if known and (known.sections, known.marks, self._short) == (parts, marks, short):
            new = self._since(known.leaf, leaf)
            # A checkpoint did not hold while one of its messages was missing. If that is among the
            # new ones it may hold now, and earlier messages are not sent: assemble everything.
            if new is not None and not any(message.id in self._covered for message in new):
                self._made = made
                for message in _seen_by(self.choice, new):
                    known.add(message)
                return
        branch = _seen_by(self.choice, self._state.branch(leaf) if leaf else ())
        assembly = begin(parts, branch, marks, short)
        for start in range(0, len(branch), PIECES_AT_A_TIME):
            for message in branch[start : start + PIECES_AT_A_TIME]:
                assembly.add(message)
            yield
        if made.is_still(self._makings()):  # nothing changed in the pauses
            self._made, self._assembly = made, assembly
            self._short, self._covered = short, short.covered
            self.read = 0

    def _makings(self) -> _Made:
        return _Made(self._state.header, self._asked, self.choice)

    @property
    def is_prepared(self) -> bool:
        """Whether the view of the context costs little; a long session has to be prepared once."""
        return self._assembly is not None or len(self._state) <= PIECES_AT_A_TIME

    async def prepare(self) -> None:
        """Assemble and count the context piece by piece: a long history must not hold up the keys.
        Afterwards its count and its view cost little."""
        for _ in self._assembling():
            await asyncio.sleep(0)
        assembly, counter, tools = self.assembly, self.counter, self.tools
        pieces, known = list(assembly.pieces), self._count_so_far()
        count = known.tokens if known else counter.count((), tools)
        version = counter.version
        for start in range(known.pieces if known else 0, len(pieces), PIECES_AT_A_TIME):
            more = pieces[start : start + PIECES_AT_A_TIME]
            # Another prompt may have been counted in a pause; its entries make the rest cheaper.
            count = count and counter.extended(count, *more)
            if count is None:
                counter.count(more)
            await asyncio.sleep(0)
        if count and version == counter.version and not self._count_so_far():
            last = pieces[-1] if pieces else None
            self._counted = _Counted(assembly, len(pieces), last, tools, version, count)

    def _count_so_far(self) -> _Counted | None:
        """The last count, if the prompt still begins with what was counted."""
        known = self._counted
        if known is None or known.tools is not self.tools:
            return None
        is_same = (known.version, known.assembly) == (self.counter.version, self.assembly)
        return known if is_same and _begins_with(self.assembly.pieces, known) else None

    def count(self) -> PromptCount:
        """The tokens of the prompt, without waiting: estimated where they are not known."""
        assembly, counter, tools = self.assembly, self.counter, self.tools
        pieces, known = assembly.pieces, self._count_so_far()
        last = pieces[-1] if pieces else None
        count: PromptCount | None = None
        if known:
            count = counter.extended(known.tokens, *pieces[known.pieces :])
            if count is known.tokens:
                return known.tokens
        count = count or counter.count(pieces, tools)
        self._counted = _Counted(assembly, len(pieces), last, tools, counter.version, count)
        return count

    async def settle(self) -> None:
        """Count exactly what was only estimated, by a vocabulary if need be."""
        await self.prepare()
        await self.counter.settle_each(await asyncio.to_thread(self.view().beside_the_prompt))
        await self.counter.settle_each(self.assembly.pieces, self.tools)
        await self.recount()

    async def recount(self) -> None:
        """Count the context as it is now as well as that can be done with nothing to load: by
        the model's own server if it runs, else only its last messages."""
        pieces = list(self.assembly.pieces)
        if not self._server_counts:
            await self.counter.settle_end(pieces)
        elif pieces and not self.counter.is_told(pieces, self.tools):
            await self.counter.ask(self.request(), pieces)
        await self.prepare()  # what was learnt changes the count of every message

    @property
    def _server_counts(self) -> bool:
        """Whether a server runs that counts a whole prompt of this model, and starts nothing."""
        provider = self.choice.provider
        is_there = isinstance(provider, CanTokenize) and provider.tokenizes(self.choice.model)
        return self.choice.counting and is_there

    def budget(self, count: PromptCount) -> Budget:
        """The budget of a counted prompt in the window of the present model."""
        return Budget.of(self.choice.window, count.parts, self._rules)

    def view(self) -> ContextView:
        """The view of the context as it is now, with the reply that is being written."""
        count = self.count()
        live = self.live.count or count
        made, known = self._made, self._view
        assert made is not None  # by the count
        if known and known[0] is made and known[1] is count and known[2].count is live:
            return known[2]
        writing = max(0, live.tokens - count.tokens)
        frozen, compresses = self.assembly.frozen(), self._compresses
        taught = self.counter.tools(self.tools)
        view = ContextView(
            live, self.budget(live), frozen, self.counter, writing, compresses, taught
        )
        self._view = (made, count, view)
        return view

    def view_as(
        self, metadata: Metadata | None = None, choice: ModelChoice | None = None
    ) -> ContextView:
        """The view of the context as it would be with other metadata, or for another model."""
        header = self._state.header
        if metadata is not None:
            header = replace(header, metadata=metadata)
        leaf = self.leaf
        branch = self._state.branch(leaf) if leaf else ()
        return self._view_of(header, choice or self.choice, branch, self._marks(header))

    def view_of(self, header: Session, branch: Sequence[Message]) -> ContextView:
        """The view of another state of the session: its header, and the messages it has."""
        return self._view_of(header, self.choice, branch)

    async def counted_view_of(self, header: Session, branch: Sequence[Message]) -> ContextView:
        """The same, counted by the model's own server if that runs."""
        view = self.view_of(header, branch)
        if self._server_counts and view.count.source == "estimated":
            assembly = view.prompt.assembly
            await self.counter.ask(self._request(assembly), assembly.pieces)
        return self.view_of(header, branch)

    async def view_with(self, metadata: Metadata) -> ContextView:
        """The view of the context as it would be with other metadata, counted exactly where
        possible."""
        assembly = (await asyncio.to_thread(self.view_as, metadata)).prompt.assembly
        if self.choice.counting:
            await self.counter.check(self._request(assembly), assembly.pieces)
        else:
            await self.counter.settle_each(assembly.pieces, self.tools)
        return await asyncio.to_thread(self.view_as, metadata)

    @property
    def metadata(self) -> Metadata:
        """The marks, goals and checkpoints of the session."""
        return self._state.header.metadata

    @property
    def _compresses(self) -> CompressesAt:
        """When it is compressed unasked; after an undo only when a prompt does not fit: at the
        trigger it would undo the undo at once."""
        if not self._may_compress:
            return "never"
        return "limit" if was_undone(self.metadata.compression_history) else "trigger"

    @property
    def leaf(self) -> str | None:
        """The id of the last message of the prompt."""
        return self._asked or self._state.header.head

    async def material(self) -> Material:
        """What a compression works on, counted exactly where possible."""
        assembly = self.assembly
        await self.counter.settle_each(assembly.pieces, self.tools)
        await self.counter.settle_each(await asyncio.to_thread(_pieces_of_all, assembly.messages))
        count = self.count()
        budget = self.budget(count)
        # With an unknown window, one is assumed in which the prompt takes half.
        window = max(UNKNOWN_WINDOW, 2 * count.tokens)
        room = budget.room or Budget.of(window, count.parts, self._rules).room
        assert room is not None
        return Material(assembly, self.counter, budget, room, self.metadata)

    def changed(self, change: AnyContextChange) -> tuple[Metadata, dict[str, Mark]]:
        """The session's metadata after a change, and the mark of each message it changes."""
        metadata = self._state.header.metadata
        changes = resolved(change, self._state.branch(), Marks.of(metadata))
        # Restored marks bring the tokens along that stand in the prompt: the same bytes again.
        before = dict(change.folded) if isinstance(change, MarksRestored) else {}

        def tokens_of(key: str) -> int:
            return before[key] if key in before else cost_of(self.counter, self._state[key])

        return marked(metadata, changes, tokens_of), changes

    def begin_turn(self, question: Message, *, continues: bool = False) -> None:
        """Make the prompt end with this message until `end_turn`; an answer that `continues` is
        the beginning of the reply."""
        self._asked, self._continues = question.id, continues
        self.live.end()  # a round before this one may have begun it

    def sent(self, count: PromptCount) -> None:
        """Note that a prompt is sent: what arrives is added to its count."""
        self.live.begin(count, self.counter.growing(count, self.assembly.pieces[-1]))

    def end_turn(self) -> None:
        """Make the prompt end with the head of the session again."""
        self._asked, self._continues = None, False
        self.live.end()

    def request(self) -> ChatRequest:
        """The request that would be sent now."""
        request = self._request(self.assembly)
        if not self._continues:
            return request
        *before, last = request.messages
        last = replace(last, text=last.text.rstrip())
        # It has thought already, and servers refuse to go on with an answer and think first.
        return replace(request, messages=(*before, last), continues=True, thinking=False)

    def ends_with(self, text: str) -> bool:
        """Whether the prompt ends with these words of the model: they may be folded, left out, or
        in a checkpoint."""
        pieces = self.assembly.pieces
        last = pieces[-1].message if pieces else PromptMessage(role="user")
        return last.role == "assistant" and not last.tool_calls and last.text.endswith(text)

    def _request(self, assembly: Assembly) -> ChatRequest:
        choice, header = self.choice, self._state.header
        temperatures = (header.temperature, self.mode.temperature, choice.temperature)
        return ChatRequest(
            model=choice.model,
            messages=tuple(_for_server(choice, message) for message in assembly.prompt),
            tools=self.tools,
            window=choice.window,
            max_output=choice.max_output,
            temperature=next((each for each in temperatures if each is not None), None),
            thinking=wanted_thinking(header, choice.thinking),
        )

    async def check(self, request: ChatRequest) -> PromptCount:
        """The count of a prompt that is about to be sent, as exact as it needs to be: by the
        server if it counts. Else an estimate is enough far below the limit, because a vocabulary
        takes long to load.
        """
        count = self.count()
        room = self.budget(count).room
        self._has_room = room is not None and self._most(count) <= room.limit * SURE_SHARE
        told = None
        if self.choice.counting:
            told = await self.counter.ask(request, self.assembly.pieces)
        if told is None and (room is None or self._has_room):
            await self.counter.settle_end(self.assembly.pieces)
            return self.count()
        if told is None or (room is not None and told.tokens > room.limit):
            # What can be done about it depends on the lengths of the messages.
            await self.counter.settle_each(self.assembly.pieces, self.tools)
        return self.count()

    async def measured(self, tokens: int) -> bool:
        """Learn from the tokens that the model read of the prompt; False if it was cut."""
        pieces, has_room = self.assembly.pieces, self._has_room
        return await self.counter.measured(pieces, self.tools, tokens, has_room=has_room)

    def _most(self, count: PromptCount) -> int:
        return self.counter.at_most(count, self.assembly.pieces, self.tools)

    def _view_of(
        self,
        header: Session,
        choice: ModelChoice,
        branch: Sequence[Message],
        marks: Marks | None = None,
    ) -> ContextView:
        mode = current_mode(header.metadata, self.modes)
        marks = marks or Marks.of(header.metadata)
        seen = _seen_by(choice, branch)
        assembly = assemble(sections(header, mode), seen, marks, _shortening(header))
        counter = self._counter_of(choice)
        count = counter.count(assembly.pieces, self.tools)
        budget = Budget.of(choice.window, count.parts, self._rules)
        compresses = self._compresses
        taught = counter.tools(self.tools)
        return ContextView(
            count, budget, assembly.frozen(), counter, compresses=compresses, tools=taught
        )

    def _marks(self, header: Session) -> Marks:
        """The marks of a session; the message that is being answered is sent in any case."""
        marks = Marks.of(header.metadata)
        return marks.including(self._asked) if self._asked else marks

    def _since(self, known: str | None, leaf: str | None) -> list[Message] | None:
        """The messages after a known one up to a leaf; None if the leaf does not descend from
        it."""
        found: list[Message] = []
        seen: set[str] = set()
        while leaf != known:
            if leaf is None or leaf in seen:  # a damaged record may have a cycle of parents
                return None
            seen.add(leaf)
            found.append(self._state[leaf])
            leaf = self._state.parent(leaf)
        return found[::-1]


def _pieces_of_all(messages: Sequence[Message]) -> list[Piece]:
    return [piece for message in messages for piece in pieces_of(message)]


def _for_server(choice: ModelChoice, message: PromptMessage) -> PromptMessage:
    """A message without the compacted form that another server or model has made of it."""
    made = message.compacted
    if made is None or (made.provider, made.model) == (vendor_of(choice.provider), choice.model):
        return message
    return replace(message, compacted=None)


def _seen_by(choice: ModelChoice, messages: Sequence[Message]) -> Sequence[Message]:
    """Messages as a model can take them: without pictures if it is known not to see any, because
    its server would refuse the whole prompt; and without what only another server can read."""
    reader = (vendor_of(choice.provider), choice.model)
    if any(_is_foreign(part, reader) for message in messages for part in message.parts):
        messages = [
            replace(message, parts=tuple(p for p in message.parts if not _is_foreign(p, reader)))
            for message in messages
        ]
    return messages if choice.images is not False else [*map(without_pictures, messages)]


def _is_foreign(part: Part, reader: tuple[str, str]) -> bool:
    return isinstance(part, Opaque) and (part.vendor, part.model) != reader


def _shortening(header: Session) -> Shortening:
    return Shortening.of(header.metadata.compressed, header.metadata.compression_history)


def _begins_with(pieces: list[Piece], known: _Counted) -> bool:
    """Whether the counted pieces are still the first ones. Only the last can have been rewritten
    since, so only that one is compared."""
    if known.pieces > len(pieces):
        return False
    return not known.pieces or pieces[known.pieces - 1] is known.last
