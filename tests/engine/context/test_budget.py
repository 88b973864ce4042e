"""The budget of a window: the numbers of the seed, and what holds for every window."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ollm_tui.engine.context.budget import Budget, BudgetRules, Room
from ollm_tui.services.tokens.prompt_count import Parts
from ollm_tui.settings.schema import Compression, Context, Settings, Snapshots

windows = st.integers(2_048, 1_048_576)
rules = st.builds(
    BudgetRules,
    output_reserve=st.floats(0.001, 0.9),
    threshold=st.floats(0.01, 1.0),
    preserve_recent=st.integers(0, 100_000),
    checkpoint_share=st.floats(0.001, 0.9),
    snapshot_threshold=st.floats(0.01, 1.0),
)
tokens = st.integers(0, 2_000_000)
parts = st.builds(
    Parts, system=tokens, checkpoints=tokens, user=tokens, assistant=tokens, tools=tokens
)


def room_of(budget: Budget) -> Room:
    assert budget.room is not None
    return budget.room


def test_the_example_of_the_seed_comes_out() -> None:
    budget = Budget.of(8192, Parts(system=500))
    assert budget.room == Room(
        window=8192,
        limit=6963,
        reserve=1229,
        available=6463,
        trigger=5170,
        snapshot=5918,
        checkpoint_cap=2088,
        recent=2048,
        free=6463,
        percent=6,
    )
    assert budget.trigger_mark == 5670


def test_a_checkpoint_brings_the_trigger_down_as_in_the_seed() -> None:
    room = room_of(Budget.of(8192, Parts(system=500, checkpoints=2000)))
    assert (room.available, room.trigger) == (4463, 3570)


def test_the_rules_come_from_the_settings() -> None:
    settings = Settings(
        context=Context(output_reserve=0.5),
        compression=Compression(threshold=0.6, preserve_recent=7, checkpoint_share=0.1),
        snapshots=Snapshots(auto_threshold=0.7),
    )
    room = room_of(Budget.of(10_000, Parts(), BudgetRules.of(settings)))
    assert (room.limit, room.trigger, room.recent) == (5000, 3000, 7)
    assert (room.checkpoint_cap, room.snapshot) == (500, 3500)
    assert BudgetRules.of(Settings()) == BudgetRules()


@given(window=windows, parts=parts, rules=rules)
def test_the_window_is_divided_without_rest_and_nothing_is_negative(
    window: int, parts: Parts, rules: BudgetRules
) -> None:
    budget = Budget.of(window, parts, rules)
    room = room_of(budget)
    assert room.limit + room.reserve == window
    assert 0 < room.trigger < room.limit < window
    assert 0 <= room.available <= room.limit
    assert 0 <= room.snapshot <= room.limit
    assert 0 <= room.checkpoint_cap < room.limit
    assert 0 <= room.recent <= room.limit * 0.3
    assert room.free >= 0
    assert room.free == max(0, room.limit - budget.used)
    assert budget.over_limit == (budget.used > room.limit)


@given(window=windows, more=st.integers(1, 100_000), rules=rules, system=st.integers(0, 10_000))
def test_a_larger_window_gives_no_less_of_anything(
    window: int, more: int, rules: BudgetRules, system: int
) -> None:
    small = room_of(Budget.of(window, Parts(system=system), rules))
    large = room_of(Budget.of(window + more, Parts(system=system), rules))
    for name in ("limit", "reserve", "available", "trigger", "snapshot", "recent", "free"):
        assert getattr(small, name) <= getattr(large, name)
    assert small.percent >= large.percent


@given(window=windows, parts=parts, more=st.integers(1, 10_000))
def test_a_longer_system_prompt_compresses_no_later(window: int, parts: Parts, more: int) -> None:
    short = Budget.of(window, Parts(system=parts.system, user=parts.user))
    long = Budget.of(window, Parts(system=parts.system + more, user=parts.user))
    assert room_of(long).trigger <= room_of(short).trigger
    assert long.needs_compression or not short.needs_compression


@given(window=windows)
def test_checkpoints_at_their_cap_leave_room_for_a_conversation(window: int) -> None:
    cap = room_of(Budget.of(window, Parts())).checkpoint_cap
    room = room_of(Budget.of(window, Parts(checkpoints=cap)))
    assert room.trigger > room.recent or room.recent == 0
    assert room.trigger >= window * 0.85 * 0.7 * 0.8 - 2


@given(window=windows, length=st.integers(0, 2_000_000))
def test_exactly_the_prompts_up_to_the_limit_fit(window: int, length: int) -> None:
    budget = Budget.of(window, Parts())
    assert budget.fits(length) == (length <= room_of(budget).limit)


def test_the_remaining_exchanges_follow_from_the_last_five() -> None:
    budget = Budget.of(8192, Parts(system=500, user=1000, assistant=1170))
    assert budget.exchanges_left([9_000, 500, 500, 500, 500, 500]) == 6
    assert budget.exchanges_left([200, 800]) == 6
    assert budget.exchanges_left([]) is None
    assert Budget.of(8192, Parts(user=6_000)).exchanges_left([500]) == 0


@given(parts=parts)
def test_with_an_unknown_window_nothing_is_too_long_and_nothing_is_due(parts: Parts) -> None:
    budget = Budget.of(None, parts)
    assert budget == Budget(parts, None)
    assert budget.used == parts.total
    assert budget.fits(10**9)
    assert not (budget.over_limit or budget.needs_compression)
    assert budget.trigger_mark is None
    assert budget.exchanges_left([100]) is None
