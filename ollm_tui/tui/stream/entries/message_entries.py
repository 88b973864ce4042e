"""Entries for messages: who speaks, the text, the folds, how it ended, how long it took."""

from __future__ import annotations

import re
import time
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import takewhile
from textwrap import shorten
from typing import assert_never

from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.costs import cost_words
from ollm_tui.core.intake import clean, visible
from ollm_tui.core.session.context_marks import Mark, Marks
from ollm_tui.core.session.message import (
    Approval,
    Attachment,
    Message,
    Opaque,
    Reasoning,
    Retrieval,
    Role,
    Text,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
    Usage,
)
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.engine.turn.stray_calls import without_call
from ollm_tui.tui.gauge.gauge_line import speed_of
from ollm_tui.tui.stream.entries.picture_fold import PictureFold
from ollm_tui.tui.stream.entries.tool_entries import ToolBlock, ToolFold, answered
from ollm_tui.tui.stream.transcript.entry import Entry, Fold, Speaker

SHORTEST_SECONDS = 0.05
"""What took less time is shown without a speed: that would only measure the clock."""
_MARKS: Mapping[Mark, str] = {
    "": "",
    "pinned": "pinned",
    "excluded": "excluded from the context",
    "folded": "folded in the context",
}
TITLE_CHARACTERS = 60
"""Characters of a passage in the title of its fold."""
REASONING = "reasoning"
"""The key of the fold that holds the reasoning of a model."""
_SPEAKERS: Mapping[Role, Speaker] = {"user": "user", "system": "note"}
_ENDINGS = {
    "cancelled": "stopped",
    "interrupted": "interrupted",
    "streaming": "interrupted",
    "length": "cut at the output limit",
    "failed": "failed",
}
_DATED = re.compile(r":latest$|-\d{4}(-?\d\d-?\d\d)?$")
"""What servers add to the name of a model when they answer: a date, or ":latest"."""


def branch_entries(state: SessionState, leaf: str | None = None) -> list[Entry]:
    """Return the entries of the messages up to a leaf, by default the current one, with notes
    where another model answers."""
    return list(each_entry(state, leaf))


def each_entry(state: SessionState, leaf: str | None = None) -> Iterator[Entry]:
    """Yield the same one by one: ten thousand of them take longer than a key may wait."""
    before = None
    asking: Entry | None = None  # the last entry with folds: results belong to its calls
    for message in state.branch(leaf):
        if message.role == "tool" and asking:
            if rest := _joined(message, asking):
                yield entry_of(rest, state)
            continue
        if message.model and message.model != before:
            if note := _model_note(message.id, message.model, before):
                yield note
            before = message.model
        entry = entry_of(message, state)
        if entry.folds:
            asking = entry
        yield entry


def begun_entry(message_id: str, stopped: Message | None) -> Entry:
    """Return the entry of a reply that begins, with the words of the answer it goes on with."""
    if stopped is None:
        return Entry(message_id, "assistant")
    return Entry(message_id, "assistant", clean(stopped.text.rstrip()), folds=_folds(stopped))


def _joined(message: Message, asking: Entry) -> Message | None:
    """Put results into the folds of their calls; returns what is left of the message, or None."""
    calls = {fold.block.call.call_id: fold for fold in asking.folds if isinstance(fold, ToolFold)}
    folds = answered(calls, message)
    asking.folds = [folds.get(fold.key, fold) for fold in asking.folds]
    taken = {fold.block.call.call_id for fold in folds.values()}
    rest = tuple(
        part
        for part in message.parts
        if not (isinstance(part, ToolResultPart | Approval) and part.call_id in taken)
    )
    if not rest:
        asking.covers = (*asking.covers, message.id)
    return replace(message, parts=rest) if rest else None


def model_note(state: SessionState, question: str, reply: str, model: str) -> Entry | None:
    """Return the note above the reply to a question if another model than before writes it."""
    # A damaged file may have parents that form a circle.
    step, seen = state.parent(question), set[str]()
    while step is not None and step not in seen:
        seen.add(step)
        if before := state[step].model:
            return _model_note(reply, model, before)
        step = state.parent(step)
    return None


