"""Compressions in the stream: a note each where it happened, with the checkpoints as folds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from ollm_tui.core.counts import short_count
from ollm_tui.core.intake import visible
from ollm_tui.core.session.compression import Checkpoint, Compression, in_force, last_undoable
from ollm_tui.core.session.session import Metadata
from ollm_tui.services.snapshots.restore_plan import standing
from ollm_tui.tui.compression.words import action_words, checkpoint_text, checkpoint_title
from ollm_tui.tui.keymap import Hints
from ollm_tui.tui.stream.entries.message_entries import local_time
from ollm_tui.tui.stream.transcript.entry import Entry, Fold

UNCHANGED = Hints({})
"""The keys as they are if the user has mapped none."""
TOGETHER = "\N{NO-BREAK SPACE}"
"""Stands between words that must stay on one line: a key and what it does."""


def with_compressions(
    entries: Iterable[Entry],
    metadata: Metadata,
    branch_ids: Iterable[str],
    hints: Hints = UNCHANGED,
) -> list[Entry]:
    """Return the entries of a branch with its compressions, each after the message it followed."""
    history = metadata.compression_history
    if not history:
        return list(entries)
    on_branch = set(branch_ids)
    after: dict[str, list[Entry]] = {}
    for compression, record in zip(history, compression_entries(metadata, hints), strict=True):
        if compression.last in on_branch:
            after.setdefault(compression.last, []).append(record)
    return [each for entry in entries for each in (entry, *_following(entry, after))]


def _following(entry: Entry, after: Mapping[str, list[Entry]]) -> Iterator[Entry]:
    for key in (entry.key, *entry.covers):
        yield from after.get(key, ())


def compression_entries(metadata: Metadata, hints: Hints = UNCHANGED) -> list[Entry]:
    """Return a note for each compression; it says whether it can be undone or is not in force."""
    history, next_one = metadata.compression_history, undone_next(metadata)
    holding = {id(each) for each in in_force(history, metadata.compressed)}
    return [
        compression_entry(each, hints, can_undo=each is next_one, is_in_force=id(each) in holding)
        for each in history
    ]


def undone_next(metadata: Metadata) -> Compression | None:
    """Return the compression that an undo would take back now; None if there is none, or if a
    later restore would be undone first."""
    last = last_undoable(metadata.compression_history, metadata.compressed)
    restored = next(standing(metadata.restores), None)
    return None if last and restored and restored.at > last.at else last


def compression_entry(
    compression: Compression,
    hints: Hints = UNCHANGED,
    *,
    can_undo: bool = True,
    is_in_force: bool = True,
) -> Entry:
    """Return the note for one compression."""
    return Entry(
        compression_key(compression),
        "note",
        record_text(compression, hints, can_undo=can_undo, is_in_force=is_in_force),
        folds=[_fold(checkpoint) for checkpoint in compression.created],
        details=partial(_details, compression),
    )


def compression_key(compression: Compression) -> str:
    """Return the key of the entry of a compression."""
    return f"compression-{compression.number}"


def record_text(
    compression: Compression,
    hints: Hints = UNCHANGED,
    *,
    can_undo: bool = True,
    is_in_force: bool = True,
) -> str:
    """Return what a compression did in one line, and below it the remark that came with it."""
    tokens = f"{short_count(compression.before_tokens)} → {short_count(compression.after_tokens)}"
    facts = [action_words(compression), _together(tokens)]
    if compression.undone_at is not None:
        facts.append("undone")
    elif not is_in_force:
        facts.append(_together("inactive"))
    elif can_undo:
        facts.append(_together(hints.line(("compression.undo", "undo"))))
    if compression.created and compression.undone_at is None and is_in_force:
        facts.append(_together(hints.line(("compression.checkpoints", "view"))))
    note = f"\n  {visible(compression.note)}" if compression.note else ""
    return f"─ {' · '.join(facts)}{TOGETHER}─{note}"


def _together(words: str) -> str:
    return words.replace(" ", TOGETHER)


def _fold(checkpoint: Checkpoint) -> Fold:
    title, text = checkpoint_title(checkpoint), checkpoint_text(checkpoint)
    return Fold(f"checkpoint-{checkpoint.id}", "checkpoint", title, text)


def _details(compression: Compression) -> str:
    seconds = f"{compression.seconds:.0f} s" if compression.seconds >= 1 else ""
    facts = (
        local_time(compression.at),
        visible(compression.strategy),
        visible(compression.model or ""),
        seconds,
    )
    return " · ".join(fact for fact in facts if fact)
