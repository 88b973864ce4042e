"""The words of tools: what is asked and answered, what they may do, how freely the model acts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from ollm_tui.core.intake import visible
from ollm_tui.core.tool import ApprovalMode

MODES: Mapping[ApprovalMode, str] = {
    "ask": "confirm every change",
    "auto-edit": "edit files freely, confirm commands",
    "auto": "confirm only dangerous calls",
}
APPLIES_TO = "Always/never apply to {}"
SAY_WHY = "Tell the model what to do instead"
TELL = "That is always the same. Try something else, or answer with what you know."
"""What the model is told where it repeats itself; the user may change it before it is sent."""
NO_TOOLS = "none (model without tools, or no message sent yet)"
NO_SANDBOX = "known after the first message"
NO_GRANTS = "none yet: a and d in an approval save one"
PAGE_KEYS = "↑↓ PgUp PgDn scroll   Esc close"
WIDE = 100
"""Columns from which on mode and sandbox have room beside the title."""
NARROW = 60
"""Columns up to which there is room only for what is not as it should be."""
NOT_HELD = "not sandboxed"
"""What is said of a call that a server, an extension or another program does."""
HOLDS_WELL = "✓"
"""The words of a sandbox that holds everything begin with this."""


class Brakes(Protocol):
    """What says how freely the model may act."""

    @property
    def offered(self) -> tuple[str, ...]:
        """The tools the model is told about."""
        ...

    @property
    def approval_mode(self) -> ApprovalMode:
        """When the user is asked."""
        ...

    @property
    def sandbox_words(self) -> str:
        """What holds the commands of the model; empty until that is known."""
        ...


def brakes(tools: Brakes, width: int) -> str:
    """Return mode and sandbox for the title line.

    Where there is little room, or nothing the model could do, that is only what is not as usual.
    That commands are not held, or not by the best sandbox, is seen at every width.
    """
    mode = tools.approval_mode
    if not tools.offered:
        return "" if mode == "ask" else mode
    sandbox = visible(tools.sandbox_words).partition(",")[0]
    if width < WIDE:
        mode = "" if mode == "ask" else mode
        holds_well = sandbox.startswith(HOLDS_WELL)
        sandbox = "" if holds_well and width <= NARROW else sandbox.partition(":")[0]
    return "   ".join(fact for fact in (mode, sandbox) if fact)


# Said in commands

NO_TOOL_CALL_HERE = "No tool call here"
SELECT_ANOTHER = "select a message with one"
WHICH_TOOL = "Which tool?"
WHICH_TOOL_USAGE = "/tool exec off; /tools lists all"
TOOL_USAGE = "/tool exec off"
NO_APPROVAL_PENDING = "No approval pending"
WHEN_THE_MODEL_ASKS = "the model asks before it changes something"
TOOLS_USAGE = "/tools or /tools clear"
TOOLS_AND_PERMISSIONS = "Tools and permissions"
TOOL_OUTPUT = "Tool output"

# Said in tool_display

MODEL_READS = "the model is reading the answer"
PAUSED = "paused: the model is repeating itself"
