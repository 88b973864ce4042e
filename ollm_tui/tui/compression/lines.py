"""The parts of the compression view as lines of a width: heading, what becomes of what, words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from textual.content import Content

from ollm_tui.core.compression_events import STAGES, Fate
from ollm_tui.core.counts import counted, short_count
from ollm_tui.core.intake import visible
from ollm_tui.tui.compression.compression_bars import (
    AGED,
    COLOURS,
    ELIDED,
    FOLDED,
    KEPT,
    checkpoint_tokens,
)
from ollm_tui.tui.compression.fold_marks import marks_line
from ollm_tui.tui.compression.progress import CompressionProgress, What
from ollm_tui.tui.compression.words import STAGE_WORDS, ending_line, ending_title
from ollm_tui.tui.gauge.gauge_bar import Characters, Kind
from ollm_tui.tui.stream.markdown.wrapping import line_spans

INDENT = "  "
_LEAST_BESIDE = 36
"""Cells from which the messages that fold stand beside their numbers, else below."""
_BELOW = 9
"""How far below they are moved in."""

NOUNS: Mapping[What, tuple[Kind, str]] = MappingProxyType(
    {
        "keep": (KEPT, "message"),
        "fold": (FOLDED, "message"),
        "elide": (ELIDED, "output"),
        "age": (AGED, "checkpoint"),
    }
)


class CompressionLines(NamedTuple):
    """A compression in lines for one width."""

    progress: CompressionProgress
    width: int
    characters: Characters
    unicode: bool = True
    doing: str = "Compressing"
    """What goes on until it has ended."""

    def heading(self) -> list[Content]:
        """What goes on, how far it is and for how long; two lines where one is too short."""
        title = Content.styled(self.title(), "bold $primary")
        state = Content.styled(self.state(), "$text-muted")
        gap = self.width - title.cell_length - state.cell_length
        if gap >= 2:
            return [Content.assemble(title, " " * gap, state)]
        return [title, state]

    def short_heading(self) -> Content:
        """The same in one line, cut where it has to be."""
        running = self.progress
        clock = _clock(running.seconds)
        if running.is_running:
            stage = f"{running.stage_number}/{len(STAGES)} {STAGE_WORDS[running.stage]}"
            clock = f"{stage} · {clock}"
        title = Content.styled(self.title(), "bold $primary")
        gap = max(self.width - title.cell_length - len(clock), 2)
        return Content.assemble(title, " " * gap, (clock, "$text-muted"))

    def title(self) -> str:
        """What goes on."""
        told = self.progress
        word = ending_title(told.ending) if told.ending else self.doing
        return f"{word} · {told.started.strategy}" if told.started else word

    def state(self) -> str:
        """How far it is, and for how long."""
        told = self.progress
        if not told.is_running:
            return _clock(told.seconds)
        stage = f"stage {told.stage_number} of {len(STAGES)} · {STAGE_WORDS[told.stage]}"
        return f"{stage} · {_clock(told.seconds)}"

    def fates(self) -> list[Content]:
        """What stays, folds, goes short and ages: how many, and their tokens."""
        there: list[tuple[What, list[Fate]]] = [
            (what, fates) for what in NOUNS if (fates := self.progress.fates(what))
        ]
        counts = [counted(len(fates), NOUNS[what][1]) for what, fates in there]
        tokens = [self._tokens(what) for what, _ in there]
        wide, wider = (max(map(len, column), default=0) for column in (counts, tokens))
        lines: list[Content] = []
        for (what, fates), count, number in zip(there, counts, tokens, strict=True):
            kind = NOUNS[what][0]
            line = Content.assemble(
                (self.characters[kind], COLOURS[kind]),
                f" {what:<5}  {count:<{wide}}  ",
                (f"{number:<{wider}}", "$text-muted"),
            )
            lines += self._with_more(line, what, fates)
        return lines

    def short_fates(self) -> Content:
        """The same in one line."""
        told = self.progress
        counts = [f"keep {len(told.fates('keep'))}"]
        if folding := told.fates("fold"):
            counts.append(f"fold {len(told.folded)} of {len(folding)}")
        counts += [
            f"{what} {len(told.fates(what))}" for what in ("elide", "age") if told.fates(what)
        ]
        freed = f" · {'freed ' if told.is_exact else 'frees ≈'}{self._freed_share()} %"
        return Content.assemble(" · ".join(counts), (freed, "$text-muted"))

    def marks(self) -> Content:
        """The messages as they fold, around the one at hand."""
        return marks_line(self.progress, self.width, unicode=self.unicode)

    def freed(self) -> str:
        """How much room it makes."""
        told = self.progress
        freed = max(told.before_tokens - told.after_tokens, 0)
        words = "freed " if told.is_exact else "frees ≈"
        return f"{words}{freed:,} tokens, {self._freed_share()} %"

    def problems(self) -> list[Content]:
        """How it ended if not well, what the user can mend, what was rejected; the newest first."""
        told = self.progress
        words = list(told.problems)
        if told.ending and not told.is_exact:
            words.append(ending_line(told.ending))
        return [
            Content.styled(line, "$warning")
            for text in reversed(words)
            for line in self.wrapped(text, "")
        ]

    def summary(self) -> list[Content]:
        """The summary so far; before that, who is going to write it."""
        told = self.progress
        if told.summary.strip():
            return [Content(line) for line in self.wrapped(told.summary.strip("\n"))]
        if told.started and told.started.model:
            model = visible(told.started.model)
            words = f"{model} is going to write it here." if told.is_running else ""
        else:
            words = "No model has to be asked for this."
        return [Content.styled(line, "$text-muted") for line in self.wrapped(words)]

    def ledger(self) -> list[Content]:
        """The facts that are kept without a model, a line each."""
        lines = (" ".join(line.split()) for line in self.progress.ledger.splitlines())
        return [self.cut(Content(f"{INDENT}{line}")) for line in lines if line]

    def wrapped(self, text: str, indent: str = INDENT) -> list[str]:
        """Plain text broken into lines."""
        text = text.expandtabs(4)
        room = max(self.width - len(indent), 1)
        return [f"{indent}{text[first:last]}" for first, last in line_spans(text, 0, room)]

    def cut(self, line: Content) -> Content:
        """One line that fits."""
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

    def _with_more(self, line: Content, what: What, fates: list[Fate]) -> list[Content]:
        """A line and what there is to add: why it is kept, or the messages as they fold."""
        room = self.width - line.cell_length - 2
        if what == "keep":
            reasons = Counter(fate.why for fate in fates if fate.why)
            why = ", ".join(f"{count} {why}" for why, count in reasons.most_common())
            return [self.cut(Content.assemble(line, (f"  {why}", "$text-muted")))]
        if what != "fold":
            return [self.cut(line)]
        if room >= _LEAST_BESIDE:
            return [Content.assemble(line, INDENT, self._replace(width=room).marks())]
        below = self._replace(width=self.width - _BELOW).marks()
        return [self.cut(line), Content.assemble(" " * _BELOW, below)]


def _clock(seconds: int) -> str:
    return f"{seconds // 60:02}:{seconds % 60:02}"
