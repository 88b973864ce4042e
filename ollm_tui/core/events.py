"""The events of turns, of recording and of snapshots, as every front end receives them.

A turn is `TurnStarted`, then any number of the events in the middle, then exactly one of
`TurnFinished`, `TurnCancelled` and `TurnFailed`. `SaveFailed` and `SaveResumed` may come
anywhere before that; a compression, where the prompt does not fit, before the first reply.
A reply that asks for tools is followed by the events of `core.tool_events` and another reply.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from ollm_tui.core.compression_events import AnyCompressionEvent
from ollm_tui.core.counts import ordinal
from ollm_tui.core.session.message import Message, ToolCallPart
from ollm_tui.core.tool_events import AnyToolEvent


class TurnEvent(msgspec.Struct, frozen=True, rename="camel", tag_field="event", tag=str.lower):
    """Something that happened in a turn; the tag names it in `--output stream-json`."""


class TurnStarted(TurnEvent, frozen=True, tag="turn-started"):
    """First event of a turn: the user's message is on disk (or SaveFailed came before)."""

    session_id: str
    user_message: Message
    continues: Message | None = None
    """The stopped answer that goes on; its text is the beginning of the first reply."""


class Prepared(TurnEvent, frozen=True, tag="preparing"):
    """Before the first word: a model is fetched, started or loaded. Ends with the next event."""

    what: str
    fraction: float | None = None
    """How much of it is done, from 0 to 1; None where that is unknown."""


class Queued(TurnEvent, frozen=True, tag="queued"):
    """The model answers another session first. Comes again when the place changes, and with place
    0 when the waiting is over."""

    place: int
    """Which in line it is; the first is being answered."""
    behind: str = ""
    """The title of the session before it in line; empty if it has none."""

    @property
    def words(self) -> str:
        """The place, for the user."""
        return f"{ordinal(self.place)} in line" + (f" behind {self.behind}" if self.behind else "")


class ReplyStarted(TurnEvent, frozen=True, tag="reply-started"):
    """A reply begins; the deltas that follow belong to it."""

    message_id: str
    model: str
    provider: str


class TextArrived(TurnEvent, frozen=True, tag="text"):
    """More text of the reply."""

    message_id: str
    text: str


class ReasoningArrived(TurnEvent, frozen=True, tag="reasoning"):
    """More of the model's thinking."""

    message_id: str
    text: str


class ToolCallRequested(TurnEvent, frozen=True, tag="tool-call"):
    """The model asks for a tool."""

    message_id: str
    call: ToolCallPart


class SaveFailed(TurnEvent, frozen=True, tag="save-failed"):
    """Records could not be written; they are kept in memory and tried again."""

    message: str
    hint: str
    unsaved: int


class SaveResumed(TurnEvent, frozen=True, tag="save-resumed"):
    """Everything kept back is on disk now. Ends SaveFailed."""

    saved: int


class PromptCut(TurnEvent, frozen=True, tag="prompt-cut"):
    """Just before the last event: the server cut the prompt without saying so."""

    read: int
    """Tokens the server says it read."""
    sent: int
    """Tokens the prompt has, at least."""

    @property
    def message(self) -> str:
        """What happened, for the user."""
        return f"the model received only {self.read:,} of at least {self.sent:,} tokens"

    @property
    def hint(self) -> str:
        """What to do about it."""
        return "the server cut the conversation; set a larger context.window"


OverflowChoice = Literal[
    "larger-window", "fold-own", "fold-or-exclude", "remove-attachment", "new-session"
]
"""What can be done about a prompt that is too long."""