def _model_note(reply: str, model: str, before: str | None) -> Entry | None:
    if before is None or _DATED.sub("", model) == _DATED.sub("", before):
        return None
    return Entry(f"model-{reply}", "note", f"Switched to {visible(model)}")


def entry_of(message: Message, state: SessionState) -> Entry:
    """Return the entry of one message."""
    speaker = _SPEAKERS.get(message.role, "assistant")
    is_plain = _is_plain(message)
    folds = () if is_plain else tuple(_folds(message))
    footer = footer_of(message, state)
    text = message.text if is_plain else _words_beside_calls(message)
    return Entry(
        message.id,
        speaker,
        text if speaker != "note" else f"to the model: {text}",
        footer,
        folds=folds,
        details=partial(details_of, message),
        stamp=partial(stamp_of, message),
        read=clean,  # the file it was stored in may have been edited by others
    )


def _words_beside_calls(message: Message) -> str:
    """Return the text of a message without the tool calls written in it, which have folds."""
    text = message.text
    for part in message.parts:
        if isinstance(part, ToolCallPart):
            text = without_call(text, part)
    return text


def footer_of(message: Message, state: SessionState) -> str:
    """Return how a message ended, if not well, its mark, and which of several versions it is."""
    facts: list[str] = []
    if message.status != "complete":
        facts.append(_ENDINGS.get(message.status, ""))
    if message.error:
        facts.append(visible(message.error))
    facts.append(_MARKS[_mark(message, state)])
    versions = state.versions(message)
    if len(versions) > 1:
        facts.append(f"‹ {versions.index(message.id) + 1}/{len(versions)} ›")
    return " · ".join(fact for fact in facts if fact)


def _mark(message: Message, state: SessionState) -> Mark:
    metadata = state.header.metadata
    if not (metadata.pins or metadata.excluded or metadata.folded):
        return ""  # nearly always, and asked for every message of a session that is opened
    return Marks.of(metadata).mark(message.id)


def details_of(message: Message) -> str:
    """Return when a message was sent, by which model, and what it cost."""
    facts = [local_time(message.timestamp), visible(message.model or "")]
    if message.usage:
        facts.append(usage_words(message.usage))
    return " · ".join(fact for fact in facts if fact)


def stamp_of(message: Message) -> str:
    """Return when a message was sent; of an answer also how fast it was written, in what time."""
    usage = message.usage if message.role == "assistant" else None
    took = (usage.prompt_seconds or 0) + (usage.output_seconds or 0) if usage else 0
    speed = speed_of(usage) if took >= SHORTEST_SECONDS else ""
    facts = [speed, _seconds(took) if speed else "", local_time(message.timestamp)]
    return " · ".join(fact for fact in facts if fact)


def local_time(timestamp: str) -> str:
    """Return a recorded moment on the user's clock: the time today, else the day too; "" if it
    cannot be read."""
    try:
        moment = clock.parse(timestamp).astimezone()
    except (ValueError, OverflowError):
        return ""
    today = time.strftime("%Y-%m-%d")
    if f"{moment:%Y-%m-%d}" == today:
        return f"{moment:%H:%M}"
    is_this_year = f"{moment:%Y}" == today[:4]
    return f"{moment:%d %b %H:%M}" if is_this_year else f"{moment:%d %b %Y %H:%M}"


def reasoning_title(text: str, seconds: float | None = None) -> str:
    """Return the title of the reasoning fold."""
    if seconds is not None:
        return f"thought for {max(round(seconds), 1)} s"
    return f"thoughts · {len(text.split()):,} words"


def _is_plain(message: Message) -> bool:
    return len(message.parts) == 1 and isinstance(message.parts[0], Text)


