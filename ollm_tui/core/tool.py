"""Tools of the model: what a call would do, what is decided about it, and its outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol

from ollm_tui.core.provider import ToolSpec
from ollm_tui.core.session.message import Attachment, Value

Effect = Literal["none", "read", "write", "run"]
"""The call touches nothing outside the session, reads files, changes files or runs a program."""

ApprovalMode = Literal["ask", "auto-edit", "auto"]
"""Ask before every change; edit files unasked; run commands unasked too. What is dangerous
is asked about in each of them."""
APPROVAL_MODES: tuple[ApprovalMode, ...] = ("ask", "auto-edit", "auto")


class Action(Value, frozen=True):
    """What one call would do, as the user is shown it; exactly this is done."""

    effect: Effect
    title: str
    """What it is in a few words, after "wants to": "run", "change", "read"."""
    subject: str
    """The whole command, or the path; foreign text."""
    place: str = ""
    """The directory it happens in, where that matters."""
    language: str = ""
    """The language of the code that is run: shell or python."""
    diff: str = ""
    """What would change, as a unified diff."""
    reads: tuple[str, ...] = ()
    """The paths and patterns it reads, where the subject says more than that."""
    is_outside: bool = False
    """Whether a server, an extension or another program does it, which no sandbox holds."""


class Verdict(Value, frozen=True):
    """What the rules say about an action."""

    ruling: Literal["allow", "ask", "deny"]
    reason: str
    """Why, in one line fit for the user."""
    dangerous: bool = False
    """Whether the user is asked in every mode and cannot allow it for good."""
    grant: str = ""
    """What "always" would remember, in one line; empty where there is nothing to remember."""


class Decision(Value, frozen=True):
    """What the user answered to an action."""

    answer: Literal["yes", "no", "always", "never"]
    scope: Literal["once", "session", "project"] = "once"
    words: str = ""
    """What the model is told with a no."""


class ToolOutcome(Value, frozen=True):
    """The result of a call. The model may be given a cut text; the record keeps all of it."""

    text: str
    is_error: bool = False
    changed: bool | None = None
    """Whether the call changed anything; None where that is unknown."""
    summary: str = ""
    """The outcome in a few words, for one line: "212 lines", "exit 1"."""
    attachments: tuple[Attachment, ...] = ()
    """Pictures, where the model can see them."""
    is_ours: bool = False
    """Whether the text is the program's or the user's own, so it is not delimited as data."""


Tell = Callable[[str], None]
"""Takes more output while a call runs; the text has passed the intake filter."""


class PlannedCall(Protocol):
    """A call that was checked and has done nothing yet."""

    @property
    def action(self) -> Action:
        """What it would do."""
        ...

    async def run(self, tell: Tell) -> ToolOutcome:
        """Do it. ToolError if it cannot be done. Cancelling it ends everything it started."""
        ...


def wire_name(name: str) -> str:
    """The name of a tool as servers of models take it: the dot of `server.tool` is not allowed
    by most of them."""
    return name.replace(".", "__").replace("/", "_")


class Tool(Protocol):
    """Something the model can ask for."""

    @property
    def spec(self) -> ToolSpec:
        """What the model is told about it; short enough for a small window."""
        ...

    async def plan(self, args: Mapping[str, Any]) -> PlannedCall:
        """Check a call. ToolError, with a message for the model, if its arguments are wrong."""
        ...
