"""Separating the thinking that a model writes into its answer between <think> and </think>."""

from __future__ import annotations

from ollm_tui.core.provider import ReasoningDelta, TextDelta

_OPEN = "<think>"
_CLOSE = "</think>"

Delta = TextDelta | ReasoningDelta


class ThinkTagSplitter:
    """Splits an answer into text and thinking, even if a tag is cut between chunks.

    A tag counts only at the beginning of an answer or right after other thinking: an answer that
    talks about <think> keeps it. White space around the tags is dropped.
    """

    def __init__(self) -> None:
        self._held = ""
        self._thinking = False
        self._may_open = True
        self._at_edge = False
        """Whether a tag comes right before: then white space is dropped."""

    def feed(self, text: str) -> list[Delta]:
        """Return what is certain now; the beginning of a tag is held back until more comes."""
        self._held += text
        deltas: list[Delta] = []
        while self._held:
            before = (self._held, self._thinking, self._may_open)
            delta = self._think() if self._thinking else self._speak()
            if delta is not None:
                deltas.append(delta)
            if (self._held, self._thinking, self._may_open) == before:
                break
        return deltas

    def finish(self) -> list[Delta]:
        """Return what was still held back: the beginning of a tag that never was completed."""
        held, self._held = self._held, ""
        if self._at_edge:
            held = held.lstrip()
        if not held:
            return []
        return [ReasoningDelta(held) if self._thinking else TextDelta(held)]

    def _think(self) -> ReasoningDelta | None:
        thought, closed, rest = self._held.partition(_CLOSE)
        if closed:
            self._thinking, self._may_open, self._held = False, True, rest
        else:
            kept = _beginning_at_end(thought, _CLOSE)
            thought, self._held = thought[: len(thought) - kept], thought[len(thought) - kept :]
        if self._at_edge:
            thought = thought.lstrip()
        self._at_edge = bool(closed) or (self._at_edge and not thought)
        return ReasoningDelta(thought) if thought else None

    def _speak(self) -> TextDelta | None:
        if self._may_open:
            start = self._held.lstrip()
            if start.startswith(_OPEN):
                self._thinking, self._at_edge = True, True
                self._held = start.removeprefix(_OPEN)
                return None
            if _OPEN.startswith(start):
                return None
            self._may_open = False
        words, self._held = self._held, ""
        if self._at_edge:
            words, self._at_edge = words.lstrip(), False
        return TextDelta(words)


def _beginning_at_end(text: str, tag: str) -> int:
    """Return how many characters at the end of a text may be the beginning of a tag."""
    longest = min(len(text), len(tag) - 1)
    return next((n for n in range(longest, 0, -1) if text.endswith(tag[:n])), 0)
