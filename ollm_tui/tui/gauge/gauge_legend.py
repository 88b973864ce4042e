"""What the segments and marks of the gauge stand for: below the bar, and in the help."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content

from ollm_tui.core.counts import short_count
from ollm_tui.services.tokens.prompt_count import GROUPS
from ollm_tui.tui.gauge.gauge_bar import MARKS, Characters, Kind

if TYPE_CHECKING:
    from ollm_tui.engine.context.context_view import ContextView

GAP = "   "


class Meaning(NamedTuple):
    """A few words, the colour of the bar, and a sentence."""

    words: str
    colour: str
    sentence: str


MEANINGS: Mapping[Kind, Meaning] = MappingProxyType(
    {
        "system": Meaning("always sent", "$secondary", "System prompt, goal, notes, pinned"),
        "checkpoints": Meaning("checkpoints", "$secondary", "Summaries of older messages"),
        "user": Meaning("yours", "$accent", "Your messages"),
        "assistant": Meaning("the model's", "$primary", "The answers"),
        "tools": Meaning("tools", "$success", "What tools gave"),
        "free": Meaning("free", "$text-muted", "Room for more"),
        "reserve": Meaning("for the answer", "$text-muted", "Kept free for the next answer"),
        "trigger": Meaning("compresses at", "$foreground", "Here the conversation is compressed"),
        "snapshot": Meaning("snapshot at", "$foreground", "Here a snapshot is taken"),
    }
)


def legend(view: ContextView, characters: Characters, width: int, *, marks: bool) -> Content:
    """The segments that are there with their tokens, and the marks; in lines of a width."""
    lines, line = list[Content](), Content("")
    for part in _parts(view, characters, marks=marks):
        longer = line + GAP + part if line else part
        if line and longer.cell_length > width:
            lines.append(line)
            longer = part
        line = longer
    return Content("\n").join((*lines, line))


def _parts(view: ContextView, characters: Characters, *, marks: bool) -> Iterator[Content]:
    budget, room = view.budget, view.budget.room
    tokens: dict[Kind, int] = {group: getattr(budget.parts, group) for group in GROUPS}
    if room:
        tokens |= {"free": room.free, "reserve": room.reserve, "snapshot": room.snapshot}
        tokens["trigger"] = min(budget.parts.fixed + room.trigger, room.limit)
    for kind, meaning in MEANINGS.items():
        if tokens.get(kind) and (marks or kind not in MARKS):
            yield Content.assemble(
                (characters[kind], meaning.colour),
                (f" {meaning.words} {short_count(tokens[kind])}", "$text-muted"),
            )
