"""Property 10 of the seeds: a conversation over its threshold is due for compression."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ollm_tui.engine.context.budget import Budget, BudgetRules
from ollm_tui.services.tokens.prompt_count import Parts


@given(
    window=st.integers(2_048, 1_048_576),
    threshold=st.floats(0.05, 0.99),
    system=st.integers(0, 1_000),
    checkpoints=st.integers(0, 500),
    shares=st.tuples(*[st.floats(0, 1)] * 3),
)
def test_compression_is_due_exactly_from_the_threshold_on(
    window: int,
    threshold: float,
    system: int,
    checkpoints: int,
    shares: tuple[float, float, float],
) -> None:
    user, assistant, tools = (int(share * window) for share in shares)
    parts = Parts(
        system=system, checkpoints=checkpoints, user=user, assistant=assistant, tools=tools
    )
    budget = Budget.of(window, parts, BudgetRules(threshold=threshold))
    assert budget.room is not None
    said = user + assistant + tools
    if said > threshold * budget.room.available + 1:
        assert budget.needs_compression
    if said < threshold * budget.room.available - 1:
        assert not budget.needs_compression
