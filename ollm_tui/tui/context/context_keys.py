"""The keys of the breakdown of the context, and a word for each."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from textual.binding import Binding

KEYS: Mapping[str, str] = MappingProxyType(
    {
        "breakdown.pin": "pin",
        "breakdown.leave_out": "leave out",
        "breakdown.drop": "drop exchange",
        "breakdown.fold": "fold",
        "breakdown.compact_above": "compact above",
        "breakdown.undo": "undo",
        "choices.choose": "go there",
        "breakdown.order": "order",
        "breakdown.facts": "facts",
        "breakdown.prompt": "prompt",
        "breakdown.export": "export",
        "breakdown.close": "close",
    }
)

BINDINGS = (
    Binding("escape", "back", "Close", id="breakdown.close", tooltip="Not so, or close"),
    Binding("f5", "close", "Close", id="breakdown.leave", tooltip="Back to the chat"),
    Binding(
        "p",
        "change('pin')",
        "Pin",
        id="breakdown.pin",
        tooltip="Keep it in every prompt, or no longer",
    ),
    Binding(
        "x",
        "change('leave_out')",
        "Leave out",
        id="breakdown.leave_out",
        tooltip="Do not send it, or send it again",
    ),
    Binding(
        "d",
        "change('drop')",
        "Leave out the exchange",
        id="breakdown.drop",
        tooltip="Do not send the question and all that answers it",
    ),
    Binding(
        "f",
        "change('fold')",
        "Fold",
        id="breakdown.fold",
        tooltip="Send its first words only, or all of it",
    ),
    Binding(
        "a",
        "compact_above",
        "Compact above here",
        id="breakdown.compact_above",
        tooltip="Show what compressing all that was said above this would do, then do it or not",
    ),
    Binding("u", "undo", "Undo", id="breakdown.undo", tooltip="Take the last change back"),
    Binding(
        "o",
        "order",
        "Order",
        id="breakdown.order",
        tooltip="The largest first, or as they were said",
    ),
    Binding(
        "i",
        "facts",
        "Facts",
        id="breakdown.facts",
        tooltip="Goal, model, mode and speed on the whole screen, or the list",
    ),
    Binding(
        "v", "prompt", "Prompt", id="breakdown.prompt", tooltip="Read the prompt as it is sent"
    ),
    Binding("e", "export", "Export", id="breakdown.export", tooltip="Write the prompt into a file"),
)
