"""The prompt before and after a compression as two bars on one scale."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from textual.content import Content

from ollm_tui.tui.compression.progress import CompressionProgress
from ollm_tui.tui.gauge.gauge_bar import Characters, Kind, Run, share_cells

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
"""Each fate is drawn as the part of the gauge it resembles most."""
KEPT: Kind = "user"
FOLDED: Kind = "assistant"
ELIDED: Kind = "tools"
AGED: Kind = "checkpoints"
LABELS = ("before ", "after  ")


def two_bars(progress: CompressionProgress, width: int, characters: Characters) -> list[Content]:
    """Both bars, each with its label and its number."""
    numbers = (before_number(progress), after_number(progress))
    wide = max(map(len, numbers))
    room = max(width - len(LABELS[0]) - wide - 2, 1)
    runs = (before_runs(progress, room), after_runs(progress, room))
    return [
        Content.assemble(
            (label, "$text-muted"), drawn(bar, characters), (f"  {number:>{wide}}", "$foreground")
        )
        for label, bar, number in zip(LABELS, runs, numbers, strict=True)
    ]


def one_bar(progress: CompressionProgress, width: int, characters: Characters) -> Content:
    """Where there is one line only: what stays of the prompt, between the two numbers."""
    first, last = before_number(progress), after_number(progress)
    room = max(width - len(first) - len(last) - 2, 1)
    bar = drawn(after_runs(progress, room), characters)
    return Content.assemble((f"{first} ", "$foreground"), bar, (f" {last}", "$foreground"))


def before_number(progress: CompressionProgress) -> str:
    """The tokens of the prompt as it was."""
    return f"{progress.before_tokens:,}"


def after_number(progress: CompressionProgress) -> str:
    """The tokens of the prompt as it becomes, with ≈ until they are known."""
    about = "" if progress.is_exact and not progress.is_edited else "≈"
    return f"{about}{progress.after_tokens:,}"


def before_runs(progress: CompressionProgress, width: int) -> list[Run]:
    """The prompt as it was: what is always sent, then what becomes of the rest."""
    tokens: dict[Kind, int] = {
        "system": progress.always_sent,
        AGED: progress.tokens("age")[0],
        KEPT: progress.tokens("keep")[0],
        FOLDED: progress.tokens("fold")[0],
        ELIDED: progress.tokens("elide")[0],
    }
    return _runs(tokens, width)


def after_runs(progress: CompressionProgress, width: int) -> list[Run]:
    """The prompt as it becomes, with the room that it leaves of the one before."""
    left: dict[Kind, int] = {
        "system": progress.always_sent,
        AGED: checkpoint_tokens(progress) + progress.tokens("age")[1],
        KEPT: progress.tokens("keep")[1],
        ELIDED: progress.tokens("elide")[1],
    }
    return _runs({**left, "free": progress.before_tokens - sum(left.values())}, width)


def checkpoint_tokens(progress: CompressionProgress) -> int:
    """What the new checkpoint takes; before it is there, all that nothing else does."""
    if progress.checkpoint:
        return progress.checkpoint.current_tokens
    others = sum(progress.tokens(what)[1] for what in ("keep", "elide", "age"))
    return max(progress.after_tokens - progress.always_sent - others, 0)


def drawn(runs: Iterable[Run], characters: Characters) -> Content:
    """A bar in colours."""
    return Content.assemble(*((characters[kind] * cells, COLOURS[kind]) for kind, cells in runs))


def _runs(tokens: Mapping[Kind, int], width: int) -> list[Run]:
    cells = share_cells(list(tokens.values()), width)
    return [(kind, count) for kind, count in zip(tokens, cells, strict=True) if count]
