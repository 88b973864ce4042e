"""What holds for every ledger: its room, its order, its form on disk, its time."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ollm_tui.core.session.compression import Fact, Ledger
from ollm_tui.core.session.encoding import encode
from ollm_tui.core.session.message import Message, Role, Text, ToolResultPart
from ollm_tui.core.session.session import ToolCall
from ollm_tui.engine.compression.ledger.ledger import ledger_of, merged, rendered
from tests.generators import messages, texts, tool_calls

SENTENCES = (
    "The timeout is 30 s.",
    "I changed the timeout to 60 s.",
    "We use Redis for the cache.",
    "We switched from Redis to Memcached for the cache.",
    "Never touch src/a.py, please.",
    "TODO: write the docs.",
    "- [x] write the docs",
    "I tried to pin numpy, but it did not work.",
    "ValueError: no",
    "$ make check",
)
spoken = st.lists(st.one_of(st.sampled_from(SENTENCES), texts), max_size=6).map("\n\n".join)
speakers: st.SearchStrategy[Role] = st.sampled_from(("user", "assistant"))


def _message(role: Role, text: str) -> Message:
    return Message("m", role, (Text(text),), "")


said = st.builds(_message, speakers, spoken)
ledgers = st.lists(st.one_of(said, messages), max_size=4).map(ledger_of)


@settings(max_examples=60, deadline=None)
@given(ledgers, st.integers(-1, 400), st.integers(1, 7))
def test_a_rendered_ledger_never_exceeds_its_room(ledger: Ledger, room: int, size: int) -> None:
    def count(text: str) -> int:
        return -(-len(text) // size)

    assert count(rendered(ledger, room, count)) <= max(room, 0)


@settings(max_examples=60, deadline=None)
@given(ledgers, ledgers)
def test_merging_again_changes_nothing(older: Ledger, newer: Ledger) -> None:
    once = merged(older, newer)
    assert merged(once, once) == once
    assert merged(once, Ledger()) == once
    assert merged(Ledger(), once) == once


@settings(max_examples=60, deadline=None)
@given(ledgers, ledgers)
def test_merging_keeps_the_order_in_which_things_were_last_said(
    older: Ledger, newer: Ledger
) -> None:
    said_again = {(fact.kind, fact.text.casefold()) for fact in newer.facts}
    order = [
        *(f for f in older.facts if (f.kind, f.text.casefold()) not in said_again),
        *newer.facts,
    ]
    places = [(fact.kind, fact.text.casefold()) for fact in order]
    kept = [(f.kind, f.text.casefold()) for f in merged(older, newer).facts]
    positions = [places.index(key) for key in kept if key in places]
    assert positions == sorted(positions)


@settings(max_examples=60, deadline=None)
@given(st.lists(messages, max_size=4), st.lists(tool_calls, max_size=2))
def test_any_record_gives_a_ledger_and_always_the_same(
    some: list[Message], calls: list[ToolCall]
) -> None:
    first = ledger_of(some, calls)
    assert first == ledger_of(some, calls)
    for fact in first.facts:
        assert "\n" not in fact.text
        assert "```" not in fact.text
        assert "<|" not in fact.text


@settings(max_examples=30, deadline=None)
@given(ledgers)
def test_a_ledger_is_written_and_read_back_whole(ledger: Ledger) -> None:
    assert msgspec.json.decode(encode(ledger), type=Ledger) == ledger


def test_on_disk_a_fact_says_only_what_it_has_to_say() -> None:
    ledger = Ledger((Fact("value", "port 1", "port", "m1", from_user=True), Fact("file", "a.py")))
    assert json.loads(encode(ledger)) == {
        "facts": [
            {
                "kind": "value",
                "text": "port 1",
                "about": "port",
                "source": "m1",
                "fromUser": True,
            },
            {"kind": "file", "text": "a.py"},
        ]
    }


def _seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


@pytest.mark.parametrize(
    "unit",
    (
        *("a ", "[", "((", "`", "```\n", "- [ ] a b\n", "port 1 ", "a.b/", "Aa", "a_b_", "x"),
        *("Error: ", "You must not use 5 s, ", "The timeout is 5 s. ", "0a", "\n"),
        *("from a to b instead of c ", "src/a.py ", "https://a.b/"),
    ),
    ids=repr,
)
def test_hostile_text_takes_time_in_proportion_to_its_size(unit: str) -> None:
    def read(size: int) -> Ledger:
        text = (unit * size)[:size]
        parts = (Text(text), ToolResultPart("c", "look", text))
        return ledger_of([Message("m", role, parts, "") for role in ("user", "assistant")])

    once = min(_seconds(lambda: read(20_000)) for _ in range(2))
    twice = min(_seconds(lambda: read(40_000)) for _ in range(2))
    assert twice <= 4 * once + 0.05
    assert len(read(1_000_000).facts) < 1000
