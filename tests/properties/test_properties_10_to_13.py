"""Properties 10 to 13 of the seeds: when a context is compressed, what that keeps, that it makes
less, and that it counts.

A token is a word here, as the server of these conversations counts: what the program should have
done is worked out from that and from the shares that the specification names.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from fractions import Fraction
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_tui.core.compression_events import (
    AnyCompressionEvent,
    CompressionDrafted,
    ContextCompressed,
)
from ollm_tui.core.errors import UsageError
from ollm_tui.core.provider import ChatRequest, TextDelta
from ollm_tui.core.session.compression import Strategy
from ollm_tui.engine.context.budget import Budget, BudgetRules
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.providers.scripted import Turn
from ollm_tui.services.tokens.prompt_count import Parts
from ollm_tui.settings.schema import Compression, Settings
from tests.conftest import promised
from tests.properties.conversations import (
    SYSTEM_PROMPT,
    Conversations,
    History,
    messages_of,
    words,
)

WITHOUT_RESERVE = Fraction(85, 100)
RECENT_SHARE = Fraction(30, 100)
LEAST_WINDOW = 1024
SURE = Fraction(8, 10)
"""Counts of single messages are shares of a measured prompt: a few words may be off."""

sizes = st.integers(1, 160)
turns = st.tuples(sizes, sizes, st.integers(0, 3), sizes)
histories = st.lists(turns, min_size=3, max_size=14)
percentages = st.integers(30, 130)
"""How full the window is."""
strategies: st.SearchStrategy[Strategy] = st.sampled_from(("hybrid", "summarize", "truncate"))


def facts(number: int, sentence: int) -> str:
    """So many words that repeat nothing, in sentences of a length."""
    said = [f"fact{''.join(chr(97 + int(digit)) for digit in str(n))}" for n in range(number)]
    return " ".join(" ".join(said[at : at + sentence]) + "." for at in range(0, number, sentence))


summaries = st.builds(facts, st.integers(1, 900), st.integers(4, 60) | st.just(1000))
"""Summaries of any length, in sentences of any length."""


@pytest.fixture(scope="module")
def conversations(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Conversations]:
    made = Conversations(tmp_path_factory.mktemp("store"))
    yield made
    made.close()


def prompt(conversation: Conversation) -> list[dict[str, Any]]:
    return json.loads(conversation.prompt_json())["messages"]


def tokens(*said: dict[str, Any]) -> int:
    """What the server counts: words, and half of the characters of calls."""
    calls = [call for message in said for call in message.get("tool_calls", ())]
    written = sum(len(json.dumps(call, separators=(",", ":"))) for call in calls)
    return sum(len(message.get("text", "").split()) for message in said) + written // 2


def window_for(history: History, percent: int) -> int:
    """The window that such a history fills to so many percent."""
    # The frame around the results of tools and the system prompt are some words more.
    total = sum(
        asked + answered + calls * (output + 60) for asked, answered, calls, output in history
    )
    return max(LEAST_WINDOW, total * 100 // percent)


def is_full(said: list[dict[str, Any]], window: int, threshold: Fraction) -> Fraction:
    """How much of what may be said before compressing was said; from 1 on it is too much."""
    available = window * WITHOUT_RESERVE - tokens(said[0])
    return Fraction(tokens(*said[1:])) / (threshold * available)


@promised
@given(
    window=st.integers(2_048, 1_048_576),
    percent=st.integers(5, 99),
    system=st.integers(0, 1_000),
    checkpoints=st.integers(0, 500),
    near=st.integers(-3, 3) | st.integers(-1_000_000, 1_000_000),
    cuts=st.tuples(st.floats(0, 1), st.floats(0, 1)),
)
def test_property_10_compression_is_due_exactly_from_the_threshold_on(
    window: int,
    percent: int,
    system: int,
    checkpoints: int,
    near: int,
    cuts: tuple[float, float],
) -> None:
    """Feature: services-sessions, Property 10: Compression trigger threshold."""
    limit = window * 85 // 100
    threshold = Fraction(percent, 100) * (limit - system - checkpoints)
    said = max(0, int(threshold) + near)
    first, second = sorted(int(cut * said) for cut in cuts)
    parts = Parts(
        system=system,
        checkpoints=checkpoints,
        user=first,
        assistant=second - first,
        tools=said - second,
    )
    budget = Budget.of(window, parts, BudgetRules(threshold=percent / 100))
    if said >= max(threshold, 1):
        assert budget.needs_compression
    if said < threshold - 1:
        assert not budget.needs_compression


@promised
@given(history=histories, percent=st.integers(30, 95), threshold=st.integers(50, 95))
def test_property_10_a_conversation_over_its_threshold_is_due(
    conversations: Conversations, history: History, percent: int, threshold: int
) -> None:
    """Feature: services-sessions, Property 10: Compression trigger threshold."""
    conversations.run(_is_due_when_full(conversations, history, percent, threshold))


async def _is_due_when_full(
    conversations: Conversations, history: History, percent: int, threshold: int
) -> None:
    window = window_for(history, percent)
    conversation, server = conversations.open(
        lambda _: [TextDelta("Yes.")],
        messages_of(history),
        window=window,
        settings=Settings(compression=Compression(threshold=threshold / 100)),
    )
    async with aclosing(conversation.send("Is it so?")) as events:
        async for _ in events:
            pass
    share = is_full(prompt(conversation), window, Fraction(threshold, 100))
    if server.requests and not 0.97 < share < 1.03:
        assert conversation.compression.is_due == (share > 1)


class Done(NamedTuple):
    """A conversation before and after it was asked to be compressed."""

    before: list[dict[str, Any]]
    after: list[dict[str, Any]]
    applied: bool
    counts: tuple[int, int]


async def compressed(
    conversations: Conversations,
    history: History,
    window: int,
    strategy: Strategy,
    summary: str,
    *,
    edited: int | None = None,
    settings: Settings | None = None,
) -> Done:
    """Compress a conversation by hand; `edited` is how much the user adds to the summary."""

    def answer(request: ChatRequest) -> Turn:
        return [TextDelta(summary)]

    conversation, _ = conversations.open(
        answer, messages_of(history), window=window, settings=settings
    )
    before, counted = prompt(conversation), count(conversation)
    if edited is None:
        last = await last_of(conversation.compression.run(strategy=strategy))
        applied = isinstance(last, ContextCompressed)
    else:
        applied = await applied_as_edited(conversation, strategy, edited)
    counts = (counted, count(conversation))
    return Done(before, prompt(conversation), applied, counts)


async def applied_as_edited(conversation: Conversation, strategy: Strategy, percent: int) -> bool:
    """Look at a draft first, and add so many percent of what it saves to its summary."""
    last = await last_of(conversation.compression.preview(strategy=strategy))
    if not isinstance(last, CompressionDrafted):
        return False
    done, made = last.draft.compression, last.draft.checkpoint
    more = (done.before_tokens - done.after_tokens) * percent // 100
    edited = f"{made.summary if made else ''} {facts(more, 20)}"
    try:
        await conversation.compression.apply(last.draft, edited)
    except UsageError:
        return False
    return True


async def last_of(events: AsyncGenerator[AnyCompressionEvent, None]) -> AnyCompressionEvent:
    async with aclosing(events):
        return [event async for event in events][-1]


def count(conversation: Conversation) -> int:
    return conversation.state.header.metadata.compression_count


SHORT = "They spoke about beds, soil and water, and agreed on three beds in the shade."


@promised
@given(
    history=histories,
    # Mostly there is room for a recent part, which may be smaller than what is wished for.
    percent=st.integers(30, 60) | percentages,
    strategy=strategies,
    wish=st.integers(0, 600) | st.integers(300, 2048) | st.none(),
)
def test_property_11_system_prompt_and_recent_messages_stay(
    conversations: Conversations,
    history: History,
    percent: int,
    strategy: Strategy,
    wish: int | None,
) -> None:
    """Feature: services-sessions, Property 11: Compression preserves critical messages."""
    window = window_for(history, percent)
    settings = (
        Settings() if wish is None else Settings(compression=Compression(preserve_recent=wish))
    )
    done = conversations.run(
        compressed(conversations, history, window, strategy, SHORT, settings=settings)
    )
    assert done.before[0] == done.after[0] == {"role": "system", "text": SYSTEM_PROMPT}
    own = [words(asked, turn) for turn, (asked, *_) in enumerate(history)]
    assert [text for text in own if not is_said(text, done.after)] == []
    recent = min(2048 if wish is None else wish, window * WITHOUT_RESERVE * RECENT_SHARE)
    if is_full(done.before, window, Fraction(80, 100)) > SURE:
        recent = 0  # there may be no room for it: then no more than the last turn has to stay
    stays = newest(done.before, int(recent * SURE))
    if tokens(*done.before) > window * WITHOUT_RESERVE * SURE:
        stays = done.before[-1:]  # nothing could follow: then no more than the last round
    assert_stays(stays, done.after)


def is_said(text: str, said: list[dict[str, Any]]) -> bool:
    return any(text in message.get("text", "") for message in said)


def newest(said: list[dict[str, Any]], room: int) -> list[dict[str, Any]]:
    """The messages at the end that have so many tokens, and the last turn in any case."""
    last = max(place for place, message in enumerate(said) if message["role"] == "user")
    first = last
    while first > 1 and tokens(*said[first - 1 :]) <= room:
        first -= 1
    return said[first:]


def assert_stays(recent: list[dict[str, Any]], after: list[dict[str, Any]]) -> None:
    first, *rest = recent
    assert after[len(after) - len(rest) :] == rest
    # What stands for older messages may be sent in one message with the first that stays.
    joined = after[-len(recent)]
    assert joined["role"] == first["role"]
    assert joined.get("text", "").endswith(first.get("text", ""))
    assert joined.get("tool_calls") == first.get("tool_calls")


@promised
@given(
    history=histories,
    percent=percentages,
    strategy=strategies,
    summary=summaries,
    edited=st.none() | st.integers(80, 130) | st.integers(0, 300),
)
def test_property_12_there_are_fewer_tokens_or_nothing_is_done(
    conversations: Conversations,
    history: History,
    percent: int,
    strategy: Strategy,
    summary: str,
    edited: int | None,
) -> None:
    """Feature: services-sessions, Property 12: Compression reduces token count."""
    window = window_for(history, percent)
    done = conversations.run(
        compressed(conversations, history, window, strategy, summary, edited=edited)
    )
    if not done.applied:
        assert done.after == done.before
    else:
        assert tokens(*done.after) < tokens(*done.before)
        assert done.after[0] == done.before[0]
        assert done.after[-1] == done.before[-1]


@promised
@given(
    history=histories,
    percent=percentages,
    steps=st.lists(strategies | st.just("undo"), min_size=1, max_size=3),
    summary=summaries,
)
def test_property_13_the_count_grows_by_one_with_every_compression(
    conversations: Conversations, history: History, percent: int, steps: list[Any], summary: str
) -> None:
    """Feature: services-sessions, Property 13: Compression count increments."""
    conversations.run(_each_counts_once(conversations, history, percent, steps, summary))


async def _each_counts_once(
    conversations: Conversations, history: History, percent: int, steps: list[Any], summary: str
) -> None:
    conversation, _ = conversations.open(
        lambda _: [TextDelta(summary)],
        messages_of(history),
        window=window_for(history, percent),
    )
    expected = 0
    for step in steps:
        before = prompt(conversation)
        if step == "undo":
            await _undone(conversation)
        else:
            last = await last_of(conversation.compression.run(strategy=step))
            expected += isinstance(last, ContextCompressed)
            assert isinstance(last, ContextCompressed) == (prompt(conversation) != before)
        assert count(conversation) == expected


async def _undone(conversation: Conversation) -> None:
    try:
        await conversation.compression.undo()
    except UsageError:
        pass  # there was nothing to undo
