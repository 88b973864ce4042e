"""The words of tools: what is asked and answered, what they may do, how freely the model acts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from ollm_tui.core.intake import visible
from ollm_tui.core.tool import ApprovalMode

MODES: Mapping[ApprovalMode, str] = {
    "ask": "you are asked before every change",
    "auto-edit": "files are changed unasked, commands ask",
    "auto": "commands run unasked too, what is dangerous asks",
}
APPLIES_TO = "Always/never apply to {}"
SAY_WHY = "what the model should know, or do instead"
TELL = "That is always the same. Try something else, or answer with what you know."
"""What the model is told where it repeats itself; the user may change it before it is sent."""
NO_TOOLS = "none: this model cannot use tools, or nothing was sent yet"
NO_SANDBOX = "known when the first message is sent"
NO_GRANTS = "nothing yet: a and d answer a question for good"
PAGE_KEYS = "j k Space g G read   Esc close"
WIDE = 100
"""Columns from which on mode and sandbox have room beside the title."""
NARROW = 60
"""Columns up to which there is room only for what is not as it should be."""
NOT_HELD = "not sandboxed"
"""What is said of a call that a server, an extension or another program does."""
HOLDS_WELL = "⛨"
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
