"""The parts of the compression view as lines of a given width: heading, bars, outcomes, texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from textual.content import Content

from ollm_tui.core.compression_events import STAGES, Outcome
from ollm_tui.core.counts import counted, short_count
from ollm_tui.core.intake import visible
from ollm_tui.tui.compression.progress import CompressionProgress
from ollm_tui.tui.compression.words import (
    BAR_LABELS,
    FREES_ABOUT,
    NO_MODEL_NEEDED,
    STAGE_WORDS,
    What,
    ending_line,
    ending_title,
)
from ollm_tui.tui.gauge.gauge_bar import Characters, Kind, Run, share_cells
from ollm_tui.tui.stream.markdown.wrapping import line_spans

FOLDING = frozenset({"identify", "snapshot", "elide", "summarise"})
"""Stages at which the last message taken is still being folded."""
COLOURS: Mapping[Kind, str] = MappingProxyType(
    {
        "system": "$secondary",
        "checkpoints": "$secondary",
        "user": "$accent",
        "assistant": "$primary",
        "tools": "$success",
        "free": "$text-muted 40%",
    }
)
"""The colours of the parts; an outcome is drawn as the part of the gauge it resembles most."""
KEPT: Kind = "user"
FOLDED: Kind = "assistant"
ELIDED: Kind = "tools"
AGED: Kind = "checkpoints"
INDENT = "  "
_LEAST_BESIDE = 36
"""Cells from which the messages that are folded stand beside their numbers; else below."""
_BELOW = 9
"""How many cells they are indented below."""
NOUNS: Mapping[What, tuple[Kind, str]] = MappingProxyType(
    {
        "keep": (KEPT, "message"),
        "fold": (FOLDED, "message"),
        "elide": (ELIDED, "output"),
        "age": (AGED, "checkpoint"),
    }
)


class CompressionLines(NamedTuple):
    """A compression as lines of one width."""

    progress: CompressionProgress
    width: int
    characters: Characters
    unicode: bool = True
    doing: str = "Compressing"
    """The title until the compression has ended."""

    def heading(self) -> list[Content]:
        """Return what goes on, how far it is and how long it has taken; in two lines if need be."""
        title = Content.styled(self.title(), "bold $primary")
        state = Content.styled(self.state(), "$text-muted")
        gap = self.width - title.cell_length - state.cell_length
        if gap >= 2:
            return [Content.assemble(title, " " * gap, state)]
        return [title, state]

    def short_heading(self) -> Content:
        """Return the heading in one line."""
        running = self.progress
        clock = _clock(running.seconds)
        if running.is_running:
            stage = f"{running.stage_number}/{len(STAGES)} {STAGE_WORDS[running.stage]}"
            clock = f"{stage} · {clock}"
        title = Content.styled(self.title(), "bold $primary")
        gap = max(self.width - title.cell_length - len(clock), 2)
        return Content.assemble(title, " " * gap, (clock, "$text-muted"))

    def title(self) -> str:
        """Return what goes on, or how it ended, and the strategy."""
        progress = self.progress
        word = ending_title(progress.ending) if progress.ending else self.doing
        return f"{word} · {progress.started.strategy}" if progress.started else word

    def state(self) -> str:
        """Return the stage while it runs, and how long it has taken."""
        progress = self.progress
        if not progress.is_running:
            return _clock(progress.seconds)
        stage = f"stage {progress.stage_number} of {len(STAGES)} · {STAGE_WORDS[progress.stage]}"
        return f"{stage} · {_clock(progress.seconds)}"

    def outcomes(self) -> list[Content]:
        """Return how many messages stay, fold, go short and age, and their tokens."""
        there: list[tuple[What, list[Outcome]]] = [
            (what, outcomes) for what in NOUNS if (outcomes := self.progress.outcomes(what))
        ]
        counts = [counted(len(outcomes), NOUNS[what][1]) for what, outcomes in there]
        tokens = [self._tokens(what) for what, _ in there]
        wide, wider = (max(map(len, column), default=0) for column in (counts, tokens))
        lines: list[Content] = []
        for (what, outcomes), count, number in zip(there, counts, tokens, strict=True):
            kind = NOUNS[what][0]
            line = Content.assemble(
                (self.characters[kind], COLOURS[kind]),
                f" {what:<5}  {count:<{wide}}  ",
                (f"{number:<{wider}}", "$text-muted"),
            )
            lines += self._with_more(line, what, outcomes)
        return lines

    def short_outcomes(self) -> Content:
        """Return the outcomes in one line."""
        progress = self.progress
        counts = [f"keep {len(progress.outcomes('keep'))}"]
        if folding := progress.outcomes("fold"):
            counts.append(f"fold {len(progress.folded)} of {len(folding)}")
        counts += [
            f"{what} {len(outcomes)}"
            for what in ("elide", "age")
            if (outcomes := progress.outcomes(what))
        ]
        freed = f" · {'freed ' if progress.is_exact else 'frees ≈'}{self._freed_share()} %"
        return Content.assemble(" · ".join(counts), (freed, "$text-muted"))

    def marks(self) -> Content:
        """Return the messages that are folded, around the one that is being folded."""
        return marks_line(self.progress, self.width, unicode=self.unicode)

    def freed(self) -> str:
        """Return how many tokens it frees."""
        progress = self.progress
        freed = max(progress.before_tokens - progress.after_tokens, 0)
        words = "freed " if progress.is_exact else FREES_ABOUT
        return f"{words}{freed:,} tokens, {self._freed_share()} %"

    def problems(self) -> list[Content]:
        """Return why it failed, what the user can do about it, and what was rejected; the newest
        first."""
        progress = self.progress
        words = list(progress.problems)
        if progress.ending and not progress.is_exact:
            words.append(ending_line(progress.ending))
        return [
            Content.styled(line, "$warning")
            for text in reversed(words)
            for line in self.wrapped(text, "")
        ]

    def summary(self) -> list[Content]:
        """Return the summary so far; before it begins, who is going to write it."""
        progress = self.progress
        if progress.summary.strip():
            return [Content(line) for line in self.wrapped(progress.summary.strip("\n"))]
        if progress.started and progress.started.model:
            model = visible(progress.started.model)
            words = f"{model} will write it here." if progress.is_running else ""
        else:
            words = NO_MODEL_NEEDED
        return [Content.styled(line, "$text-muted") for line in self.wrapped(words)]

    def ledger(self, facts: Sequence[str]) -> list[Content]:
        """Return facts of the ledger, a line for each."""
        return [self.cut(Content(f"{INDENT}{fact}")) for fact in facts]

    def wrapped(self, text: str, indent: str = INDENT) -> list[str]:
        """Return plain text broken into lines."""
        text = text.expandtabs(4)
        room = max(self.width - len(indent), 1)
        return [f"{indent}{text[first:last]}" for first, last in line_spans(text, 0, room)]

    def cut(self, line: Content) -> Content:
        """Return a line, cut to the width."""
        if line.cell_length <= self.width:
            return line
        more = "…" if self.unicode else "~"
        return Content.assemble(line.truncate(max(self.width - 1, 0)), more)

    def _freed_share(self) -> int:
        before = self.progress.before_tokens
        return round((before - self.progress.after_tokens) * 100 / before) if before else 0

    def _tokens(self, what: What) -> str:
        before, after = self.progress.tokens(what)
        if what == "keep":
            return short_count(before)
        if what == "fold":
            about = "" if self.progress.is_exact else "≈"
            return f"{short_count(before)} → {about}{short_count(checkpoint_tokens(self.progress))}"
        return f"{short_count(before)} → {short_count(after)}"

    def _with_more(self, line: Content, what: What, outcomes: list[Outcome]) -> list[Content]:
        """Return a line with more: why messages are kept, or the messages as they are folded."""
        room = self.width - line.cell_length - 2
        if what == "keep":
            reasons = Counter(outcome.why for outcome in outcomes if outcome.why)
            why = ", ".join(f"{count} {why}" for why, count in reasons.most_common())
            if len(why) > room and len(why) <= self.width - _BELOW:
                return [self.cut(line), Content.assemble(" " * _BELOW, (why, "$text-muted"))]
            return [self.cut(Content.assemble(line, (f"  {why}", "$text-muted")))]
        if what != "fold":
            return [self.cut(line)]
        if room >= _LEAST_BESIDE:
            return [Content.assemble(line, INDENT, self._replace(width=room).marks())]
        below = self._replace(width=self.width - _BELOW).marks()
        return [self.cut(line), Content.assemble(" " * _BELOW, below)]


def two_bars(progress: CompressionProgress, width: int, characters: Characters) -> list[Content]:
    """Return the bars before and after, each with its label and its number."""
    numbers = (before_number(progress), after_number(progress))
    wide = max(map(len, numbers))
    room = max(width - len(BAR_LABELS[0]) - wide - 2, 1)
    runs = (before_runs(progress, room), after_runs(progress, room))
    return [
        Content.assemble(
            (label, "$text-muted"), drawn(bar, characters), (f"  {number:>{wide}}", "$foreground")
        )
        for label, bar, number in zip(BAR_LABELS, runs, numbers, strict=True)
    ]


def one_bar(progress: CompressionProgress, width: int, characters: Characters) -> Content:
    """Return one bar for what stays of the prompt, between the two numbers."""
    first, last = before_number(progress), after_number(progress)
    room = max(width - len(first) - len(last) - 2, 1)
    bar = drawn(after_runs(progress, room), characters)
    return Content.assemble((f"{first} ", "$foreground"), bar, (f" {last}", "$foreground"))


def marks_line(progress: CompressionProgress, width: int, *, unicode: bool) -> Content:
    """Return the messages with a mark each: done, in progress, to come.

    Dots stand at a side where more are left out.
    """
    keys = list(progress.numbers)
    current = progress.folded[-1] if progress.folded else None
    at = keys.index(current) if current in progress.numbers else 0
    passed = set(progress.folded)
    is_folding = progress.is_running and progress.stage in FOLDING
    more = "…" if unicode else "..."
    # A mark takes three cells at least: no more than these can be seen.
    start, stop = max(at - width // 3, 0), at + width // 3 + 1
    marks = [
        _mark(progress.numbers[key], key in passed, is_folding and key == current, unicode)
        for key in keys[start:stop]
    ]
    first, last = _window([mark.cell_length for mark in marks], at - start, width, len(more))
    shown = marks[first:last]
    if start + first:
        shown.insert(0, Content.styled(more, "$text-muted"))
    if start + last < len(keys):
        shown.append(Content.styled(more, "$text-muted"))
    return Content(" ").join(shown)


def _mark(number: int, is_passed: bool, is_at_hand: bool, unicode: bool) -> Content:
    done, at_hand, to_come = "✓●○" if unicode else "+>."
    if is_at_hand:
        return Content.styled(f"{at_hand} {number}", "bold $accent")
    if is_passed:
        return Content.styled(f"{done}{number}", "$success")
    return Content.styled(f"{to_come} {number}", "$text-muted")


def _window(sizes: Sequence[int], at: int, width: int, dots: int) -> tuple[int, int]:
    """Return the first and the last (exclusive) of the most marks around a place that fit."""
    if sum(sizes) + len(sizes) - 1 <= width:
        return 0, len(sizes)
    room = width - 2 * (dots + 1) - sizes[at]
    first, last = at, at + 1
    while True:
        before = first > 0 and sizes[first - 1] + 1 <= room
        after = last < len(sizes) and sizes[last] + 1 <= room
        if after and (not before or last - at <= at - first):
            room -= sizes[last] + 1
            last += 1
        elif before:
            first -= 1
            room -= sizes[first] + 1
        else:
            return first, last


def before_number(progress: CompressionProgress) -> str:
    """Return the tokens of the prompt as it was."""
    return f"{progress.before_tokens:,}"


def after_number(progress: CompressionProgress) -> str:
    """Return the tokens of the prompt as it becomes, with ≈ until they are known."""
    about = "" if progress.is_exact and not progress.is_edited else "≈"
    return f"{about}{progress.after_tokens:,}"


def before_runs(progress: CompressionProgress, width: int) -> list[Run]:
    """Return the bar of the prompt as it was: what is always sent, then the outcomes."""
    tokens: dict[Kind, int] = {
        "system": progress.always_sent,
        AGED: progress.tokens("age")[0],
        KEPT: progress.tokens("keep")[0],
        FOLDED: progress.tokens("fold")[0],
        ELIDED: progress.tokens("elide")[0],
    }
    return _runs(tokens, width)


def after_runs(progress: CompressionProgress, width: int) -> list[Run]:
    """Return the bar of the prompt as it becomes, with the room that is freed."""
    left: dict[Kind, int] = {
        "system": progress.always_sent,
        AGED: checkpoint_tokens(progress) + progress.tokens("age")[1],
        KEPT: progress.tokens("keep")[1],
        ELIDED: progress.tokens("elide")[1],
    }
    return _runs({**left, "free": progress.before_tokens - sum(left.values())}, width)


def checkpoint_tokens(progress: CompressionProgress) -> int:
    """Return the tokens of the new checkpoint; until it exists, those expected for it."""
    if progress.checkpoint:
        return progress.checkpoint.current_tokens
    others = sum(progress.tokens(what)[1] for what in ("keep", "elide", "age"))
    return max(progress.after_tokens - progress.always_sent - others, 0)


def drawn(runs: Iterable[Run], characters: Characters) -> Content:
    """Return a bar in colours."""
    return Content.assemble(*((characters[kind] * cells, COLOURS[kind]) for kind, cells in runs))


def _runs(tokens: Mapping[Kind, int], width: int) -> list[Run]:
    cells = share_cells(list(tokens.values()), width)
    return [(kind, count) for kind, count in zip(tokens, cells, strict=True) if count]


def _clock(seconds: int) -> str:
    return f"{seconds // 60:02}:{seconds % 60:02}"
