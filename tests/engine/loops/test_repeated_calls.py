"""Change upon change that does not help is a loop; work on many files and new answers are none."""

from __future__ import annotations

from tests.engine.loops.trace import Do, Event, found_in

FAILURE = "FAILED test_total - assert 10 == 12\n1 failed, 14 passed"
CHECK = Do("exec", {"code": "pytest -q"}, FAILURE, False)


def edit(number: int, path: str = "cart.py") -> Do:
    args = {"path": path, "old": f"k = {number}", "new": f"k = {number + 1}"}
    return Do("edit_file", args, "1 replacement", True)


def after_each(edits: list[Do], *then: Event) -> list[Event]:
    return [event for each in edits for event in (each, *then)]


def test_the_same_failure_after_every_change_of_one_file_is_found() -> None:
    found = found_in(after_each([edit(n) for n in range(12)], CHECK))
    assert found and found.type == "repeated-tool"
    assert found.count == 10
    assert found.evidence == (
        'changed something 10 times, and exec("pytest -q") failed in the same way after each change'
    )


def test_reading_the_changed_file_and_other_checks_between_do_not_hide_it() -> None:
    events: list[Event] = []
    for number in range(12):
        events += [edit(number), Do("read_file", {"path": "cart.py"}, f"k = {number + 1}")]
        events += [CHECK, Do("exec", {"code": "ruff check"}, "All checks passed!", False)]
    assert found_in(events)


def test_nine_ideas_are_allowed() -> None:
    assert not found_in(after_each([edit(n) for n in range(9)], CHECK))


def test_success_may_come_again_and_again() -> None:
    passed = Do("exec", {"code": "pytest -q"}, "15 passed in 0.31s", False)
    assert not found_in(after_each([edit(n) for n in range(20)], passed))


def test_changes_of_many_files_are_work() -> None:
    edits = [edit(0, f"src/{number}.py") for number in range(20)]
    assert not found_in(after_each(edits, CHECK))


def test_another_failure_begins_anew() -> None:
    other = Do("exec", {"code": "pytest -q"}, "FAILED test_sum - assert 3 == 4\n1 failed", False)
    first = after_each([edit(n) for n in range(8)], CHECK)
    then = after_each([edit(n) for n in range(8, 16)], other)
    assert not found_in([*first, *then])


def test_something_new_from_elsewhere_begins_anew() -> None:
    events: list[Event] = []
    for number in range(16):
        log = Do("exec", {"code": "tail make.log"}, f"undeclared name_{number * 7}", False)
        events += [edit(number), CHECK, log]
    assert not found_in(events)


def run(code: str, result: str) -> Do:
    return Do("exec", {"code": code}, result)


def test_a_number_that_names_a_process_is_nothing_new() -> None:
    def started(number: int) -> Do:
        return run("./start.sh", f"worker {number} up\nworker {number} gone")

    assert found_in([started(8000 + 31 * n) for n in range(7)])
    sizes = [run("./start.sh", f"{8000 + 31 * n} rows read") for n in range(7)]
    assert not found_in([*sizes])


def test_pauses_that_grow_are_patience_for_a_while() -> None:
    polls: list[Event] = [run(f"sleep {5 * n}; tail -n 1 a.log", "listening") for n in range(1, 9)]
    assert not found_in(polls[:7])
    assert found_in(polls)


def test_the_same_lines_found_by_another_program_are_nothing_new() -> None:
    searches = ("grep -rn load src", "rg load src", "ag load src", "grep -n load -r src/")
    lines = "src/a.py:12: def load(path):"
    assert found_in([run(code, lines) for code in (*searches, *searches)])
    others = ("grep -rn load src", "rg save src", "ag open lib", "grep -rn close src")
    assert not found_in([run(code, f"{lines} {n}") for n, code in enumerate((*others, *others))])


def test_the_same_places_are_one_find_however_the_search_is_spelled() -> None:
    lines = "src/a.py:12: def load(path):\nsrc/b.py:3: load(path)"
    searches = (
        "grep -rn 'def load' src",
        "rg --no-heading -n load",
        "git grep -n 'load(' -- '*.py'",
        "ag --nogroup 'lo[a]d' src lib",
        "find . -name '*.py' -exec grep -Hn load {} +",
        "python find_uses.py --name load",
    )
    found = found_in([run(code, lines) for code in searches])
    assert found and found.type == "repeated-tool"
    assert "with different arguments and got the same 2 lines" in found.evidence
    moved = [lines.replace("12", str(12 + n)) for n in range(len(searches))]
    pairs = zip(searches, moved, strict=True)
    assert not found_in([run(code, places) for code, places in pairs])


