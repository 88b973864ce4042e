"""The reaction to a loop: the model is told once, then the turn pauses and the user is asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import NamedTuple

from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.errors import OllmError
from ollm_tui.core.intake import clean
from ollm_tui.core.loop import LoopAnswer, LoopFound, LoopRecord
from ollm_tui.core.session.message import Message, Role, Text, new_id
from ollm_tui.core.session.record import MessageAdded
from ollm_tui.core.session.session import Metadata
from ollm_tui.core.tool_events import LoopAnswered, LoopPaused, LoopReplyRecorded, ModelNudged
from ollm_tui.engine.conversation.held_session import HeldSession
from ollm_tui.engine.conversation.stoppable import Stoppable
from ollm_tui.engine.loops.allowances import ALL_ROUNDS
from ollm_tui.engine.loops.detector import LoopDetector
from ollm_tui.engine.loops.evidence import told_to_the_model
from ollm_tui.settings.schema import LoopDetection

MOST_REMEMBERED = 200
"""Loops of a session that are kept in its metadata, the newest."""

ChangeMetadata = Callable[[Metadata], Awaitable[None]]
AnyLoopEvent = LoopPaused | LoopAnswered | ModelNudged


class StoppedByLoop(OllmError):
    """A turn was stopped because the model repeated itself and nobody could be asked."""


class _Answer(NamedTuple):
    answer: LoopAnswer
    words: str


def _limit_of(found: LoopFound) -> str:
    """Return the setting that ended the turn."""
    if found.type != "turn-limit":
        return "repeatThreshold"
    return "maxRounds" if found.pattern == ALL_ROUNDS else "maxTurns"


class LoopWatch:
    """Watches one conversation; a loop pauses the turn until `answer` is called."""

    def __init__(
        self,
        session: HeldSession,
        change: ChangeMetadata,
        settings: LoopDetection,
        can_ask: Callable[[], bool],
        snapshot: Callable[[], Awaitable[str | None]],
    ) -> None:
        self._session = session
        self._change = change
        self._detector = LoopDetector(settings)
        self._can_ask = can_ask
        self._snapshot = snapshot
        self._waiting: asyncio.Future[_Answer] | None = None
        self._words = ""
        """What the user wants to say to the model; sent between its replies."""
        self.user_spoke = self._detector.user_spoke
        self.round = self._detector.round
        self.delta = self._detector.delta
        self.output = self._detector.output
        self.called = self._detector.tool_called
        self.answered = self._detector.tool_answered

    @property
    def paused(self) -> LoopFound | None:
        """The loop that waits for an answer of the user."""
        return self._detector.paused

    def answer(self, answer: LoopAnswer, words: str = "") -> None:
        """Answer the loop that pauses the turn; does nothing if none is waiting."""
        if self._waiting and not self._waiting.done():
            self._waiting.set_result(_Answer(answer, words))

    @property
    def has_words(self) -> bool:
        """Whether there is something of the user to say to the model."""
        return bool(self._words)

    async def tell(self) -> LoopReplyRecorded | None:
        """Add the user's words for the model to the session; return None if there are none.

        To be called where every call has its answer and no reply is being written: elsewhere the
        words would not be part of the prompt.
        """
        words, self._words = self._words, ""
        return LoopReplyRecorded(await self._say("user", words)) if words else None

    async def pause(
        self, found: LoopFound, stoppable: Stoppable, *, between_calls: bool = False
    ) -> AsyncGenerator[AnyLoopEvent, None]:
        """Tell the model of the loop, or wait for the user.

        The model can only be told between its calls. Raises StoppedByLoop if nobody can be asked.
        """
        if found.nudge and between_calls:
            await self._say("system", told_to_the_model(found))
            await self._note(found, "nudge")
            self._detector.go_on_once()
            yield ModelNudged(found)
            return
        # Before the event: whoever receives it may answer at once.
        waiting = self._waiting = asyncio.get_running_loop().create_future()
        yield LoopPaused(found, await self._snapshot())
        if not self._can_ask():
            await self._note(found, "stop")
            raise StoppedByLoop(
                f"stopped: the model {found.evidence}",
                f"ask for a smaller step, or raise loopDetection.{_limit_of(found)}",
            )
        given = await stoppable.wait(waiting)
        self._waiting = None
        answer, words = given or _Answer("stop", "")
        await self._obey(found, answer, words, stoppable)
        yield LoopAnswered(found, answer)

    async def _obey(
        self, found: LoopFound, answer: LoopAnswer, words: str, stoppable: Stoppable
    ) -> None:
        await self._note(found, answer)
        if answer in ("stop", "back"):
            stoppable.stop()
            return
        if answer == "allow":
            self._detector.allow(found.tool or found.pattern)
        self._detector.go_on_once()
        if answer == "tell":
            self._words = clean(words).strip() or told_to_the_model(found)

    async def _say(self, role: Role, words: str) -> Message:
        state = self._session.state
        message = Message(
            id=new_id(),
            role=role,
            parts=(Text(words),),
            timestamp=clock.now(),
            parent_id=state.header.head,
        )
        await self._session.record(MessageAdded(at=message.timestamp, message=message))
        return message

    async def _note(self, found: LoopFound, answer: str) -> None:
        """Record the loop and how it was answered in the session's metadata."""
        metadata = self._session.state.header.metadata
        record = LoopRecord(clock.now(), found.type, found.evidence, found.count, answer)
        loops = (*metadata.loops, record)[-MOST_REMEMBERED:]
        await self._change(replace(metadata, loops=loops))
