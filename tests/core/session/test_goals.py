"""Goals: one is active, and what a later version adds to them is kept."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ollm_tui.core.session.encoding import decode_session, encode
from ollm_tui.core.session.goals import (
    Decision,
    Goal,
    GoalStatus,
    Milestone,
    Subtask,
    active_goal,
    changed,
    locked_decisions,
    with_goal,
    with_status,
)
from ollm_tui.core.session.session import Metadata, Session

STATUSES: tuple[GoalStatus, ...] = ("active", "paused", "done")


def goal(key: str, **fields: Any) -> Goal:
    return Goal(id=key, text=f"goal {key}", created_at="2026-01-01T00:00:00Z", **fields)


@given(st.lists(st.tuples(st.sampled_from(("new", *STATUSES)), st.integers(0, 5)), max_size=12))
def test_whatever_happens_at_most_one_goal_is_active(steps: list[tuple[str, int]]) -> None:
    goals: tuple[Goal, ...] = ()
    for number, (step, place) in enumerate(steps):
        if step == "new":
            goals = with_goal(goals, goal(str(number)))
            assert active_goal(goals) == goals[-1]
        elif goals:
            key = goals[place % len(goals)].id
            status: GoalStatus = next(each for each in STATUSES if each == step)
            goals = with_status(goals, key, status)
            assert next(each for each in goals if each.id == key).status == status
        assert [each.status for each in goals].count("active") <= 1


def test_locked_decisions_stay_in_force_when_their_goal_is_done() -> None:
    locked = Decision(id="1", text="Use tabs", at="", locked=True)
    loose = Decision(id="2", text="Maybe later", at="")
    goals = (goal("a", status="done", decisions=(locked, loose)), goal("b"))
    assert locked_decisions(goals) == (locked,)


def test_only_the_named_goal_is_changed() -> None:
    goals = (goal("a", status="paused"), goal("b"))
    renamed = changed(goals, "a", lambda each: goal(each.id, status="done"))
    assert renamed == (goal("a", status="done"), goals[1])


def test_everything_in_metadata_survives_a_file_and_so_does_what_is_unknown() -> None:
    full = goal(
        "a",
        subtasks=(Subtask(id="s", text="step"),),
        milestones=(Milestone(id="m", text="half", reached_at="2026-01-02T00:00:00Z"),),
        decisions=(Decision(id="d", text="so", at="2026-01-02T00:00:00Z", locked=True),),
        artifacts=("a.py",),
        blockers=("time",),
    )
    metadata = Metadata(goals=(full,), pins=("m1",), excluded=("m2",), folded={"m3": 12})
    session = Session(
        session_id="s", start_time="", last_activity="", model="m", provider="p", metadata=metadata
    )
    assert decode_session(encode(session)) == session

    tree = json.loads(encode(session))
    tree["metadata"]["goals"][0]["colour"] = "green"
    tree["metadata"]["goals"][0]["subtasks"][0]["owner"] = "me"
    tree["metadata"]["contextEntries"] = [
        {"key": "k", "content": "c", "addedAt": "", "ttl": 5, "priority": 50, "source": "user"}
        | {"origin": "", "expiresAt": None}
    ]
    read = decode_session(json.dumps(tree).encode())
    assert read.metadata.goals[0].subtasks[0].text == "step"
    assert json.loads(encode(read)) == tree
