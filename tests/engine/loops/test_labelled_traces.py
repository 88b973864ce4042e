"""Turns that people labelled: loops are found, and work is left alone."""

from __future__ import annotations

import pytest

from tests.conftest import Tell
from tests.engine.loops import (
    traces,
    traces_examined_fourth,
    traces_examined_further,
    traces_examined_loops,
    traces_examined_sealed,
    traces_examined_third,
    traces_examined_work,
    traces_further,
    traces_held_out,
)
from tests.engine.loops.trace import Trace, found_in

LEAST_RECALL, MOST_FALSE_ALARMS = 0.95, 0.03
SETS = {
    "known": traces.TRACES,
    "held out": traces_held_out.TRACES,
    "further": traces_further.TRACES,
    "examined": [*traces_examined_loops.LOOPS, *traces_examined_work.WORK],
    "examined further": traces_examined_further.TRACES,
    "examined, third": traces_examined_third.TRACES,
    "examined, fourth": traces_examined_fourth.TRACES,
    "examined, sealed": traces_examined_sealed.SEALED,
}


def test_there_are_enough_of_both_kinds() -> None:
    for labelled in SETS.values():
        assert sum(trace.is_loop for trace in labelled) >= 20
        assert sum(not trace.is_loop for trace in labelled) >= 24


@pytest.mark.parametrize("labelled", SETS.values(), ids=SETS)
def test_loops_are_found(labelled: list[Trace], record_property: Tell) -> None:
    loops = [trace for trace in labelled if trace.is_loop]
    missed = [trace.name for trace in loops if not found_in(trace.events)]
    record_property("in time", f"{len(loops) - len(missed)}/{len(loops)}")
    assert len(missed) <= (1 - LEAST_RECALL) * len(loops), missed


@pytest.mark.parametrize("labelled", SETS.values(), ids=SETS)
def test_work_is_left_alone(labelled: list[Trace], record_property: Tell) -> None:
    work = [trace for trace in labelled if not trace.is_loop]
    alarms = {trace.name: found for trace in work if (found := found_in(trace.events))}
    record_property("false", f"{len(alarms)}/{len(work)}")
    assert len(alarms) <= MOST_FALSE_ALARMS * len(work), alarms