def _folds(message: Message) -> list[Fold]:
    folds: list[Fold] = []
    if thought := message.reasoning:
        folds.append(Fold(REASONING, "reasoning", reasoning_title(thought), thought))
    for number, part in enumerate(message.parts):
        key = f"part-{number}"
        match part:
            case ToolCallPart():
                folds.append(ToolFold(ToolBlock(part)))
            case ToolResultPart():
                title = f"{visible(part.name)} returned{' an error' if part.is_error else ''}"
                folds.append(Fold(key, "tool", title, part.content))
            case Attachment() if part.media_type.startswith("image/"):
                folds.append(PictureFold(key, part))
            case Attachment():
                folds.append(Fold(key, "attachment", _attachment_title(part), part.content))
            case Retrieval():
                folds.append(Fold(key, "retrieval", _origin(part), part.text))
            case Text() | Reasoning() | Approval() | Opaque() | UnknownPart():
                pass
            case _:
                assert_never(part)
    return folds


def _origin(part: Retrieval) -> str:
    """Return where a passage is from; of a session also how it begins, to tell it from others."""
    if part.source:
        return f"from {visible(part.source)}"
    begins = shorten(visible(part.text[: 10 * TITLE_CHARACTERS]), TITLE_CHARACTERS, placeholder="…")
    return f"from an earlier session: {begins}"


def _attachment_title(part: Attachment) -> str:
    lines = part.content.rstrip("\n").count("\n") + 1
    how = " · read in parts" if part.handle else ""
    return f"{visible(part.name)} · {lines:,} {'line' if lines == 1 else 'lines'}{how}"


def shown_at(message_id: str, branch: Sequence[str], keys: Container[str]) -> str | None:
    """Return the key of the entry that shows a message of a branch; None if none does."""
    if message_id in keys:
        return message_id
    if message_id not in branch:
        return None
    # A message that only brought results has no entry: it is part of an earlier one.
    before = branch[: branch.index(message_id) + 1]
    return next((key for key in reversed(before) if key in keys), None)


def said_before(moment: str, branch: Iterable[Message]) -> str | None:
    """Return the id of the last message of a branch sent up to a moment; None if none was."""
    earlier = [message.id for message in takewhile(lambda each: each.timestamp <= moment, branch)]
    return earlier[-1] if earlier else None


def time_facts(usage: Usage) -> Iterator[str]:
    """Yield what was done and how long each step took, as far as it was measured."""
    if usage.load_seconds and usage.load_seconds >= SHORTEST_SECONDS:
        yield f"loaded in {_seconds(usage.load_seconds)}"
    if usage.prompt_seconds:
        new = usage.input_tokens - (usage.cached_tokens or 0)
        yield f"read {_pace(new, usage.prompt_seconds)}"
    if usage.output_seconds:
        yield f"wrote {_pace(usage.output_tokens, usage.output_seconds)}"


def slowest_of(usage: Usage) -> str:
    """Return what took most of the time; "" where fewer than two steps were measured."""
    times = {
        "loading the model": usage.load_seconds or 0,
        "reading the prompt": usage.prompt_seconds or 0,
        "writing": usage.output_seconds or 0,
    }
    if sum(1 for seconds in times.values() if seconds) < 2:
        return ""
    return f"mostly {max(times, key=lambda what: times[what])}"


def cached_words(usage: Usage) -> str:
    """Return how much of the prompt the server had in its cache, "" where it does not say."""
    if usage.cached_tokens is None:
        return ""
    if not usage.cached_tokens:
        return "nothing cached"
    return f"{usage.cached_tokens:,} of {usage.input_tokens:,} tokens cached"


def usage_words(usage: Usage) -> str:
    """Return cache, times and tokens in one line, as it stands below a message."""
    facts = list(time_facts(usage))
    if not usage.output_seconds:
        facts.append(f"{usage.output_tokens:,} tokens")
    if usage.cached_tokens:
        facts.insert(0, f"{usage.cached_tokens:,} of {usage.input_tokens:,} cached")
    if usage.cost is not None:
        facts.append(cost_words(usage.cost))
    return " · ".join(facts)


def why_slow(usage: Usage) -> str:
    """Return an answer to the question why a reply took so long."""
    times = "; ".join(time_facts(usage))
    return ": ".join(filter(None, (slowest_of(usage), times)))


def _pace(tokens: int, seconds: float) -> str:
    if seconds < SHORTEST_SECONDS:
        return f"{tokens:,} at once"
    return f"{tokens:,} in {_seconds(seconds)}, {tokens / seconds:,.0f} tok/s"


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds:.0f} s"
