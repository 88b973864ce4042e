"""Passages of earlier sessions that fit some words, for the model to read along as data."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import NamedTuple

from ollm_tui.core.errors import OllmError, ProviderError
from ollm_tui.core.search import Hit, SessionHits, SnippetRoom
from ollm_tui.core.session.message import Message, Retrieval, Role, Text
from ollm_tui.engine.project.history_search import History
from ollm_tui.services.search.recall_words import recall_query, terms_in
from ollm_tui.services.tokens.careful_estimate import careful_estimate

PASSAGE = SnippetRoom(characters=1200, before=300, lines_before=6, lines_after=24)
LOOKED_AT = 60
"""Hits among which the best are chosen."""
MOST = 20
WITHIN_SECONDS = 2.0
"""A message is not kept waiting any longer by what may be of help."""
PATIENCE_SECONDS = 5.0
"""Who asks for passages waits so long for a server that compares what they mean."""
COMPARED = 24
COMPARED_CHARACTERS = 600
"""So much of so many passages is compared: small servers read a few hundred tokens a second, and
many models of vectors take 512 at a time."""
COVERED = 0.5
"""The share of the telling words that a passage needs to be taken unasked."""

Embed = Callable[[Sequence[str]], Awaitable[Sequence[Sequence[float]]]]
"""Turns texts into vectors that lie near each other where the texts mean something alike."""

log = logging.getLogger(__name__)


class Passage(NamedTuple):
    """A piece of an earlier message, where it is from, and about what it costs."""

    session_id: str
    title: str
    message_id: str
    role: Role
    timestamp: str
    text: str
    tokens: int
    covered: float
    """The share of the words that were looked for that stand in it."""

    @property
    def retrieval(self) -> Retrieval:
        """The part of a message that carries it."""
        return Retrieval(text=self.text, session_id=self.session_id, message_id=self.message_id)

    @property
    def message(self) -> Message:
        """A message that says no more than this."""
        return Message(self.message_id, self.role, (Text(self.text),), self.timestamp)


class Recall:
    """Finds passages; where there is an `embed`, those that mean something alike come first."""

    def __init__(self, history: History, budget: int, embed: Embed | None = None) -> None:
        self._history = history
        self.budget = budget
        """The most tokens that all passages of a message may take."""
        self._embed = embed

    async def passages(
        self, words: str, but: str | None = None, patience: float = PATIENCE_SECONDS
    ) -> list[Passage]:
        """What was said about the same things, the best first; nothing of one session, if that
        is wanted. StoreError, or UsageError where the setting names nobody who makes vectors.
        """
        query = recall_query(words)
        if not query.terms:
            return []
        await self._history.refresh()
        found: list[Passage] = []
        search = self._history.search(query, most=LOOKED_AT, room=PASSAGE)
        async with aclosing(search) as rounds:
            async for results in rounds:
                found = [
                    _passage(session, hit, terms_in(query, hit.snippet) / len(query.terms))
                    for session in results.sessions
                    if session.session_id != but
                    for hit in session.hits
                ]
        found.sort(key=lambda passage: -passage.covered)
        if self._embed and found:
            found = await self._by_meaning(found, words, self._embed, patience)
        return found[:MOST]

    async def _by_meaning(
        self, found: list[Passage], words: str, embed: Embed, patience: float
    ) -> list[Passage]:
        """In a better order, or as they are where the server fails or takes too long."""
        try:
            async with asyncio.timeout(patience):
                return await _ranked(found, words, embed)
        except (ProviderError, TimeoutError) as error:
            log.warning("passages are in the order of their words", exc_info=error)
            return found

    async def for_prompt(self, words: str, but: str) -> tuple[Retrieval, ...]:
        """What goes along with a message by itself, within the budget; nothing if that fails."""
        try:
            async with asyncio.timeout(WITHIN_SECONDS):
                found = await self.passages(words, but, WITHIN_SECONDS / 2)
        except (OllmError, TimeoutError) as error:
            log.warning("nothing was recalled", exc_info=error)
            return ()
        room, chosen = self.budget, list[Retrieval]()
        for passage in found:
            if passage.covered >= COVERED and passage.tokens <= room:
                room -= passage.tokens
                chosen.append(passage.retrieval)
        return tuple(chosen)


def _passage(session: SessionHits, hit: Hit, covered: float) -> Passage:
    text = hit.snippet.text
    tokens = round(careful_estimate(text))
    return Passage(*hit[:1], session.title, *hit[1:4], text, tokens, covered)


async def _ranked(found: list[Passage], words: str, embed: Embed) -> list[Passage]:
    """By both ranks together: 1/(60 + place) in each, added up, as is usual."""
    compared = [passage.text[:COMPARED_CHARACTERS] for passage in found[:COMPARED]]
    wanted, *others = await embed([words[:COMPARED_CHARACTERS], *compared])
    alike = [_likeness(wanted, other) for other in others]
    nearest = sorted(range(len(alike)), key=lambda at: -alike[at])
    scores = {at: 1 / (60 + at) for at in range(len(found))}
    for place, at in enumerate(nearest):
        scores[at] += 1 / (60 + place)
    return [found[at] for at in sorted(scores, key=lambda at: -scores[at])]


def _likeness(one: Sequence[float], other: Sequence[float]) -> float:
    lengths = sum(x * x for x in one) * sum(x * x for x in other)
    return sum(x * y for x, y in zip(one, other, strict=True)) / lengths**0.5 if lengths else 0.0
