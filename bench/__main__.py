"""`python -m bench [NAME …] [--json]`: run benchmarks, then print one table of all promises."""

from __future__ import annotations

import argparse
import contextlib
import json
import signal
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from types import FrameType

from bench import (
    browser,
    compression,
    context_growth,
    counting,
    discovery,
    first_answer,
    huge_session,
    jobs,
    listing,
    loading,
    loop_detection,
    many_sessions,
    markdown,
    questions,
    recording,
    redaction,
    sandbox,
    screen_callbacks,
    screen_codex,
    screen_compression,
    screen_conversations,
    screen_idle,
    screen_keys,
    screen_memory,
    screen_opening,
    screen_start,
    screen_streaming,
    search,
    snapshots,
    startup,
    sync,
    tool_calls,
)
from bench.measure import Outcome, table

BENCHMARKS: Mapping[str, Callable[[], list[Outcome]]] = {
    "startup": startup.main,
    "listing": listing.main,
    "sync": sync.main,
    "many_sessions": many_sessions.main,
    "recording": recording.main,
    "questions": questions.main,
    "loading": loading.main,
    "snapshots": snapshots.main,
    "browser": browser.main,
    "first_answer": first_answer.main,
    "redaction": redaction.main,
    "context_growth": context_growth.main,
    "counting": counting.main,
    "compression": compression.main,
    "jobs": jobs.main,
    "sandbox": sandbox.main,
    "loop_detection": loop_detection.main,
    "tool_calls": tool_calls.main,
    "markdown": markdown.main,
    "discovery": discovery.main,
    "search": search.main,
    "screen_start": screen_start.main,
    "screen_opening": screen_opening.main,
    "huge_session": huge_session.main,
    "screen_streaming": screen_streaming.main,
    "screen_keys": screen_keys.main,
    "screen_callbacks": screen_callbacks.main,
    "screen_compression": screen_compression.main,
    "screen_conversations": screen_conversations.main,
    "screen_codex": screen_codex.main,
    "screen_idle": screen_idle.main,
    "screen_memory": screen_memory.main,
}


def main() -> None:
    """Measure and print. A promise that is over its limit is shown, not failed."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--json", action="store_true", help="the table as JSON on stdout")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"no benchmark {unknown[0]}; there are: {', '.join(BENCHMARKS)}")
    signal.signal(signal.SIGTERM, _end)
    with contextlib.redirect_stdout(sys.stderr if arguments.json else sys.stdout):
        outcomes = run(arguments.names or BENCHMARKS)
    print(as_json(outcomes) if arguments.json else f"\n{table(outcomes)}")


def run(names: Iterable[str]) -> list[Outcome]:
    """Run benchmarks one after the other."""
    outcomes: list[Outcome] = []
    for name in names:
        start = time.perf_counter()
        print(f"\n{name}", flush=True)
        outcomes += BENCHMARKS[name]()
        print(f"({time.perf_counter() - start:.0f} s)", flush=True)
    return outcomes


def as_json(outcomes: Iterable[Outcome]) -> str:
    """The table for programs."""
    rows = [
        {**outcome.promise._asdict(), "ratio": round(outcome.ratio, 3), "ok": outcome.kept}
        for outcome in outcomes
    ]
    return json.dumps(rows, indent=2, ensure_ascii=False)


def _end(number: int, _frame: FrameType | None) -> None:
    """Told to end, it still removes its temporary homes."""
    sys.exit(128 + number)


if __name__ == "__main__":
    main()
