"""What a compression would do, in lines: what stays, folds and goes short, the largest first."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import assert_never

from textual.content import Content

from ollm_tui.core.compression_events import (
    CompressionCancelled,
    CompressionDrafted,
    CompressionFailed,
    CompressionSkipped,
    ContextCompressed,
    Fate,
)
from ollm_tui.core.counts import counted
from ollm_tui.core.intake import visible
from ollm_tui.tui.compression.compression_bars import COLOURS
from ollm_tui.tui.compression.lines import NOUNS
from ollm_tui.tui.compression.progress import CompressionProgress, What, tokens_of
from ollm_tui.tui.compression.words import ending_line
from ollm_tui.tui.gauge.gauge_bar import Characters
from ollm_tui.tui.kit.choice_list import Choice

WORDS: Mapping[What, str] = MappingProxyType(
    {"keep": "stay", "fold": "fold", "elide": "go short", "age": "grow older"}
)
GROUPS: tuple[tuple[str, tuple[What, ...]], ...] = (
    ("stays", ("keep",)),
    ("folds into a checkpoint", ("fold",)),
    ("goes short", ("elide", "age")),
)


def fate_choices(progress: CompressionProgress) -> list[Choice]:
    """Three groups, and a line for each message and older checkpoint."""
    lines: list[Choice] = []
    listed = progress.started.fates if progress.started else ()
    width = max((len(f"{fate.tokens:,}") for fate in listed), default=0)
    for title, kinds in GROUPS:
        fates = [fate for what in kinds for fate in progress.fates(what)]
        if fates:
            heading = f"{title} · {len(fates):,} · {tokens_of(fates)[0]:,} tokens"
            lines.append(Choice(title, heading, heading=True))
            lines += [_line(fate, width) for fate in sorted(fates, key=lambda fate: -fate.tokens)]
    return lines


def totals(progress: CompressionProgress, characters: Characters) -> Content:
    """How many stay, fold and go short, with the colours of the bars."""
    parts = [
        Content.assemble(
            (characters[NOUNS[what][0]], COLOURS[NOUNS[what][0]]),
            f" {word} ",
            (str(len(fates)), "$text-muted"),
        )
        for what, word in WORDS.items()
        if (fates := progress.fates(what))
    ]
    return Content("   ").join(parts)


def preview_words(progress: CompressionProgress, summary: str | None) -> str:
    """What would happen, and that nothing has yet; `summary` is the user's own, where edited."""
    match progress.ending:
        case None:
            return _words_before(progress)
        case CompressionDrafted():
            return _words_of_draft(progress, summary)
        case CompressionSkipped() | CompressionFailed() | CompressionCancelled():
            return ending_line(progress.ending)
        case ContextCompressed():
            return "applied"
        case _:
            assert_never(progress.ending)


def _words_before(progress: CompressionProgress) -> str:
    if progress.started is None:
        return "Looking at what could be folded. Nothing changes by that."
    if progress.problems:
        return f"Nothing has changed yet. {progress.problems[-1]}"
    return "Nothing has changed yet. You can apply it, or edit the summary, once it is written."


def _words_of_draft(progress: CompressionProgress, summary: str | None) -> str:
    done: list[str] = []
    if folded := len(progress.fates("fold")):
        by = {None: "", "": ", only the ledger is kept"}.get(summary, " with your summary")
        done.append(f"{counted(folded, 'message')} become one checkpoint{by}")
    if elided := len(progress.fates("elide")):
        done.append(f"{counted(elided, 'output')} {'is' if elided == 1 else 'are'} cut short")
    if aged := len(progress.fates("age")):
        done.append(f"{counted(aged, 'older checkpoint')} {'gets' if aged == 1 else 'get'} shorter")
    return f"Nothing has changed yet. If you apply it: {', '.join(done) or 'nothing does'}."


def _line(fate: Fate, width: int) -> Choice:
    left = f"{fate.after:,} left" if fate.what in ("elide", "age") else ""
    note = " · ".join(word for word in (visible(fate.why), left) if word)
    return Choice(fate.key, visible(fate.title), note, f"{fate.tokens:>{width},}")
