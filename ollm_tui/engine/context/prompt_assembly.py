"""Assembles the prompt as a pure function of the record: the same record gives the same bytes.

Adding a message costs the same however long the conversation is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Literal, NamedTuple

from ollm_tui.core.provider import PromptMessage
from ollm_tui.core.session.compression import Shortening
from ollm_tui.core.session.context_marks import Marks
from ollm_tui.core.session.message import Message, Text
from ollm_tui.engine.context.prompt_message import Said, checkpoint_text, said_by
from ollm_tui.services.tokens.prompt_count import Piece

LEFT_OUT = PromptMessage(role="user", text="[earlier messages were left out]")
"""Sent before a reply whose question is left out: many chat templates demand that the user and
the assistant take turns."""


GOES_ON = PromptMessage(role="user", text="[the above in short; the last steps follow in full]")
"""Sent between a checkpoint and a reply of the same turn, for the same reason."""


class Section(NamedTuple):
    """A part of the system prompt, or data that is sent before the conversation."""

    key: str
    text: str
    title: str = ""
    """The name in the breakdown, where the key does not say it."""
    is_data: bool = False
    """Whether it is data: that is sent as the user and never stands in the system message."""


class Owner(NamedTuple):
    """A message or checkpoint that is part of a piece."""

    key: str
    size: int
    """Its weight when the tokens of the piece are shared out."""


Kind = Literal["user", "reply", "checkpoint"]


class _Run:
    """Consecutive messages that become one step of the prompt: those of the user, or a reply with
    its tool results, or a checkpoint.
    """

    __slots__ = ("kind", "results", "said", "start")

    def __init__(self, kind: Kind, start: int) -> None:
        self.kind = kind
        self.start = start  # the index of its first piece; it writes all pieces from there on
        self.said: list[tuple[str, Said]] = []
        self.results: list[tuple[str, PromptMessage]] = []

    @property
    def owners(self) -> list[Owner]:
        """The messages in it, each with its weight."""
        return [Owner(key, said.size) for key, said in self.said]

    def take_results(self, key: str, results: Sequence[PromptMessage]) -> None:
        """Take the results that answer a call of this reply, one for each call."""
        if not results:
            return
        open_calls = {call.call_id for _, said in self.said for call in said.calls}
        open_calls -= {result.tool_call_id or "" for _, result in self.results}
        for result in results:
            if result.tool_call_id in open_calls:
                open_calls.discard(result.tool_call_id)
                self.results.append((key, result))


class Assembly:
    """The prompt of one branch, in an order every provider accepts.

    The user's messages that follow one another are joined, and so are replies; calls and
    results of tools are sent in pairs or not at all. A checkpoint speaks in the place of the
    last message it stands for: what stands before it is the same before and after compressing.
    Data of the context begins the first message of the user: it never speaks as the system.
    """

    def __init__(self, sections: Sequence[Section], marks: Marks, shortening: Shortening) -> None:
        self.sections = tuple(sections)
        self.marks = marks
        self.shortening = shortening
        """The checkpoints and elisions that hold on this branch."""
        self._covered = shortening.covered
        self._compacted = {each.id: each.compacted for each in shortening.checkpoints}
        self._endings = {each.messages[-1]: each for each in shortening.checkpoints}
        self.leaf: str | None = None
        """The id of the last message."""
        self.messages: list[Message] = []
        """All messages of the branch but those in the system prompt, sent or not."""
        self._pieces: list[Piece] = []
        self._owners: list[tuple[Owner, ...]] = []
        self._runs: list[_Run] = []
        self._unwritten: _Run | None = None
        """The last run if messages were added to it since its pieces were written. It is written
        when they are asked for: thousands of messages may be joined in it."""
        spoken = [section for section in self.sections if section.text]
        self._head = [section.text for section in spoken if not section.is_data]
        self._data = {section.key: Said(section.text) for section in spoken if section.is_data}
        self._write_head()

    @property
    def pieces(self) -> list[Piece]:
        """What is sent, in order."""
        self._write()
        return self._pieces

    @property
    def owners(self) -> list[tuple[Owner, ...]]:
        """For each piece the messages it is made of."""
        self._write()
        return self._owners

    @property
    def prompt(self) -> tuple[PromptMessage, ...]:
        """The messages that are sent."""
        return tuple(piece.message for piece in self.pieces)

    def frozen(self) -> FrozenPrompt:
        """The prompt as it is now; messages added later do not change it."""
        # Only the last run that has pieces is ever written again, so only its pieces are copied.
        spoken = (run.start for run in reversed(self._runs) if run.start < len(self.pieces))
        fixed = next(spoken, 0)
        return FrozenPrompt(
            self, len(self.messages), fixed, self.pieces[fixed:], self.owners[fixed:]
        )

    def add(self, message: Message) -> None:
        """Add a message at the end."""
        self.leaf = message.id
        # Later ones are sent as the user and untrusted ones as data: the prefix never changes.
        if message.role == "system" and not self.messages and _is_trusted(message):
            self._head.append(message.text)
            self._write_head()
            return
        self.messages.append(message)
        if self._is_sent(message.id):
            self._say(message)
        if checkpoint := self._endings.get(message.id):
            run = self._run_for("checkpoint")
            run.said.append((checkpoint.id, Said(checkpoint_text(checkpoint))))
            self._unwritten = run

    def _is_sent(self, key: str) -> bool:
        """Whether a message is sent; one that a checkpoint covers only if the user pinned it."""
        marks = self.marks
        return key not in marks.excluded and (key not in self._covered or key in marks.pinned)

    def _say(self, message: Message) -> None:
        """Put a message into the run it belongs to, and its results into that of their calls."""
        said = said_by(
            message,
            self.marks.folded.get(message.id),
            self.shortening.elided.get(message.id),
        )
        kind = "reply" if message.role == "assistant" else "user"
        if kind == "user" and said.results and self._runs:
            self._add_results(self._runs[-1], message.id, said)
        if said.speaks:
            run = self._run_for(kind)
            run.said.append((message.id, said))
            run.take_results(message.id, said.results)
            self._unwritten = run

    def _add_results(self, run: _Run, key: str, said: Said) -> None:
        if run.kind == "reply":
            run.take_results(key, said.results)
            self._unwritten = run

    def _run_for(self, kind: Kind) -> _Run:
        """The run that a message of this kind belongs to: the last one, or a new one."""
        runs = self._runs
        if runs and runs[-1].kind == kind != "checkpoint" and not runs[-1].results:
            return runs[-1]
        self._write()
        # A run without pieces is a reply of nothing but unanswered calls: it is not sent, so the
        # messages around it are neighbours.
        while runs and runs[-1].kind != kind and runs[-1].start == len(self._pieces):
            runs.pop()
        if not runs or runs[-1].kind != kind or runs[-1].results or kind == "checkpoint":
            runs.append(_Run(kind, len(self._pieces)))
        return runs[-1]

    def _write(self) -> None:
        """Write the pieces of the last run, in place of those it had before."""
        run, self._unwritten = self._unwritten, None
        if run is None:
            return
        del self._pieces[run.start :]
        del self._owners[run.start :]
        write = {"user": self._user, "reply": self._reply, "checkpoint": self._checkpoint}
        written = list(write[run.kind](run))
        before = self._pieces[-1].message.role if self._pieces else "system"
        if written and run.kind != "user" and before not in ("user", "tool"):
            ends_short = bool(self._pieces) and self._pieces[-1].group == "checkpoints"
            follows = ends_short and run.kind == "reply"
            filler = ("goes on", GOES_ON) if follows else ("left out", LEFT_OUT)
            written.insert(0, ((), Piece.of(*filler)))
        for owners, piece in written:
            self._owners.append(owners)
            self._pieces.append(piece)

    def _user(self, run: _Run) -> Iterable[tuple[tuple[Owner, ...], Piece]]:
        message = PromptMessage(
            role="user",
            text=_joined(said.text for _, said in run.said),
            images=tuple(image for _, said in run.said for image in said.images),
        )
        yield self._piece(run.owners, message)

    def _checkpoint(self, run: _Run) -> Iterable[tuple[tuple[Owner, ...], Piece]]:
        key, said = run.said[0]
        text, compacted = said.text, self._compacted.get(key)
        message = PromptMessage(role="assistant", text=text, compacted=compacted)
        key = f"checkpoint:{digest(text)}{':compacted' if compacted else ''}"
        yield tuple(run.owners), Piece.of(key, message, "checkpoints")

    def _reply(self, run: _Run) -> Iterable[tuple[tuple[Owner, ...], Piece]]:
        # Providers refuse a call without its result, and an id that comes twice.
        all_calls = [call for _, said in run.said for call in said.calls]
        answered = {result.tool_call_id for _, result in run.results}
        by_id = {call.call_id: call for call in reversed(all_calls) if call.call_id in answered}
        calls = tuple(reversed(by_id.values()))
        only = run.said[0][1] if len(run.said) == 1 else None
        # As its server sent it only if it is sent whole.
        is_whole = only is not None and only.opaque is not None and len(calls) == len(all_calls)
        message = PromptMessage(
            role="assistant",
            text=_joined(said.text for _, said in run.said),
            images=tuple(image for _, said in run.said for image in said.images),
            tool_calls=calls,
            reasoning=only.reasoning if only and is_whole else "",
            opaque=only.opaque if only and is_whole else None,
        )
        if not (message.text or message.images or calls):
            return
        # Counts are cached by key: with only some of its calls it is another piece.
        some = "" if len(calls) == len(all_calls) else ":" + ",".join(c.call_id for c in calls)
        yield self._piece(run.owners, message, some)
        for key, result in run.results:
            yield self._piece([Owner(key, 1)], result, f":{result.tool_call_id}")

    def _piece(
        self, owners: Sequence[Owner], message: PromptMessage, suffix: str = ""
    ) -> tuple[tuple[Owner, ...], Piece]:
        """A piece with its owners. Its key is the message's id, or a hash of the text where it is
        made of several, with a suffix for each way in which the same message is sent."""
        keys = [owner.key for owner in owners if owner.key not in self._data]
        is_one = len(keys) == len(owners) == 1
        name = keys[0] if is_one else f"joined:{digest(message.text)}"
        if any(key in self.marks.folded for key in keys):
            suffix += ":folded"
        if any(key in self.shortening.elided for key in keys):
            suffix += ":elided"
        pinned = all(key in self.marks.pinned for key in keys)
        data = sum(owner.size for owner in owners if owner.key in self._data)
        group = "system" if pinned else None
        return tuple(owners), Piece.of(name + suffix, message, group, data)

    def _write_head(self) -> None:
        """Write the system message and the data. Only called while no message was added."""
        text = _joined(self._head)
        if text:
            message = PromptMessage(role="system", text=text)
            self._pieces = [Piece.of(f"system:{digest(text)}", message)]
            self._owners = [()]
        if self._data:
            run = _Run("user", int(bool(text)))
            run.said = list(self._data.items())
            self._runs = [run]
            self._unwritten = run


class FrozenPrompt(NamedTuple):
    """A prompt that stays as it is when its assembly grows. It shares the pieces that the
    assembly never writes again, and has copies of the others.
    """

    assembly: Assembly
    said: int
    """How many messages of the assembly belong to it."""
    fixed: int
    """How many pieces of the assembly belong to it; the copies follow them."""
    last_pieces: list[Piece]
    last_owners: list[tuple[Owner, ...]]

    @property
    def messages(self) -> list[Message]:
        """The messages, sent or not."""
        return self.assembly.messages[: self.said]

    def pieces(self) -> Iterator[tuple[Piece, tuple[Owner, ...]]]:
        """The pieces, and the messages each is made of."""
        assembly = self.assembly
        yield from zip(assembly.pieces[: self.fixed], assembly.owners[: self.fixed], strict=True)
        yield from zip(self.last_pieces, self.last_owners, strict=True)

    def backwards(self) -> Iterator[Piece]:
        """The pieces from the last to the first; none is copied."""
        yield from reversed(self.last_pieces)
        for index in range(self.fixed - 1, -1, -1):
            yield self.assembly.pieces[index]


def assemble(
    sections: Sequence[Section],
    branch: Sequence[Message],
    marks: Marks | None = None,
    shortening: Shortening | None = None,
) -> Assembly:
    """The prompt of a branch from its beginning."""
    assembly = begin(sections, branch, marks or Marks(), shortening or Shortening())
    for message in branch:
        assembly.add(message)
    return assembly


def begin(
    sections: Sequence[Section], branch: Sequence[Message], marks: Marks, shortening: Shortening
) -> Assembly:
    """The prompt that the messages of a branch are to be added to."""
    return Assembly(sections, marks, shortening.within({message.id for message in branch}))


def _is_trusted(message: Message) -> bool:
    return all(isinstance(part, Text) and part.trusted for part in message.parts)


def _joined(texts: Iterable[str]) -> str:
    return "\n\n".join(text for text in texts if text.strip())


def digest(text: str) -> str:
    """A short hash of a text, for keys that change with it."""
    return blake2b(text.encode("utf-8", "replace"), digest_size=12).hexdigest()
