"""Loops in the stream: where the model repeated itself, and what was said to that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ollm_tui.core.intake import visible
from ollm_tui.core.loop import LoopRecord
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.tui.stream.transcript.entry import Entry

_ANSWERS: Mapping[str, str] = {
    "stop": "stopped",
    "once": "it went on once more",
    "allow": "allowed in this session",
    "tell": "you told it something",
    "back": "you went back to before it",
}
NUDGED = "nudge"
"""On record, the answer that the program gave by itself; its words stand in the stream."""


def with_loops(entries: list[Entry], state: SessionState) -> list[Entry]:
    """The entries of a branch and the loops that were met meanwhile, by their times."""
    loops = [each for each in state.header.metadata.loops if each.answer != NUDGED]
    return list(_with(entries, loops, state)) if loops else entries


def loop_entry(key: str, evidence: str, answer: str) -> Entry:
    """A loop, and what was said to it."""
    told = _ANSWERS.get(answer, visible(answer))
    return Entry(key, "note", f"↻ The model {visible(evidence)} · {told}")


def _with(
    entries: Iterable[Entry], loops: Iterable[LoopRecord], state: SessionState
) -> Iterator[Entry]:
    waiting = sorted(loops, key=lambda each: each.at)
    for entry in entries:
        said = state[entry.key].timestamp if entry.key in state else ""
        while waiting and waiting[0].at < said:
            yield _recorded(waiting.pop(0))
        yield entry
    yield from map(_recorded, waiting)


def _recorded(loop: LoopRecord) -> Entry:
    return loop_entry(f"loop-{loop.at}", loop.evidence, loop.answer)
