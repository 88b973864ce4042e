"""`python -m bench.gates [G1 …]`: runs the gates in full and prints one table: wanted and got.

A gate is a number of tests, of benchmarks or of both; it counts nothing by itself.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from xml.etree import ElementTree

from bench.scratch_home import PYTHON, REPOSITORY

MOST_SECONDS = 2 * 60 * 60
"""For the tests or a benchmark of one gate; then it has failed."""
WORKERS = "2"
FAILED = ("FAILED ", "ERROR ")


class Measure(NamedTuple):
    """A benchmark, and how the promises of it that count begin."""

    benchmark: str
    promises: tuple[str, ...]


class Gate(NamedTuple):
    """What is tried, the figure that is wanted, and what tries it."""

    what: str
    wanted: str
    tests: tuple[str, ...] = ()
    measures: tuple[Measure, ...] = ()


class Result(NamedTuple):
    """What was got, and whether that is what was wanted."""

    got: str
    ok: bool


GATES: Mapping[str, Gate] = {
    "G1": Gate(
        "random kill -9 of the recorder",
        "1,000: 0 acknowledged lost",
        ("tests/end_to_end/test_crash_of_the_command.py",),
    ),
    "G2": Gate(
        "kill at every system call",
        "0 unreadable, 0 acknowledged lost",
        (
            "tests/end_to_end/test_crash_at_every_call.py -k killed_at_any_call or a_kill_at_any",
            "tests/end_to_end/test_snapshot_crashes.py",
            "tests/end_to_end/test_restore_crashes.py",
        ),
    ),
    "G3": Gate(
        "ENOSPC, EIO, EROFS, short write at the Nth call",
        "all readable, told, 0 acknowledged lost",
        (
            "tests/end_to_end/test_crash_at_every_call.py -k call_that_fails or a_call_fails",
            "tests/end_to_end/test_disk_full.py",
        ),
    ),
    "G4": Gate(
        "simulated power loss",
        "200 cuts: 0 lost",
        ("tests/end_to_end -k power_was_cut or power_cut_could_take",),
    ),
    "G5": Gate(
        "torn, NUL, garbage, swapped lines",
        "10,000: no crash, every loss told",
        ("tests/storage/sessions/test_journal_mutations.py",),
    ),
    "G6": Gate(
        "bytes written for 10,000 messages",
        "≤ 3 × content",
        measures=(Measure("recording", ("bytes given to write()",)),),
    ),
    "G7": Gate(
        "save latency, gap of the loop",
        "p99 ≤ 20 ms, ≤ 50 ms",
        measures=(Measure("recording", ("saving a record, p99", "the loop meanwhile")),),
    ),
    "G8": Gate(
        "1 GB session",
        "first screen ≤ 2 s, ≤ 300 MB",
        measures=(Measure("huge_session", ("first screen", "memory")),),
    ),
    "G9": Gate(
        "10,000 sessions, with and without index",
        "first screen as with 10",
        measures=(Measure("many_sessions", ("first screen",)),),
    ),
    "G10": Gate(
        "two processes, one session",
        "2,000 records, 0 mixed",
        ("tests/end_to_end/test_two_processes.py",),
    ),
    "G11": Gate(
        "shell suite",
        "0 harmful approved, ≥ 95 % of reading unasked",
        ("tests/services/safety -k not encryption and not trust and not environment",),
    ),
    "G12": Gate(
        "path suite, race of links",
        "0 escapes in 40 and 10,000 (≥ 1,000 collide)",
        ("tests/tools/test_paths.py", "tests/tools/test_swapped_links.py"),
    ),
    "G13": Gate(
        "terminal filter on the pty",
        "0 forbidden bytes",
        ("tests/end_to_end/test_terminal_filter.py",),
    ),
    "G14": Gate(
        "markup fuzz",
        "10,000: 0 exceptions, spans, actions",
        ("tests/tui/test_foreign_text.py",),
    ),
    "G15": Gate(
        "environment of children",
        "0 extra names in 1,000",
        (
            "tests/services/safety/test_environment.py",
            "tests/end_to_end/test_environment_of_children.py",
        ),
    ),
    "G16": Gate(
        "secrets",
        "structured 100 %, contextual ≥ 95 %, false ≤ 2 %, 1 MB ≤ 1 s, every cut",
        ("tests/services/redaction", "tests/end_to_end/test_secrets_on_the_screen.py"),
        (Measure("redaction", ("1 MB of the worst",)),),
    ),
    "G17": Gate("loops", "≥ 0.95 in time, ≤ 0.03 false", ("tests/engine/loops",)),
    "G18": Gate(
        "compaction invariants",
        "1,000 histories: 0 violations",
        (
            "tests/engine/compression/test_invariants.py",
            "tests/engine/compression/test_invariants_at_the_edges.py",
        ),
    ),
    "G19": Gate(
        "recall after compaction to 35 %, planted facts",
        "user 100 %, in records ≥ 90 %, three times ≥ 85 %",
        ("tests/engine/compression/test_planted_facts.py",),
    ),
    "G20": Gate(
        "sandbox label",
        "= what a canary could do, network included",
        ("tests/services/sandbox",),
    ),
}
"""As in the specification."""


def main() -> int:
    """Run the gates and print the table; 1 if one of them failed."""
    parser = argparse.ArgumentParser(prog="python -m bench.gates", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="GATE", help=", ".join(GATES))
    help_ = "do only a part of the runs, such as 0.1: for trying the gates themselves"
    parser.add_argument("--share", type=float, default=1, help=help_)
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in GATES]
    if unknown:
        parser.error(f"no gate {unknown[0]}; there are: {', '.join(GATES)}")
    names: list[str] = arguments.names or list(GATES)
    results: dict[str, Result] = {}
    for name in names:
        start = time.perf_counter()
        results[name] = _run(GATES[name], arguments.share)
        seconds = time.perf_counter() - start
        print(f"{name}: {results[name].got} ({seconds:.0f} s)", flush=True)
    print(f"\n{table(results)}")
    if arguments.share != 1:
        print(f"With {arguments.share:g} of the runs only.")
    return 0 if all(result.ok for result in results.values()) else 1


def table(results: Mapping[str, Result]) -> str:
    """The gates that were run, one a line: gate, wanted, got, ok or NO."""
    rows = [("gate", "", "wanted", "got", "")]
    rows += [
        (name, GATES[name].what, GATES[name].wanted, result.got, "ok" if result.ok else "NO")
        for name, result in results.items()
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
    return "\n".join(lines)


def told(reports: Iterable[ElementTree.Element]) -> list[str]:
    """What the tests counted, added up: "1,000 kills", "95 of 100 contextual (95.0 %)"."""
    counts: dict[str, int] = {}
    shares: dict[str, list[int]] = {}
    for each in (each for report in reports for each in report.iter("property")):
        name, value = each.get("name", ""), each.get("value", "")
        part, slash, whole = value.partition("/")
        if slash:
            share = shares.setdefault(name, [0, 0])
            share[0] += int(part)
            share[1] += int(whole)
        else:
            counts[name] = counts.get(name, 0) + int(part)
    return [f"{count:,} {name}" for name, count in counts.items()] + [
        f"{part:,} of {whole:,} {name} ({part / max(whole, 1):.1%})"
        for name, (part, whole) in shares.items()
    ]


def _run(gate: Gate, share: float) -> Result:
    results = [_measured(measure) for measure in gate.measures]
    if gate.tests:
        results.append(_tested(gate.tests, share))
    return Result(", ".join(each.got for each in results), all(each.ok for each in results))


def _tested(tests: Sequence[str], share: float) -> Result:
    """Run tests in full and add up what they told."""
    with TemporaryDirectory() as folder:
        codes: list[int] = []
        for number, line in enumerate(tests):
            path, _, words = line.partition(" -k ")
            only = ("-k", words) if words else ()
            file = f"--junit-xml={folder}/{number}.xml"
            # Each test may take what all may: in full it runs far longer than in the suite.
            patience = f"--timeout={MOST_SECONDS}"
            command = (PYTHON, "-m", "pytest", "-q", "-n", WORKERS, patience, file, path, *only)
            done = _ended(command, {**os.environ, "GATE_SHARE": str(share)})
            codes.append(done.returncode)
            # Which ones, before the table: it has no room for them.
            failed = (line for line in done.stdout.splitlines() if line.startswith(FAILED))
            for line in failed:
                print(line, flush=True)
        reports = [ElementTree.parse(file).getroot() for file in sorted(Path(folder).glob("*.xml"))]
        return _summed(reports, is_good=not any(codes))


def _summed(reports: Sequence[ElementTree.Element], *, is_good: bool) -> Result:
    suites = [suite for report in reports for suite in report.iter("testsuite")]

    def sum_of(*names: str) -> int:
        return sum(int(suite.get(name, 0)) for suite in suites for name in names)

    failed, skipped = sum_of("failures", "errors"), sum_of("skipped")
    words = told(reports)
    words.append(f"{sum_of('tests') - failed - skipped:,} of {sum_of('tests'):,} tests")
    words += [f"{skipped} skipped"] if skipped else []
    return Result(", ".join(words), is_good and sum_of("tests") > skipped)


def _measured(measure: Measure) -> Result:
    """Run a benchmark and look at some of its promises."""
    command = (PYTHON, "-m", "bench", measure.benchmark, "--json")
    done = _ended(command, dict(os.environ))
    if done.returncode:
        return Result(f"the benchmark {measure.benchmark} failed", ok=False)
    rows = [row for row in json.loads(done.stdout) if row["what"].startswith(measure.promises)]
    words = (f"{row['what']}: {row['ratio']:.2f} × {row['reference']}" for row in rows)
    return Result("; ".join(words), ok=bool(rows) and all(row["ok"] for row in rows))


def _ended(
    command: Sequence[str], environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, its words beside the table; one that takes too long has failed."""
    try:
        return subprocess.run(
            command,
            cwd=REPOSITORY,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
            timeout=MOST_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "")


if __name__ == "__main__":
    sys.exit(main())
