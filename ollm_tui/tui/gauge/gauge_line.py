"""The content of the gauge: the bar, numbers and words that fit into a width, and the legend."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple

from textual.content import Content

from ollm_tui.core.counts import short_count
from ollm_tui.services.tokens.prompt_count import GROUPS, Count, Parts, Source
from ollm_tui.tui.gauge.gauge_bar import MARKS, Cell, Characters, Kind, bar

if TYPE_CHECKING:
    from ollm_tui.core.session.message import Usage
    from ollm_tui.core.session.session import Metadata
    from ollm_tui.engine.context.budget import Room
    from ollm_tui.engine.context.context_view import CompressesAt, ContextView

FULL, COMPACT, LEAST = 98, 70, 40
"""Widths from which there is room for a bar with the long numbers, with the short ones, and with
the percentage only; a terminal of 100 columns leaves 98."""
WIDEST = 80
"""The most cells of a bar: a longer one would say no more."""
FULL_SHARE = 0.9
"""The share of the limit from which a window that nobody compresses is nearly full."""
QUIET_SHARE = 0.6
"""The share of the window up to which the gauge is quiet."""
DRAFT_SHOWN = 200
"""The tokens of a draft from which the gauge mentions it."""
BETWEEN = "   "
"""Stands between the facts of a note; where there is no room for all, the last are left out."""
State = Literal["quiet", "filling", "full", "over", "alarm", "unknown"]
Look = Literal["numbers", "words", "near", "over"]
"""The style of a text: the name of a component class of the gauge."""
GAP = "   "
"""Stands between the parts of the legend."""


class Reading(NamedTuple):
    """What the gauge shows at one moment."""

    parts: Parts
    room: Room | None
    estimated: bool
    words: str
    """What happens next, in a sentence."""
    over: bool = False
    """Whether the prompt may not be sent."""
    note: str = ""
    alarm: str = ""
    draft: int = 0
    """About how many tokens the draft in the prompt would add."""
    compresses: CompressesAt = "never"
    """When the context is compressed automatically, if ever."""
    caption: str = ""
    """What kind of context it is, if not that of now."""

    @classmethod
    def of(cls, view: ContextView, note: str = "", alarm: str = "") -> Reading:
        """Return the reading of a context."""
        budget = view.budget
        estimated = view.count.source == "estimated"
        words, over = view.words, view.refuses
        reading = cls(budget.parts, budget.room, estimated, words, over, note, alarm)
        return reading._replace(compresses=view.compresses)

    def grown(self, count: Count) -> Reading:
        """Return the reading while a reply is written: whatever is new is the model's.

        A reply may reach into its reserve, so it never makes the prompt too long.
        """
        reply = max(0, count.tokens - self.parts.total + self.parts.assistant)
        parts = Parts(
            system=self.parts.system,
            checkpoints=self.parts.checkpoints,
            user=self.parts.user,
            assistant=reply,
            tools=self.parts.tools,
        )
        return self._replace(parts=parts, estimated=count.source == "estimated")

    @property
    def source(self) -> Source:
        """Where its numbers are from, as far as that is shown."""
        return "estimated" if self.estimated else "exact"

    @property
    def draft_fits(self) -> bool:
        """Whether the draft may be sent: it has to fit beside the whole context, or, if that can be
        compressed, beside what no compression makes smaller."""
        beside = self.parts.total if self.compresses == "never" else self.parts.fixed
        return self.room is None or beside + self.draft <= self.room.limit

    @property
    def state(self) -> State:
        """The state of the context; of several that apply, the worst."""
        if self.alarm:
            return "alarm"
        if self.over:
            return "over"
        if self.room is None:
            return "unknown"
        if self.parts.total < self.room.window * QUIET_SHARE:
            return "quiet"
        # Only where nothing is done about it by itself is a nearly full window a matter.
        is_full = self.compresses == "never" and self.parts.total >= self.room.limit * FULL_SHARE
        return "full" if is_full else "filling"

    @property
    def is_quiet(self) -> bool:
        """Whether nothing is wrong and there is plenty of room: then no colour is needed."""
        return self.state == "quiet"


class Text(NamedTuple):
    """A text and its style."""

    look: Look
    text: str


class Line(NamedTuple):
    """The whole line: the bar, then the texts."""

    bar: tuple[Cell, ...]
    texts: tuple[Text, ...]
    is_quiet: bool = False


def bar_width(width: int) -> int:
    """Return the cells of the bar: they depend on the width of the line and on nothing else."""
    if width < LEAST:
        return 0
    return min(width // 2 if width >= FULL else width // 3, WIDEST)


def gauge_line(reading: Reading, width: int) -> Line:
    """Return the bar and as much beside it as fits: the note is left out first, then words."""
    cells = bar_width(width) if reading.room else 0
    left = width - cells - bool(cells)
    choices = list(_choices(reading, width))
    texts = next((each for each in choices if _length(each) <= left), choices[-1])
    if reading.room is None or not cells:
        return Line((), texts, reading.is_quiet)
    return Line(tuple(bar(reading.parts, reading.room, cells)), texts, reading.is_quiet)


def _choices(reading: Reading, width: int) -> Iterator[tuple[Text, ...]]:
    """Yield possible texts, the longest first; the last one is used even if it does not fit."""
    looks: dict[State, Look] = {"alarm": "over", "over": "over", "full": "near"}
    look = looks.get(reading.state, "words")
    numbers = Text(
        "words" if reading.is_quiet else "numbers" if look == "words" else look,
        _numbers(reading, width),
    )
    if reading.caption and reading.state != "alarm":
        yield numbers, Text(look, f"  {reading.caption}")
    if drafts := _draft(reading):
        yield numbers, drafts[0]
        yield numbers, drafts[1]
        return
    if reading.is_quiet:
        yield (numbers,)
        return
    long, short = (Text(look, f"  {words}") for words in _words(reading))
    facts = reading.note.split(BETWEEN) if reading.note and width >= COMPACT else []
    while facts:
        yield numbers, long, Text("words", BETWEEN + BETWEEN.join(facts))
        facts.pop()
    yield numbers, long
    yield numbers, short
    yield (Text(look, short.text.strip()),) if reading.alarm else (numbers,)


def _draft(reading: Reading) -> tuple[Text, Text] | None:
    """Return what the draft would add, in a long and a short form; None where it is little, or
    where there is something worse to show."""
    tokens, room = f"  + ≈{short_count(reading.draft)}", reading.room
    if not reading.draft or reading.state in ("alarm", "over"):
        return None
    if room and not reading.draft_fits:
        fit = f"{short_count(room.free)} more fit"
        if reading.compresses != "never":
            fit = f"{short_count(room.available)} fit"
        long = f"{tokens} in the prompt: too long ({fit})"
        return Text("over", long), Text("over", f"{tokens}: too long")
    if reading.draft < DRAFT_SHOWN:
        return None
    return Text("numbers", f"{tokens} in the prompt"), Text("numbers", tokens)


def _words(reading: Reading) -> tuple[str, str]:
    """Return what happens next, in a sentence and in a word or two."""
    limit = reading.room.limit if reading.room else 0
    match reading.state:
        case "alarm":
            return f"ALARM: {reading.alarm}", f"ALARM: {reading.alarm}"
        case "over":
            return reading.words, f"too long: {short_count(limit)} fit"
        case "unknown":
            return reading.words, "window unknown"
        case "quiet" | "filling" | "full":
            return reading.words, _what_is_next(reading)


def _what_is_next(reading: Reading) -> str:
    """Return what happens next in two or three words."""
    room, parts = reading.room, reading.parts
    if room is None:
        return ""
    if reading.compresses == "never":
        return f"full at {short_count(room.limit)}"
    if reading.compresses == "limit" and parts.total <= room.limit:
        return f"compresses at {short_count(room.limit)}"
    if parts.conversation >= room.trigger:
        return "compressed next"
    return f"compresses at {short_count(parts.fixed + room.trigger)}"


def _numbers(reading: Reading, width: int) -> str:
    used = reading.parts.total
    about = "≈" if reading.estimated and used else ""
    if reading.room is None:
        return f"{about}{short_count(used)} tokens"
    window = reading.room.window
    percent = used * 100 // window if window else 100
    if width >= FULL:
        return f"{about}{short_count(used)} of {short_count(window)}"
    if width >= COMPACT:
        return f"{percent} %  {about}{short_count(used)}/{short_count(window)}"
    return f"{about}{percent} % of {short_count(window)}"


def _length(texts: tuple[Text, ...]) -> int:
    return sum(len(each.text) for each in texts)


COLOURS: Mapping[str, str] = MappingProxyType(
    {
        "system": "$secondary",
        "checkpoints": "$secondary",
        "user": "$accent",
        "assistant": "$primary",
        "tools": "$success",
        "free": "$text-muted 40%",
        "reserve": "$text-muted",
        "trigger": "$foreground",
        "snapshot": "$foreground",
        "numbers": "$foreground",
        "words": "$text-muted",
        "near": "$warning",
        "over": "$error",
    }
)
"""The colours of the bar, its marks, numbers and words, by the names of the theme's colours."""


