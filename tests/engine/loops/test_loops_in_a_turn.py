"""Whole turns of a scripted model: loops are ended in time, and work is let alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ollm_tui.core.events import TurnFailed, TurnFinished
from ollm_tui.core.provider import TextDelta, ToolCallArrived, ToolSpec
from ollm_tui.core.session.message import ToolCallPart
from ollm_tui.core.tool import Action, Tell, ToolOutcome
from ollm_tui.core.tool_events import ToolFinished
from ollm_tui.engine.conversation.conversation_goals import ConversationGoals
from ollm_tui.engine.conversation.held_session import HeldSession
from ollm_tui.engine.tools.conversation_tools import ToolKit
from ollm_tui.engine.tools.policy import Policy
from ollm_tui.providers.scripted import Scripted, Step
from ollm_tui.services.redaction.redactor import Redactor
from ollm_tui.services.safety.grants import Grants
from ollm_tui.settings.schema import LoopDetection, Settings
from tests.engine.conftest import OpenWorkspace
from tests.engine.loops.trace import Do

IN_TIME = 6
"""The repetition by which a loop has to be ended."""

SOURCE = [f"{number}: total_{number * 7} += price[{number}]" for number in range(1, 200)]
FAILED = "FAILED test_cart.py::test_total - assert 10 == 12\n1 failed in 0.{}s"


def lines(first: int, last: int) -> str:
    return "\n".join(SOURCE[first:last])


def run(code: str, result: str, *, is_error: bool = False) -> Do:
    return Do("exec", {"code": code}, result, False, is_error)


def edit(old: str, new: str, result: str = "1 replacement", *, is_error: bool = False) -> Do:
    args = {"path": "cart.py", "old": old, "new": new}
    return Do("edit_file", args, result, not is_error, is_error)


def read(first: int, last: int, path: str = "cart.py") -> Do:
    return Do("read_file", {"path": path, "start": first}, lines(first, last), False)


LOOPS: dict[str, list[list[Do]]] = {
    "only a tally differs": [
        [run("./sync", f"connecting\nerror: table users is locked\n{n} attempts so far")]
        for n in range(20)
    ],
    "paths are spelled in other ways": [
        [run(f"cat {path}", lines(0, 9))] for path in ("a.py", "./a.py", "a.py", ".//a.py") * 5
    ],
    "a log is polled that has ended": [
        [run("sleep 0; cat job.log", "started\nerror: queue is empty")] for _ in range(20)
    ],
    "the same lines by other ranges": [[read(n % 7, 90 - n % 5)] for n in range(20)],
    "a search is spelled anew": [
        [Do("search_text", {"pattern": pattern}, lines(3, 8), False)]
        for pattern in ("total", "total_", "total_.*", "[t]otal", "TOTAL|total", "tot(al)", "otal")
    ],
    "a test fails between equal reads": [
        [read(0, 40), run("pytest -q", FAILED.format(n))] for n in range(20)
    ],
    "a comment counts up": [
        [edit(f"x = 1  # try {n}", f"x = 1  # try {n + 1}"), run("pytest -q", FAILED.format(n))]
        for n in range(20)
    ],
    "an edit never fits": [
        [edit(f"{'  ' * n}x = 1", "x = 2", f"not found, nearest is line {n * 7}", is_error=True)]
        for n in range(20)
    ],
}

WORK: dict[str, list[Do]] = {
    "overlapping pages": [read(n, n + 20) for n in range(0, 160, 10)],
    "many files": [read(n, n + 9, f"src/part_{n}.py") for n in range(0, 150, 10)],
    "a process that runs": [
        Do("write_stdin", {"session": 7, "chars": "", "yield_time_ms": 9000}, text, False)
        for text in ["Process running with session ID 7\nOutput:\n"] * 20
    ],
    "a job that is still running": [
        Do("wait_job", {"job": "j1"}, "timeout: still running", False) for _ in range(20)
    ],
    "five different searches": [
        run(f"rg {word}", "[exit 1]", is_error=True)
        for word in ("kafka", "celery", "rabbit", "redis", "queue")
    ],
    "edits that bring the failures down": [
        step
        for n in range(9)
        for step in (edit(f"x = {n}", f"y = f({n})"), run("pytest -q", f"{9 - n} failed"))
    ],
    "far more rounds than maxTurns": [run(f"step {n}", f"made part {n}") for n in range(70)],
}


class Prepared:
    """A call with a prepared outcome."""

    def __init__(self, outcome: ToolOutcome) -> None:
        self.action = Action("read", "use", "it")
        self._outcome = outcome

    async def run(self, tell: Tell) -> ToolOutcome:
        return self._outcome


class PreparedTool:
    """A tool whose calls have the outcomes of a list, in order."""

    def __init__(self, name: str, calls: list[Do]) -> None:
        self.spec = ToolSpec(name, "Does it.", {"type": "object"})
        self._calls = iter([call for call in calls if call.name == name])

    async def plan(self, args: Mapping[str, Any]) -> Prepared:
        call = next(self._calls)
        assert call.args == args
        return Prepared(
            ToolOutcome(call.result or "", is_error=call.is_error, changed=call.changed)
        )


async def play(
    open_workspace: OpenWorkspace, home: Path, calls: list[Do]
) -> tuple[TurnFailed | TurnFinished, int]:
    """Let a model make these calls, one a round; return how the turn ended and after how many."""
    script: list[list[Step]] = [
        [ToolCallArrived(ToolCallPart(f"c{number}", call.name, call.args))]
        for number, call in enumerate(calls)
    ]
    settings = Settings(loop_detection=LoopDetection(nudge=False))
    # Nothing is cut to fit: what the model read is what was prepared.
    model = Scripted([*script, [TextDelta("Done.")]], window=200_000)
    workspace = await open_workspace(model, settings)
    conversation = await workspace.begin()

    async def toolkit(_session: HeldSession, _goals: ConversationGoals) -> ToolKit:
        tools = tuple(PreparedTool(name, calls) for name in {call.name for call in calls})
        policy = Policy(settings.tools, home, Grants(None, home))
        return ToolKit(tools, policy, Redactor(), None, "")

    conversation.tools.make_toolkit = toolkit
    conversation.tools.can_ask = False
    events = [event async for event in conversation.send("Go")]
    await conversation.close()
    last = events[-1]
    assert isinstance(last, TurnFailed | TurnFinished)
    return last, sum(isinstance(event, ToolFinished) for event in events)


@pytest.mark.parametrize("rounds", LOOPS.values(), ids=LOOPS)
async def test_a_loop_ends_the_turn_in_time(
    open_workspace: OpenWorkspace, home: Path, rounds: list[list[Do]]
) -> None:
    calls = [call for each in rounds for call in each]
    last, made = await play(open_workspace, home, calls)
    assert isinstance(last, TurnFailed)
    assert last.kind == "StoppedByLoop"
    assert made <= IN_TIME * len(rounds[0])


@pytest.mark.parametrize("calls", WORK.values(), ids=WORK)
async def test_work_is_done_to_its_end(
    open_workspace: OpenWorkspace, home: Path, calls: list[Do]
) -> None:
    last, made = await play(open_workspace, home, calls)
    assert isinstance(last, TurnFinished), last
    assert made == len(calls)
