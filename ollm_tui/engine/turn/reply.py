"""A reply while it is being written: what arrives is filtered, and on disk within a second."""

from __future__ import annotations

import asyncio
from typing import Literal

from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.intake import IntakeFilter
from ollm_tui.core.session.message import Message, Opaque, Part, Status, ToolCallPart, Usage
from ollm_tui.core.session.record import AnyRecord, MessageAdded, MessageFinished, TextAppended
from ollm_tui.services.sessions.recording import Recorder

RECORD_AFTER_SECONDS = 0.5
"""Half of the second that a crash may cost at most; the disk takes the other half."""
PIECE_CHARACTERS = 60_000
"""Text goes to the journal in pieces no longer than this, far below the limit of a line."""

PartKind = Literal["text", "reasoning"]


class Reply:
    """Collects one reply and records it piece by piece; foreign text is filtered on its way in."""

    def __init__(self, recorder: Recorder, message: Message) -> None:
        self.message = message
        self._recorder = recorder
        # One each: a terminal sequence that is split over chunks continues in its own part.
        self._filters: dict[PartKind, IntakeFilter] = {
            "reasoning": IntakeFilter(),
            "text": IntakeFilter(),
        }
        self._unrecorded: list[tuple[PartKind, list[str]]] = []
        self._calls: list[ToolCallPart] = []
        self._added = False
        self._finished = False
        self._timer: asyncio.Task[None] | None = None

    @property
    def begun(self) -> bool:
        """Whether anything of the reply arrived."""
        return self._added or bool(self._unrecorded or self._calls)

    @property
    def calls(self) -> tuple[ToolCallPart, ...]:
        """The tool calls of the reply so far."""
        return tuple(self._calls)

    def add_text(self, text: str) -> str:
        """Take in more of the answer; returns what may be shown of it."""
        return self._take("text", self._filters["text"].feed(text))

    def add_reasoning(self, text: str) -> str:
        """Take in more of the reasoning; returns what may be shown of it."""
        return self._take("reasoning", self._filters["reasoning"].feed(text))

    def add_call(self, call: ToolCallPart) -> None:
        """Take in a tool call."""
        self._calls.append(call)

    async def finish(
        self,
        status: Status,
        *,
        usage: Usage | None = None,
        model: str | None = None,
        error: str | None = None,
        opaque: Opaque | None = None,
    ) -> Message:
        """Record the end and everything not recorded yet; returns the whole message.

        A reply ends once: the front end may go away right after it was told the end. One that was
        to go on with a stopped answer and got no further is that answer: there is no new version.
        """
        continued = self.message.continues
        if continued and not self.begun and status in ("cancelled", "failed"):
            return self._recorder.state[continued.message_id]
        if self._finished:
            return self._recorder.state[self.message.id]
        self._finished = True
        if self._timer:
            self._timer.cancel()
        # A filter may still hold back half of a surrogate pair.
        for kind, rest in self._filters.items():
            self._take(kind, rest.finish())
        parts: tuple[Part, ...] = tuple(self._calls)
        if opaque is not None:
            parts = (*parts, replace(opaque, calls=tuple(call.call_id for call in self._calls)))
        end = MessageFinished(
            at=clock.now(),
            message_id=self.message.id,
            status=status,
            usage=usage,
            model=model,
            error=error,
            parts=parts,
        )
        await self._recorder.record(*self._due_records(), end)
        return self._recorder.state[self.message.id]

    def _take(self, kind: PartKind, text: str) -> str:
        """Keep a text to be recorded soon; returns it."""
        if text:
            if not self._unrecorded or self._unrecorded[-1][0] != kind:
                self._unrecorded.append((kind, []))
            self._unrecorded[-1][1].append(text)
            if self._timer is None or self._timer.done():
                self._timer = asyncio.create_task(self._record_soon())
        return text

    async def _record_soon(self) -> None:
        await asyncio.sleep(RECORD_AFTER_SECONDS)
        await self._recorder.record(*self._due_records())

    def _due_records(self) -> list[AnyRecord]:
        """The records of what has arrived since the last ones; the first adds the message."""
        moment = clock.now()
        records: list[AnyRecord] = []
        if not self._added:
            self._added = True
            records.append(
                MessageAdded(at=moment, message=replace(self.message, status="streaming"))
            )
        for kind, pieces in self._unrecorded:
            text = "".join(pieces)
            for start in range(0, len(text), PIECE_CHARACTERS):
                part = text[start : start + PIECE_CHARACTERS]
                records.append(
                    TextAppended(at=moment, message_id=self.message.id, part=kind, text=part)
                )
        self._unrecorded.clear()
        return records
