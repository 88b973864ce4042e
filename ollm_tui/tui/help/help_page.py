"""Help as text: entries in their groups, in one or two columns, wrapped to a width."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from textwrap import wrap
from typing import NamedTuple

from textual.content import Content

WIDEST_KEYS = 16
NOTHING_FITS = "Nothing fits these words. Esc shows all."


class HelpEntry(NamedTuple):
    """One thing that can be done; entries of a group follow one another."""

    group: str
    keys: str
    title: str
    slash: str = ""
    description: str = ""
    colour: str = "$accent"
    """Of the keys."""

    def fits(self, words: Iterable[str]) -> bool:
        """Whether every word is in it."""
        text = " ".join(self[:-1]).casefold()
        return all(word in text for word in words)


def help_columns(entries: Sequence[HelpEntry], widths: Sequence[int]) -> list[Content]:
    """The entries laid out in as many columns as there are widths."""
    if not entries:
        return [Content(NOTHING_FITS), *(Content("") for _ in widths[1:])]
    key_width = min(max(len(entry.keys) for entry in entries), WIDEST_KEYS) + 2
    groups = [
        _group(name, tuple(members), key_width, min(widths))
        for name, members in groupby(entries, key=lambda entry: entry.group)
    ]
    columns: list[list[Content]] = [[] for _ in widths]
    share = sum(map(len, groups)) / len(widths)
    placed = 0
    for group in groups:
        # A group goes where the middle of it falls, so columns end at about the same line.
        column = min(int((placed + len(group) / 2) / share), len(widths) - 1)
        columns[column] += group
        placed += len(group)
    return [Content("\n").join(lines) for lines in columns]


def places_text(places: Sequence[tuple[str, str]]) -> Content:
    """Where files are: what, and its path."""
    width = max((len(what) for what, _ in places), default=0) + 2
    lines = [Content.styled("Files", "bold $primary")]
    lines += [Content.assemble((what.ljust(width), "$text-muted"), path) for what, path in places]
    return Content("\n").join(lines)


def _group(name: str, entries: Sequence[HelpEntry], key_width: int, width: int) -> list[Content]:
    lines = [Content.styled(name, "bold $primary")]
    for entry in entries:
        lines += _lines(entry, key_width, max(width - key_width, 12))
    return [*lines, Content("")]


def _lines(entry: HelpEntry, key_width: int, room: int) -> list[Content]:
    title = wrap(f"{entry.title}  {entry.slash}".rstrip(), room) or [""]
    keys = wrap(entry.keys, key_width - 2) or [""]
    said = [(line, "") for line in title]
    said += [(line, "$text-muted") for line in wrap(entry.description, room)]
    count = max(len(said), len(keys))
    keys += [""] * (count - len(keys))
    said += [("", "")] * (count - len(said))
    return [
        Content.assemble((key.ljust(key_width), entry.colour), (text, style))
        for key, (text, style) in zip(keys, said, strict=True)
    ]
