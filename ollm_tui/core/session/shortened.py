"""What was sent in another form at an earlier moment; going back to that is on record, too."""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from ollm_tui.core.session.compression import CompressedContext, Compression, History, Shortening
from ollm_tui.core.session.session import Metadata

BROUGHT = 0
"""The number of what going back brought along: it was no compression of this session."""


class Shortened(NamedTuple):
    """What of a conversation is not sent as it was said, and the words in its place."""

    compressed: CompressedContext
    words: Shortening


def shortened_at(history: History, moment: str) -> Shortened:
    """How it was just before a moment: compressions, their undoing and going back all left
    what they made in the history."""
    compressed = history[0].before if history else CompressedContext()
    steps = [(entry.at, entry.after) for entry in history]
    steps += [(entry.undone_at, entry.before) for entry in history if entry.undone_at]
    for at, made in sorted(steps, key=lambda step: step[0]):
        if at < moment:
            compressed = made
    known = tuple(entry for entry in history if entry.at < moment)
    return Shortened(compressed, Shortening.of(compressed, known or history[:1]))


def with_shortened(metadata: Metadata, wanted: Shortened, at: str) -> Metadata:
    """The metadata after going back to another form of the context, which is on record.

    Another session does not know its checkpoints, and a later compression may have kept other
    facts of the same message. What is added counts as undone: it was never done here.
    """
    history, compressed = metadata.compression_history, wanted.compressed
    now = Shortening.of(compressed, history)
    if now == wanted.words and compressed == metadata.compressed:
        return metadata
    made, facts = wanted.words.checkpoints, wanted.words.elided
    brought = Compression(
        number=BROUGHT,
        at=at,
        strategy="restored",
        trigger="manual",
        before_tokens=metadata.token_count,
        after_tokens=metadata.token_count,
        before=compressed,
        after=compressed,
        created=tuple(each for each in made if each not in now.checkpoints),
        elisions={key: kept for key, kept in facts.items() if now.elided.get(key) != kept},
        undone_at=at,
    )
    return replace(metadata, compressed=compressed, compression_history=(*history, brought))
