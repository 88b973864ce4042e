"""How much a ledger remembers of conversations in many people's words, at 35 % of the size."""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest

from ollm_tui.engine.compression.ledger.ledger import rendered
from tests.engine.compression.ledger.fact_scenes import conversations, scenes
from tests.engine.compression.ledger.test_fact_recall import SHARE, folded, recall, tokens


class Most(NamedTuple):
    """The share that may slip through."""

    stale: float
    still_open: float


MOST = {
    "first": Most(stale=0.02, still_open=0.02),
    "second": Most(stale=0.05, still_open=0.15),
    "third": Most(stale=0.05, still_open=0.25),
    "fourth": Most(stale=0.1, still_open=0.4),
}
"""The fourth was written last and nothing was made to fit it: it tells what to expect."""


@pytest.mark.parametrize("name", MOST)
@pytest.mark.parametrize("compressions", (1, 3))
def test_all_that_users_said_and_most_else_is_remembered(name: str, compressions: int) -> None:
    found = recall(conversations(scenes(name)), compressions)
    assert found.of("user") == 1
    assert found.of("assistant") >= 0.8
    assert found.of("all") >= 0.9


@pytest.mark.parametrize("name", MOST)
def test_what_tools_told_is_remembered(name: str) -> None:
    assert recall(conversations(scenes(name))).of("tool") >= 0.9


@pytest.mark.parametrize("name", MOST)
@pytest.mark.parametrize("compressions", (1, 3))
def test_few_replaced_values_and_closed_tasks_are_shown_as_current(
    name: str, compressions: int
) -> None:
    found = recall(conversations(scenes(name)), compressions)
    replaced = found.planted["assistant superseded"] + found.planted["user superseded"]
    assert found.stale <= MOST[name].stale * replaced
    assert found.still_open <= MOST[name].still_open * found.closed


@pytest.mark.parametrize("name", MOST)
def test_what_still_holds_is_not_told_as_the_earlier_of_two(name: str) -> None:
    for made in conversations(scenes(name)):
        text = rendered(folded(made, 1), int(SHARE * tokens(made.text)), tokens)
        current = re.sub(r"earlier: .*? Now: ", "", text)
        assert [fact for fact in made.planted if fact.is_in(text)] == [
            fact for fact in made.planted if fact.is_in(current)
        ]
