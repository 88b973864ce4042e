"""The events of tool calls and loops within a turn, and of waiting for the user's answers.

After `ReplyFinished` every call of that reply gets `ToolStarted` (with `ApprovalRequested` and
`ApprovalAnswered` before it where the user is asked) and `ToolFinished`, or only the latter
where it was refused; then the next reply starts.
"""

from __future__ import annotations

import msgspec

from ollm_tui.core.loop import LoopAnswer, LoopFound
from ollm_tui.core.session.message import Message, ToolCallPart, ToolResultPart
from ollm_tui.core.tool import Action, Decision, Verdict

REFUSED = "the user refused this"
"""How the result of a call begins that the user refused; the user's words may follow."""


class ToolEvent(msgspec.Struct, frozen=True, rename="camel", tag_field="event", tag=str.lower):
    """Something that happened to a tool call or because of a loop."""


class ReplyFinished(ToolEvent, frozen=True, tag="reply-finished"):
    """A reply that asks for tools is complete and recorded, or one that repeats itself was cut
    off; the turn goes on."""

    message: Message


class ApprovalRequested(ToolEvent, frozen=True, tag="approval-requested"):
    """A call waits for the user's answer. Ends with ApprovalAnswered, or with the turn."""

    message_id: str
    call: ToolCallPart
    action: Action
    verdict: Verdict


class ApprovalAnswered(ToolEvent, frozen=True, tag="approval-answered"):
    """The user, or a rule of theirs, decided about a call. Ends ApprovalRequested."""

    call_id: str
    decision: Decision


class ToolStarted(ToolEvent, frozen=True, tag="tool-started"):
    """A call is running."""

    message_id: str
    call: ToolCallPart
    action: Action


class ToolOutputArrived(ToolEvent, frozen=True, tag="tool-output"):
    """More of what a running call prints."""

    call_id: str
    text: str


class ToolFinished(ToolEvent, frozen=True, tag="tool-finished"):
    """A call is answered and recorded: done, failed, refused or cancelled. Ends ToolStarted."""

    message_id: str
    result: ToolResultPart
    summary: str
    seconds: float


class LoopPaused(ToolEvent, frozen=True, tag="loop-paused"):
    """The model repeats itself; the turn waits for the user. Ends with LoopAnswered."""

    found: LoopFound
    snapshot: str | None = None
    """The id of the snapshot taken before the loop, where there is one."""


class LoopAnswered(ToolEvent, frozen=True, tag="loop-answered"):
    """What the user said to a loop. Ends LoopPaused."""

    found: LoopFound
    answer: LoopAnswer


class ModelNudged(ToolEvent, frozen=True, tag="model-nudged"):
    """The model repeated itself for the first time and was told so; the turn goes on."""

    found: LoopFound


class LoopReplyRecorded(ToolEvent, frozen=True, tag="model-told"):
    """What the user said to a loop is recorded as a message; the next reply follows it."""

    message: Message


AnyToolEvent = (
    ReplyFinished
    | ApprovalRequested
    | ApprovalAnswered
    | ToolStarted
    | ToolOutputArrived
    | ToolFinished
    | LoopPaused
    | LoopAnswered
    | ModelNudged
    | LoopReplyRecorded
)