class PromptTooLong(TurnEvent, frozen=True, tag="prompt-too-long"):
    """Just before TurnFailed: the prompt does not fit, so it was not sent, or was refused."""

    tokens: int
    limit: int | None
    """Tokens of the longest prompt that may be sent; None where only the server knows."""
    choices: tuple[OverflowChoice, ...]
    largest_window: int | None = None
    """The largest window of the model, where a larger one can be chosen."""
    estimated: bool = False
    """Whether `tokens` is an estimate."""

    @property
    def message(self) -> str:
        """What happened, for the user."""
        most = "" if self.limit is None else f", {self.limit:,} fit"
        about = "about " if self.estimated else ""
        return f"the prompt is too long: {about}{self.tokens:,} tokens{most}"

    @property
    def hint(self) -> str:
        """What to do about it."""
        largest = "more" if self.largest_window is None else f"{self.largest_window:,}"
        words: dict[OverflowChoice, str] = {
            "larger-window": f"use a larger window: context.window, up to {largest}",
            "fold-own": "fold your oldest messages: /compact --mine",
            "fold-or-exclude": "fold or exclude older messages",
            "remove-attachment": "remove the attachment",
            "new-session": "start a new session",
        }
        return "; ".join(words[choice] for choice in self.choices) or "shorten the message"


class TurnFinished(TurnEvent, frozen=True, tag="turn-finished"):
    """Last event: the reply is complete and recorded."""

    message: Message


class TurnCancelled(TurnEvent, frozen=True, tag="turn-cancelled"):
    """Last event: the user stopped it; what had arrived is recorded."""

    message: Message | None


class TurnFailed(TurnEvent, frozen=True, tag="turn-failed"):
    """Last event: the provider failed; what had arrived is recorded."""

    error: str
    hint: str
    kind: str
    """The name of the error's class, such as ModelMissing."""
    message: Message | None


AnyTurnEvent = (
    TurnStarted
    | Prepared
    | Queued
    | ReplyStarted
    | TextArrived
    | ReasoningArrived
    | ToolCallRequested
    | AnyToolEvent
    | SaveFailed
    | SaveResumed
    | AnyCompressionEvent
    | PromptCut
    | PromptTooLong
    | TurnFinished
    | TurnCancelled
    | TurnFailed
)
"""Every event of a turn, in the order in which they may come."""


class SessionCreated(TurnEvent, frozen=True, tag="session-created"):
    """The first record of a session is on disk."""

    session_id: str


class MessageRecorded(TurnEvent, frozen=True, tag="message-recorded"):
    """A message, or its end, is on disk."""

    session_id: str
    message_id: str


class ToolCallRecorded(TurnEvent, frozen=True, tag="tool-call-recorded"):
    """An executed tool call is on disk."""

    session_id: str
    call_id: str


class SessionSaved(TurnEvent, frozen=True, tag="session-saved"):
    """The session file holds everything recorded so far."""

    session_id: str


StoreEvent = (
    SessionCreated | MessageRecorded | ToolCallRecorded | SessionSaved | SaveFailed | SaveResumed
)
"""The events of recording; they come inside and outside of turns."""


class SnapshotCreated(TurnEvent, frozen=True, tag="snapshot-created"):
    """The user took a snapshot; it is on disk."""

    session_id: str
    snapshot_id: str


class AutoSnapshotCreated(TurnEvent, frozen=True, tag="auto-snapshot-created"):
    """The program took a snapshot; it is on disk."""

    session_id: str
    snapshot_id: str
    reason: str


class SnapshotRestored(TurnEvent, frozen=True, tag="snapshot-restored"):
    """The context is as it was in a snapshot, and that is recorded."""

    session_id: str
    snapshot_id: str


class SnapshotDeleted(TurnEvent, frozen=True, tag="snapshot-deleted"):
    """A snapshot was deleted, by the user or because there are newer ones."""

    session_id: str
    snapshot_id: str


class SnapshotFailed(TurnEvent, frozen=True, tag="snapshot-error"):
    """A snapshot could not be taken, restored or deleted; the conversation goes on."""

    session_id: str
    message: str
    hint: str
    reason: str = ""
    """Why a snapshot should have been taken; empty where something else failed."""


SnapshotEvent = (
    SnapshotCreated | AutoSnapshotCreated | SnapshotRestored | SnapshotDeleted | SnapshotFailed
)
"""The events of the snapshot service."""