def test_the_same_short_words_of_different_commands_are_no_find() -> None:
    commands = ("make lint", "npm test", "cargo check", "go vet ./...", "tox -q", "ctest")
    assert not found_in([run(code, "a.py: fine") for code in commands])


def test_a_command_that_sleeps_and_looks_may_do_so_twenty_times() -> None:
    polls: list[Event] = [run("sleep 5; tail -n 1 a.log", "build: still running")] * 21
    assert not found_in(polls[:20])
    found = found_in(polls)
    assert found and found.count == 21
    grown: list[Event] = [
        run("sleep 5; tail -n 1 a.log", f"step {n} of 40: still running") for n in range(40)
    ]
    assert not found_in(grown)


NAMES = ("order", "invoice", "customer", "parser", "session", "shipment", "ledger", "basket")


def test_a_change_made_back_and_forth_with_the_same_outcome_is_found_at_the_third_time() -> None:
    there = Do("edit_file", {"path": "a.js", "old": "<", "new": "<="}, "1 replacement", True)
    back = Do("edit_file", {"path": "a.js", "old": "<=", "new": "<"}, "1 replacement", True)
    nine, ten = (Do("exec", {"code": "node t.js"}, f"got {n}", is_error=True) for n in (9, 10))
    flips: list[Event] = [there, ten, back, nine] * 3
    assert found_in(flips[:10])
    assert not found_in(flips[:8])


def test_a_change_made_back_and_forth_with_other_outcomes_is_none() -> None:
    there = Do("edit_file", {"path": "a.js", "old": "<", "new": "<="}, "1 replacement", True)
    back = Do("edit_file", {"path": "a.js", "old": "<=", "new": "<"}, "1 replacement", True)
    outcomes = [Do("exec", {"code": "node t.js"}, f"case {word}") for word in "abcdefgh"]
    flips: list[Event] = [
        event for n, end in enumerate(outcomes) for event in ((there, back)[n % 2], end)
    ]
    assert not found_in(flips)


def test_a_search_in_vain_is_the_same_whichever_tool_and_pattern_spells_it() -> None:
    names = ("a.sql", "**/a.sql", "*/a.sql", "./a.sql", "*a.sql")
    searches: list[Event] = [Do("find_files", {"pattern": name}, "(no files)") for name in names]
    searches.insert(2, run("find . -name a.sql", ""))
    assert found_in(searches)


def test_searches_in_vain_for_different_things_are_none() -> None:
    greps = [Do("exec", {"code": f"grep -rn {word} app"}, "", is_error=True) for word in NAMES]
    assert not found_in([*greps])


def test_a_file_that_is_not_there_is_the_same_by_its_absolute_path() -> None:
    places = (
        "conf/p.env",
        "/app/conf/p.env",
        "../app/conf/p.env",
        "conf//p.env",
        "/app/./conf/p.env",
    )
    reads = [Do("read_file", {"path": at}, f"no such file: {at}", is_error=True) for at in places]
    assert found_in([*reads])


def test_a_question_whether_something_is_running_is_no_news_of_it() -> None:
    words = "Cannot connect to the daemon at unix:///d.sock. Is the daemon running?"
    flags = ("", "-q", "--pull", "-t app", "--no-cache", "-f x", "-q --pull")
    builds = [
        Do("exec", {"code": f"docker build {each} ."}, words, is_error=True) for each in flags
    ]
    assert found_in([*builds])


def test_the_number_of_a_process_is_no_news_wherever_it_stands() -> None:
    starts: list[Event] = [
        Do(
            "exec",
            {"code": "python s.py & sleep 2; kill -0 $!"},
            f"[1] {pid}\nOSError: address in use\nkill: ({pid}) - No such process",
            is_error=True,
        )
        for pid in range(20411, 20417)
    ]
    assert found_in(starts)


def test_a_number_that_only_the_program_says_is_no_new_idea() -> None:
    edits = [
        Do(
            "edit_file",
            {"path": "e.py", "old": f"p('at {n}')", "new": f"p('at {n + 1}')"},
            "ok",
            True,
        )
        for n in range(7)
    ]
    assert found_in(after_each([*edits], CHECK))
