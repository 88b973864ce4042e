"""Loop detection: what one event of a turn takes, and that a long turn makes it no dearer."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import mean
from typing import Any

from bench.measure import Outcome, Promise, interleaved, milliseconds
from ollm_tui.engine.loops.detector import LoopDetector
from ollm_tui.settings.schema import LoopDetection

EARLY, LATE = 100, 10_000
WINDOW = 100
"""Events around the early and the late one that are measured."""
ROUNDS = 3
EVENT = Promise(f"an event at {LATE:,} events, CPU", "one millisecond", 1)
FLAT = Promise(f"an event at {LATE:,} events, CPU", f"at {EARLY}", 1.3)
WORST = Promise("20,000 characters of the worst result, CPU", "one millisecond", 3)
PROMISES = (EVENT, FLAT, WORST)
HOSTILE = (" 1 ", "a1", "id: ", "12:34 ", "0.1s ", "a1b2c3d4 ", "#12 ", "x=1,", "- a | b\n", "字 ")


def main() -> list[Outcome]:
    """Feed a turn that never ends, early and late in it, beside a dict that grows."""
    runs = interleaved({"ours": _turn, "dict": _dict}, ROUNDS)
    early, late = (min(run[at] for run in runs["ours"]) for at in (0, 1))
    plain = min(run[1] for run in runs["dict"])
    print(
        f"an event: {early * 1e6:.0f} µs at {EARLY}, {late * 1e6:.0f} µs at {LATE:,}; "
        f"appending to a dict {plain * 1e6:.2f} µs, {late / plain:.0f} × that"
    )
    costs = {unit: min(_cost_of_result(unit) for _ in range(ROUNDS)) for unit in HOSTILE}
    worst = max(costs, key=lambda unit: costs[unit])
    print(f"the worst of {len(HOSTILE)} results repeats {worst!r}: {milliseconds(costs[worst])}")
    return [
        Outcome(EVENT, late / 1e-3),
        Outcome(FLAT, late / early),
        Outcome(WORST, costs[worst] / 1e-3),
    ]


def _turn() -> tuple[float, float]:
    """The mean seconds of an event, early and late in a turn of all kinds of them."""
    settings = LoopDetection(max_turns=LATE * 2, repeat_threshold=1000)
    detector = LoopDetector(settings)
    return _early_and_late(lambda number: _tell(detector, number))


def _dict() -> tuple[float, float]:
    """The same for remembering each event and nothing else."""
    remembered: dict[int, Any] = {}

    def remember(number: int) -> None:
        remembered[number] = ("read_file", f"src/{number}.py")

    return _early_and_late(remember)


def _early_and_late(tell: Callable[[int], None]) -> tuple[float, float]:
    seconds: list[float] = []
    for number in range(LATE + WINDOW):
        start = time.process_time()
        tell(number)
        seconds.append(time.process_time() - start)
    return mean(seconds[EARLY : EARLY + WINDOW]), mean(seconds[LATE : LATE + WINDOW])


def _tell(detector: LoopDetector, number: int) -> None:
    """One event: a page of a file, a search, a command, an edit or words, each new."""
    match number % 5:
        case 0:
            lines = "\n".join(f"{number + n}\tvalue_{n} = compute({number})" for n in range(100))
            _call(detector, "read_file", {"path": "a.py", "offset": number}, lines)
        case 1:
            args = {
                "pattern": f"name{number}",
                "paths": ["src", "tests"],
                "options": {"case": True},
            }
            _call(detector, "search_text", args, f"src/a.py:{number}: name{number}\n" * 20)
        case 2:
            result = f"FAILED tests/test_{number % 7}.py\n1 failed, {number} passed in 0.41s"
            _call(detector, "exec", {"code": "pytest -q"}, result)
        case 3:
            args = {"path": f"src/{number}.py", "old": "a" * 500, "new": "b" * 500}
            _call(detector, "edit_file", args, "edited", changed=number % 500 == 3)
        case _:
            detector.round()
            detector.delta(f"Now I look at part {number} of the work, which is another one.\n")
            detector.output(f"Part {number}: what was found there is told here in a few words.")


def _call(
    detector: LoopDetector, name: str, args: dict[str, Any], result: str, *, changed: bool = False
) -> None:
    detector.tool_called(name, args)
    detector.tool_answered(name, result, changed_state=changed)


def _cost_of_result(unit: str) -> float:
    detector = LoopDetector(LoopDetection())
    text = (unit * 20_000)[:20_000]
    start = time.process_time()
    _call(detector, "t", {"a": 1}, text)
    return time.process_time() - start
