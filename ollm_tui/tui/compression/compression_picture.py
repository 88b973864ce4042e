"""The compression view as a picture of a size: the parts that fit, the most telling first."""

from __future__ import annotations

from textual.content import Content

from ollm_tui.tui.compression.compression_bars import one_bar, two_bars
from ollm_tui.tui.compression.lines import CompressionLines

COMPACT_HEIGHT, AIRY_HEIGHT = 9, 20
"""Below so many lines the short forms are used; from so many on parts stand apart."""
_MARKS_ABOVE = 6
"""Lines of the short form above which messages are seen folding."""
_TITLES_FROM, _GAPS_FROM = 5, 12
"""Lines left for words from which these have titles, and empty lines between them."""
WRITTEN, DONE = "Summary, as it is written", "Summary"
LEDGER = "Ledger, kept without the model"


def picture(lines: CompressionLines, height: int, keys: str) -> list[Content]:
    """Exactly `height` lines, the keys on the last of them."""
    head = _short_head(lines, height) if height < COMPACT_HEIGHT else _head(lines, height)
    room = height - len(head) - 1
    body = _body(lines, room) if room > 0 else []
    shown = [*head, *body][: max(height - 1, 0)]
    free = [Content("")] * (height - 1 - len(shown))
    return [*shown, *free, lines.cut(Content.styled(keys, "$text-muted"))][:height]


def _short_head(lines: CompressionLines, height: int) -> list[Content]:
    if not lines.progress.started:
        return [lines.short_heading()]
    bar = one_bar(lines.progress, lines.width, lines.characters)
    marks = [lines.marks()] if height > _MARKS_ABOVE and lines.progress.fates("fold") else []
    return [lines.short_heading(), bar, lines.cut(lines.short_fates()), *marks]


def _head(lines: CompressionLines, height: int) -> list[Content]:
    if not lines.progress.started:
        return lines.heading()
    gap = [Content("")] if height >= AIRY_HEIGHT else []
    bars = two_bars(lines.progress, lines.width, lines.characters)
    freed = Content.styled(lines.freed(), "$text-muted")
    return [*lines.heading(), *gap, *bars, *gap, *lines.fates(), freed]


def _body(lines: CompressionLines, room: int) -> list[Content]:
    """What went wrong, the end of the summary, and the ledger."""
    gap = [Content("")] if room >= _GAPS_FROM else []
    problems = lines.problems()
    if lines.progress.is_running:
        problems = problems[: max(room // 2, 1)]
    if problems:
        problems = [*gap, *problems][:room]
    room -= len(problems)
    if room < _TITLES_FROM or not lines.progress.started:
        return [*problems, *(lines.summary()[-room:] if room > 0 else [])]
    return [*problems, *_words(lines, room, gap)]


def _words(lines: CompressionLines, room: int, gap: list[Content]) -> list[Content]:
    """The end of the summary and the beginning of the ledger, with their titles."""
    summary, ledger = lines.summary(), lines.ledger()
    free = room - (1 + len(gap)) * (2 if ledger else 1)
    # The ledger is short, so it gives way only by half.
    facts = min(len(ledger), max(free - len(summary), free // 2))
    title = WRITTEN if lines.progress.is_running else DONE
    parts = [*gap, _title(title), *summary[-(free - facts) :]]
    if ledger:
        parts += [*gap, _title(LEDGER), *_first(lines, ledger, facts)]
    return parts


def _title(text: str) -> Content:
    return Content.styled(text, "bold $secondary")


def _first(lines: CompressionLines, facts: list[Content], room: int) -> list[Content]:
    """The first facts, and how many more there are."""
    if len(facts) <= room or room < 1:
        return facts[:room]
    more = Content.styled(f"  and {len(facts) - room + 1} more", "$text-muted")
    return [*facts[: room - 1], lines.cut(more)]
