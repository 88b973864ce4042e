"""A view of the context for front ends: how full it is, with what, and when it is compressed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from ollm_tui.core.counts import counted, short_count
from ollm_tui.core.intake import clean
from ollm_tui.core.provider import PromptMessage
from ollm_tui.core.session.compression import Checkpoint
from ollm_tui.core.session.context_marks import Mark
from ollm_tui.core.session.message import Attachment, Message, Retrieval, ToolResultPart
from ollm_tui.engine.context.budget import EXCHANGES_LOOKED_AT, Budget, rounded
from ollm_tui.engine.context.prompt_assembly import FrozenPrompt, Section, digest
from ollm_tui.engine.context.prompt_message import attached, pieces_of, recalled
from ollm_tui.services.tokens.counter import TokenCounter
from ollm_tui.services.tokens.prompt_count import (
    GROUPS,
    Count,
    Group,
    Piece,
    PromptCount,
    shared_out,
)

CompressesAt = Literal["trigger", "limit", "never"]
"""When the context is compressed unasked: at the trigger, when a prompt does not fit, or never."""
TITLE_CHARACTERS = 80
SECTION_TITLES = {
    "system": "system prompt and chat template",
    "mode": "mode",
    "goals": "goal and decisions",
    "tools": "tool descriptions",
}


class AttachmentCost(NamedTuple):
    """One attachment of a message and its tokens."""

    name: str
    tokens: Count


class ContextItem(NamedTuple):
    """One line of the breakdown. The tokens of all items add up to those of the prompt."""

    key: str
    """The id of a message, or system, mode, note:KEY, data:KEY, goals, tools, reply."""
    group: Group
    title: str
    """The first words, in one line."""
    tokens: Count
    """The tokens it takes in the prompt now; none if it is left out."""
    whole: Count
    """The tokens it takes when it is neither folded nor left out."""
    mark: Mark | Literal["covered", "elided"] = ""
    """The user's mark, or how it is sent: `excluded` also where it is not sent because what it
    belongs to is not, `covered` by a checkpoint, `elided` where its data is cut short."""
    attachments: tuple[AttachmentCost, ...] = ()
    recalled: AttachmentCost | None = None
    """The passages of earlier sessions in it and their share of its tokens, if there are any."""


@dataclass(frozen=True)
class ContextView:
    """What the model sees at one moment. `items` is computed when it is first read."""

    count: PromptCount
    budget: Budget
    prompt: FrozenPrompt
    counter: TokenCounter
    writing: int = 0
    """Tokens of the reply that is being written."""
    compresses: CompressesAt = "never"
    tools: int = 0
    """Tokens that the descriptions of the model's tools take."""

    @cached_property
    def items(self) -> tuple[ContextItem, ...]:
        """Everything in the prompt, and what is left out, in the order of the prompt."""
        taken = self._tokens_by_message()
        said = list(self._said(taken))
        parts = [self._section(section, taken) for section in self.prompt.assembly.sections]
        if self.tools:
            taught = Count(self.tools, "estimated")
            parts.append(ContextItem("tools", "system", SECTION_TITLES["tools"], taught, taught))
        if self.writing:
            writing = Count(self.writing, "estimated")
            said.append(ContextItem("reply", "assistant", "being written", writing, writing))
        others = [item for item in (*parts, *said) if item.key != "system"]
        return tuple(self._adding_up(others))

    def _adding_up(self, others: list[ContextItem]) -> Iterator[ContextItem]:
        """The system prompt and all other items, so that those of a group have its tokens.

        The system prompt gets the rest: what the template adds, and the mark for messages that
        are left out, belong to no other item. Where the others were estimated too high to leave
        it anything, all are made smaller in proportion.
        """
        fitting = [*others]
        for group in GROUPS:
            places = [place for place, item in enumerate(others) if item.group == group]
            weights = [others[place].tokens.tokens for place in places]
            tokens = getattr(self.count.parts, group)
            if group == "system":
                own = self._own_tokens()
                rest = tokens - sum(weights)
                if rest < min(own, tokens):
                    rest, *weights = shared_out(tokens, [own, *weights])
                system = Count(rest, self.count.source)
                yield ContextItem("system", group, SECTION_TITLES["system"], system, system)
            elif sum(weights) != tokens:
                weights = shared_out(tokens, weights)
            for place, weight in zip(places, weights, strict=True):
                fitting[place] = _resized(others[place], weight)
        yield from fitting

    def _own_tokens(self) -> int:
        """The tokens of the text of the system prompt itself."""
        sections = self.prompt.assembly.sections
        own = next((section for section in sections if section.key == "system"), None)
        return self.counter.message(_section_piece(own)).tokens if own else 0

    @cached_property
    def exchanges_left(self) -> int | None:
        """About how many more exchanges fit before the context is compressed, or full, if they
        are like the last ones; None if nothing can be said."""
        latest = list(self._latest_exchanges())
        if self.compresses == "trigger":
            return self.budget.exchanges_left(latest[::-1])
        if self.budget.room is None or not latest:
            return None
        return rounded(self.budget.room.free * len(latest) // sum(latest))

    @property
    def words(self) -> str:
        """What happens to the context next, as one line for the user."""
        room = self.budget.room
        if room is None:
            return "window size unknown"
        if self.refuses:
            return f"too long: {short_count(room.limit)} fit; fold or exclude something"
        is_due = self.compresses == "trigger" and self.budget.needs_compression
        if is_due or self.budget.over_limit:
            return "compresses before the next message"
        left = self.exchanges_left
        more = "" if left is None else f" · about {counted(left, 'exchange')}"
        if left == 0:
            more = " · with the next exchange"
        if self.compresses == "trigger":
            return f"compresses at {short_count(self.budget.trigger_mark or 0)}{more}"
        if self.compresses == "limit":
            return f"compresses when full, at {short_count(room.limit)}{more}"
        return f"full at {short_count(room.limit)}{more}"

    @property
    def refuses(self) -> bool:
        """Whether the next message is refused until something is left out."""
        return self.compresses == "never" and self.budget.over_limit

    def beside_the_prompt(self) -> list[Piece]:
        """The pieces that `items` counts though they are not in the prompt: parts of messages,
        and messages as they were before being folded. To be counted exactly by a counter."""
        marks, elided = self.prompt.assembly.marks, self.prompt.assembly.shortening.elided
        sections = self.prompt.assembly.sections
        pieces = [_section_piece(section) for section in sections if not section.is_data]
        for message in self.prompt.messages:
            pieces += [piece for _, piece in _attachments(message)]
            if brought := _recalled(message):
                pieces.append(brought[1])
            if message.id in elided or marks.mark(message.id) in ("excluded", "folded"):
                pieces += pieces_of(message)
        return pieces

    def _said(self, taken: Mapping[str, Count]) -> Iterator[ContextItem]:
        """The items of the messages, with each checkpoint after the last one it covers."""
        checkpoints = self.prompt.assembly.shortening.checkpoints
        endings = {each.messages[-1]: each for each in checkpoints}
        for message in self.prompt.messages:
            if pieces_of(message):
                yield self._item(message, taken.get(message.id))
            if (checkpoint := endings.get(message.id)) and checkpoint.id in taken:
                yield _checkpoint_item(checkpoint, taken[checkpoint.id])

    def _section(self, section: Section, taken: Mapping[str, Count]) -> ContextItem:
        """The item of a section. Data has its share of the message it begins; of a part of the
        system message only the text counts, what the template adds goes to the system prompt."""
        tokens = taken.get(section.key)
        if tokens is None:
            whole = self.counter.message(_section_piece(section))
            tokens = Count(max(0, whole.tokens - self.counter.around_message), whole.source)
        title = one_line(section.title) or SECTION_TITLES[section.key]
        return ContextItem(section.key, "system", title, tokens, tokens)

    def _item(self, message: Message, taken: Count | None) -> ContextItem:
        mark = self._mark(message.id, is_sent=taken is not None)
        whole = taken
        if whole is None or mark in ("folded", "elided"):
            whole = _total(self.counter, pieces_of(message))
        return ContextItem(
            key=message.id,
            group="system" if mark == "pinned" else _group(message),
            title=title_of(message),
            tokens=taken or Count(0, "exact"),
            whole=whole,
            mark=mark,
            attachments=tuple(
                AttachmentCost(name, self.counter.message(piece))
                for name, piece in _attachments(message)
            ),
            recalled=None if mark in ("folded", "elided") else self._recalled(message, taken),
        )

    def _recalled(self, message: Message, taken: Count | None) -> AttachmentCost | None:
        """The passages in a message, without what the template adds to the message."""
        brought = _recalled(message)
        if brought is None or taken is None:
            return None
        count = self.counter.message(brought[1])
        share = max(0, count.tokens - self.counter.around_message)
        return AttachmentCost(brought[0], Count(min(share, taken.tokens), count.source))

    def _mark(self, key: str, *, is_sent: bool) -> Mark | Literal["covered", "elided"]:
        assembly = self.prompt.assembly
        if is_sent:
            mark = assembly.marks.mark(key)
            return "elided" if not mark and key in assembly.shortening.elided else mark
        is_covered = key not in assembly.marks.excluded and key in assembly.shortening.covered
        return "covered" if is_covered else "excluded"

    def _tokens_by_message(self) -> dict[str, Count]:
        """The tokens of each message and checkpoint; those of a piece that several were joined
        into are shared out by their lengths."""
        taken: dict[str, Count] = {}
        for piece, owners in self.prompt.pieces():
            count = self.counter.message(piece)
            shares = [count.tokens]
            if len(owners) > 1:
                shares = shared_out(count.tokens, [owner.size for owner in owners])
            for owner, share in zip(owners, shares, strict=False):
                before = taken.get(owner.key, Count(0, count.source))
                taken[owner.key] = Count(before.tokens + share, _worse(before, count).source)
        return taken

    def _latest_exchanges(self) -> Iterator[int]:
        """The tokens of the last whole exchanges, the newest first."""
        tokens = found = 0
        answered = False
        for piece in self.prompt.backwards():
            count = self.counter.message(piece).tokens
            tokens += count - piece.fixed(count)
            if piece.message.role == "user":
                if answered:  # a question without its answer is no exchange yet
                    found += 1
                    yield max(1, tokens)
                tokens = 0
            answered = True
            if found == EXCHANGES_LOOKED_AT:
                return


def cost_of(
    counter: TokenCounter,
    message: Message,
    folded_tokens: int | None = None,
    facts: str | None = None,
) -> int:
    """The tokens of one message by itself, folded or cut short as `said_by` does it."""
    return _total(counter, pieces_of(message, folded_tokens, facts)).tokens


def title_of(message: Message) -> str:
    """The first words of a message; without any, its attachments, tool calls or results."""
    text = message.text
    if not text.strip():
        names = [part.name for part in message.parts if isinstance(part, Attachment)]
        names += [call.name for call in message.tool_calls]
        results = [part for part in message.parts if isinstance(part, ToolResultPart)]
        text = ", ".join(names) or " ".join(f"{r.name}: {r.content[:200]}" for r in results)
    return one_line(text)


def one_line(text: str) -> str:
    """The first words of a text, cut to one line of TITLE_CHARACTERS."""
    line = " ".join(clean(text[: TITLE_CHARACTERS * 4]).split())
    return line if len(line) <= TITLE_CHARACTERS else line[: TITLE_CHARACTERS - 1].rstrip() + "…"


def _total(counter: TokenCounter, pieces: Sequence[Piece]) -> Count:
    counts = [counter.message(piece) for piece in pieces]
    worst = "estimated" if any(count.source == "estimated" for count in counts) else "exact"
    return Count(sum(count.tokens for count in counts), worst)


def _resized(item: ContextItem, tokens: int) -> ContextItem:
    """An item with other tokens; they are an estimate then."""
    if tokens == item.tokens.tokens:
        return item
    now = Count(tokens, "estimated")
    return item._replace(tokens=now, whole=now if item.whole == item.tokens else item.whole)


def _worse(one: Count, other: Count) -> Count:
    return one if one.source == "estimated" else other


def _section_piece(section: Section) -> Piece:
    message = PromptMessage(role="system", text=section.text)
    return Piece.of(f"{section.key}:{digest(section.text)}", message)


def _attachments(message: Message) -> list[tuple[str, Piece]]:
    """Name and piece of each attached text. Images are counted with their message: nobody
    knows what a single one takes."""
    texts = [
        part
        for part in message.parts
        if isinstance(part, Attachment) and not part.media_type.startswith("image/")
    ]
    return [
        (
            clean(part.name),
            Piece.of(f"{message.id}:file:{n}", PromptMessage(role="user", text=attached(part))),
        )
        for n, part in enumerate(texts)
    ]


def _recalled(message: Message) -> tuple[str, Piece] | None:
    """All recalled passages of a message as one: a title, and the piece the model reads."""
    passages = [part for part in message.parts if isinstance(part, Retrieval)]
    if not passages:
        return None
    several = f"{len(passages)} passages from earlier sessions"
    title = "from an earlier session" if len(passages) == 1 else several
    text = "\n\n".join(map(recalled, passages))
    piece = Piece.of(f"{message.id}:recalled", PromptMessage(role="user", text=text))
    return f"{title}: {one_line(passages[0].text)}", piece


def _checkpoint_item(checkpoint: Checkpoint, tokens: Count) -> ContextItem:
    title = f"checkpoint of {counted(len(checkpoint.messages), 'message')}"
    whole = Count(checkpoint.original_tokens, "estimated")
    words = one_line(checkpoint.summary or checkpoint.facts)
    return ContextItem(checkpoint.id, "checkpoints", f"{title}: {words}", tokens, whole)


def _group(message: Message) -> Group:
    if message.role == "assistant":
        return "assistant"
    return "tools" if message.role == "tool" else "user"
