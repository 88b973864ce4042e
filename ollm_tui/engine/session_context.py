"""The context of one session, kept up to date as it grows: the prompt, its count, its budget."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from msgspec.structs import replace

from ollm_tui.core.context_marks import (
    AnyContextChange,
    Mark,
    Marks,
    MarksRestored,
    marked,
    resolved,
)
from ollm_tui.core.message import Message
from ollm_tui.core.provider import ChatRequest
from ollm_tui.core.session import Metadata, Session
from ollm_tui.core.session_state import SessionState
from ollm_tui.engine.budget import Budget, BudgetRules
from ollm_tui.engine.context import Assembly, assemble
from ollm_tui.engine.context_view import ContextView, cost_of
from ollm_tui.engine.model_choice import ModelChoice
from ollm_tui.engine.modes import Mode, current_mode, modes_of
from ollm_tui.engine.system_prompt import sections
from ollm_tui.services.tokens.counter import GrowingCount
from ollm_tui.services.tokens.counters import TokenCounters
from ollm_tui.services.tokens.prompt_count import Count, PromptCount
from ollm_tui.services.tokens.prompt_piece import Piece
from ollm_tui.settings.schema import Settings

PIECES_AT_A_TIME = 200
SURE_SHARE = 0.5
"""An estimate below this share of the limit cannot be wrong by so much that it matters."""


class _Counted(NamedTuple):
    """A count and the end of the prompt it belongs to."""

    assembly: Assembly
    pieces: int
    last: Piece | None
    tokens: PromptCount


class SessionContext:
    """Assembles and counts what is sent. Only what is new is looked at, unless the user
    changed the context or went to another branch.
    """

    def __init__(
        self,
        state: SessionState,
        choice: ModelChoice,
        counters: TokenCounters,
        settings: Settings,
    ) -> None:
        self._state = state
        self._counters = counters
        self._rules = BudgetRules.of(settings)
        self.modes = modes_of(settings)
        self._assembly: Assembly | None = None
        self._counted: _Counted | None = None
        self._asked: str | None = None
        """The message that is being answered."""
        self._growing: GrowingCount | None = None
        self._live: PromptCount | None = None
        self._arrived: list[str] = []
        """What of the reply is not counted yet."""
        self._is_watched = False
        self.read = 0
        """The most the model read of a prompt that the present one begins with."""
        self.use(choice)

    def use(self, choice: ModelChoice) -> None:
        """Count for another model from now on."""
        self.choice = choice
        self.counter = self._counters.counter(choice.provider, choice.model)
        self.forget_count()
        self.read = 0

    @property
    def mode(self) -> Mode:
        """The way of working the session is in."""
        return current_mode(self._state.header.metadata, self.modes)

    @property
    def assembly(self) -> Assembly:
        """The prompt as it is now; while a reply is written, the one that was sent."""
        header = self._state.header
        leaf = self._asked or header.head
        marks = Marks.of(header.metadata)
        if self._asked:
            marks = marks.including(self._asked)
        parts = sections(header, self.mode)
        known = self._assembly
        if known and (known.sections, known.marks) == (parts, marks):
            new = self._since(known.leaf, leaf)
            if new is not None:
                for message in new:
                    known.add(message)
                return known
        self._assembly = assemble(parts, self._state.branch(leaf) if leaf else (), marks)
        self.read = 0
        return self._assembly

    def count(self) -> PromptCount:
        """The tokens of the prompt, at once."""
        assembly = self.assembly
        pieces, known = assembly.pieces, self._counted
        last = pieces[-1] if pieces else None
        if known and known.assembly is assembly and _begins_with(pieces, known):
            count = self.counter.extended(known.tokens, *pieces[known.pieces :])
        else:
            count = self.counter.count(pieces)
        self._counted = _Counted(assembly, len(pieces), last, count)
        return count

    def forget_count(self) -> None:
        """The counter knows better now."""
        self._counted = None

    async def settle(self) -> None:
        """Count exactly what was only estimated; the vocabulary is loaded in a thread."""
        self._is_watched = True
        pieces = list(self.assembly.pieces)
        for start in range(0, len(pieces), PIECES_AT_A_TIME):
            self.counter.count(pieces[start : start + PIECES_AT_A_TIME])
            await asyncio.sleep(0)  # a long history is not to hold up the keys
        await self.counter.settle(self.view().beside_the_prompt())
        await self.counter.settle(self.assembly.pieces)
        self.forget_count()

    def budget(self, count: PromptCount) -> Budget:
        """The prompt in its window."""
        return Budget.of(self.choice.window, count.parts, self._rules)

    def view(self) -> ContextView:
        """The context as it is now."""
        count = self.count()
        live = self._with_reply()
        writing = max(0, live.tokens - count.tokens)
        return ContextView(live, self.budget(live), self.assembly.frozen(), self.counter, writing)

    def preview(self, change: AnyContextChange) -> ContextView:
        """The context as it would be after a change."""
        header = replace(self._state.header, metadata=self.changed(change)[0])
        return self._view_of(header, self.choice)

    def preview_model(self, choice: ModelChoice) -> ContextView:
        """The context as it would be for another model."""
        return self._view_of(self._state.header, choice)

    def changed(self, change: AnyContextChange) -> tuple[Metadata, dict[str, Mark]]:
        """The session's metadata after a change, and which messages get which mark."""
        metadata = self._state.header.metadata
        changes = resolved(change, self._state.branch(), Marks.of(metadata))
        before = dict(change.folded) if isinstance(change, MarksRestored) else {}

        def tokens_of(key: str) -> int:
            return before[key] if key in before else cost_of(self.counter, self._state[key])

        return marked(metadata, changes, tokens_of), changes

    def begin_turn(self, question: Message) -> None:
        """From now on the prompt is the one that asks this."""
        self._asked = question.id

    def sent(self, count: PromptCount) -> None:
        """A prompt goes out; what arrives is added to its count."""
        self._growing = self.counter.growing(count, self.assembly.pieces[-1])
        self._live = count
        self._arrived.clear()

    def grow(self, text: str) -> None:
        """More of the reply arrived. It is counted when somebody looks."""
        self._arrived.append(text)

    def end_turn(self) -> None:
        """The reply is part of the conversation, and of the next prompt."""
        self._asked = self._growing = self._live = None
        self._arrived.clear()

    @property
    def live_tokens(self) -> Count:
        """The prompt, and what arrived of the reply so far."""
        return self._with_reply().total

    def _with_reply(self) -> PromptCount:
        if self._growing and self._arrived:
            self._live = self._growing.add("".join(self._arrived))
            self._arrived.clear()
        return self._live or self.count()

    def request(self) -> ChatRequest:
        """What would be sent now."""
        choice, mode = self.choice, self.mode
        return ChatRequest(
            model=choice.model,
            messages=self.assembly.prompt,
            window=choice.window,
            max_output=choice.max_output,
            temperature=choice.temperature if mode.temperature is None else mode.temperature,
            thinking=choice.thinking,
        )

    async def check(self, request: ChatRequest) -> PromptCount:
        """The count of a prompt that is about to be sent, as exact as it can be had.

        An estimate far below the limit is enough where no better one can be had, or where
        nobody looks: a vocabulary takes its time to load.
        """
        count = self.count()
        room = self.budget(count).room
        is_sure = room is None or count.tokens <= room.limit * SURE_SHARE
        if is_sure and not (self.choice.counting and self._is_watched):
            return count
        count = await self.counter.check(request, self.assembly.pieces)
        self.forget_count()
        return count

    def _view_of(self, header: Session, choice: ModelChoice) -> ContextView:
        mode = current_mode(header.metadata, self.modes)
        branch = self._state.branch() if header.head else ()
        assembly = assemble(sections(header, mode), branch, Marks.of(header.metadata))
        counter = self.counter
        if (choice.provider, choice.model) != (self.choice.provider, self.choice.model):
            counter = self._counters.counter(choice.provider, choice.model)
        count = counter.count(assembly.pieces)
        budget = Budget.of(choice.window, count.parts, self._rules)
        return ContextView(count, budget, assembly.frozen(), counter)

    def _since(self, known: str | None, leaf: str | None) -> list[Message] | None:
        """The messages after a known one up to a leaf; None if that one is not above it."""
        found: list[Message] = []
        seen: set[str] = set()
        while leaf != known:
            if leaf is None or leaf in seen:
                return None
            seen.add(leaf)
            found.append(self._state[leaf])
            leaf = self._state.parent(leaf)
        return found[::-1]


def _begins_with(pieces: list[Piece], known: _Counted) -> bool:
    if known.pieces > len(pieces):
        return False
    return not known.pieces or pieces[known.pieces - 1] is known.last