class Meaning(NamedTuple):
    """What a part of the bar means: a name, its colour, and an explanation."""

    words: str
    colour: str
    sentence: str


MEANINGS: Mapping[Kind, Meaning] = MappingProxyType(
    {
        "system": Meaning("always sent", COLOURS["system"], "System prompt, goal, notes, pinned"),
        "checkpoints": Meaning(
            "checkpoints", COLOURS["checkpoints"], "Summaries of older messages"
        ),
        "user": Meaning("yours", COLOURS["user"], "Your messages"),
        "assistant": Meaning("answers", COLOURS["assistant"], "Answers"),
        "tools": Meaning("tools", COLOURS["tools"], "Tool output"),
        # Fainter in the bar, where it is large, than beside its word.
        "free": Meaning("free", COLOURS["words"], "Free space"),
        "reserve": Meaning("for the answer", COLOURS["reserve"], "Reserved for the next answer"),
        "trigger": Meaning("compresses at", COLOURS["trigger"], "The context is compressed here"),
        "snapshot": Meaning("snapshot at", COLOURS["snapshot"], "A snapshot is taken here"),
    }
)


def legend(view: ContextView, characters: Characters, width: int, *, marks: bool) -> Content:
    """Return the legend in lines of a width: segments that are not empty with their tokens, and
    the marks if asked for."""
    lines, line = list[Content](), Content("")
    for part in legend_parts(view, characters, marks=marks):
        longer = line + GAP + part if line else part
        if line and longer.cell_length > width:
            lines.append(line)
            longer = part
        line = longer
    return Content("\n").join((*lines, line))


def legend_parts(view: ContextView, characters: Characters, *, marks: bool) -> Iterator[Content]:
    """Yield the parts of the legend."""
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


def speed_of(usage: Usage | None) -> str:
    """Return how fast the reply was written, "" where the server did not measure it."""
    if not usage or not usage.output_seconds:
        return ""
    return f"{usage.output_tokens / usage.output_seconds:,.0f} tok/s"


def times_words(metadata: Metadata) -> str:
    """Return how often the context was compressed so far; "" if it was not. What was undone, and
    what a restore brought along, does not count."""
    count = sum(not entry.undone_at for entry in metadata.compression_history)
    often = "once" if count == 1 else f"{count:,} times"
    return f"compressed {often}" if count else ""
