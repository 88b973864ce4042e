"""Tools of the model: what a call would do, what the user says to it, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol

from ollm_tui.core.provider import ToolSpec
from ollm_tui.core.session.message import Attachment, Value

Effect = Literal["none", "read", "write", "run"]
"""Touches nothing outside of the session, reads files, changes files, or runs a program."""

ApprovalMode = Literal["ask", "auto-edit", "auto"]
"""Ask before every change; edit files unasked; run commands unasked too. What is dangerous
asks in each of them."""
APPROVAL_MODES: tuple[ApprovalMode, ...] = ("ask", "auto-edit", "auto")


class Action(Value, frozen=True):
    """What one call would do, as the user is shown it. What is done is exactly this."""

    effect: Effect
    title: str
    """What it is in a few words, after "wants to": "run", "change", "read"."""
    subject: str
    """The whole command, or the path; foreign text."""
    place: str = ""
    """The directory it happens in, where that matters."""
    language: str = ""
    """Of the code that is run: shell or python."""
    diff: str = ""
    """What would change, as a unified diff."""
    reads: tuple[str, ...] = ()
    """The paths and patterns it reads, where the subject says more than that."""


class Verdict(Value, frozen=True):
    """What the rules say to an action."""

    ruling: Literal["allow", "ask", "deny"]
    reason: str
    """Why, in one line fit for the user."""
    dangerous: bool = False
    """Asks in every mode, and cannot be allowed for good."""
    grant: str = ""
    """What "always" would remember, in one line; empty where there is nothing to remember."""


class Decision(Value, frozen=True):
    """What the user answered to an action."""

    answer: Literal["yes", "no", "always", "never"]
    scope: Literal["once", "session", "project"] = "once"
    words: str = ""
    """What the model is told with a no."""


class ToolOutcome(Value, frozen=True):
    """What a call came to. The text may be cut for the model; whole, it stays on record."""

    text: str
    is_error: bool = False
    changed: bool | None = None
    """Whether anything is different now; None where nobody knows."""
    summary: str = ""
    """The outcome in a few words, for one line: "212 lines", "exit 1"."""
    attachments: tuple[Attachment, ...] = ()
    """Pictures, where the model can see them."""
    is_ours: bool = False
    """The program or the user says so, and nothing foreign is in it: no data to be delimited."""


Tell = Callable[[str], None]
"""Told more of the output while a call runs; text that was filtered."""


class PlannedCall(Protocol):
    """A call that was understood and checked, and has done nothing yet."""

    @property
    def action(self) -> Action:
        """What it would do."""
        ...

    async def run(self, tell: Tell) -> ToolOutcome:
        """Do it. ToolError if it cannot be done. Cancelling it ends all that it started."""
        ...


class Tool(Protocol):
    """Something the model can ask for."""

    @property
    def spec(self) -> ToolSpec:
        """What the model is told about it; short enough for a small window."""
        ...

    async def plan(self, args: Mapping[str, Any]) -> PlannedCall:
        """Understand a call. ToolError, in words for the model, if its arguments are wrong."""
        ...
