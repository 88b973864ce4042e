"""What the detector says, when, and what the user's answers do to it."""

from __future__ import annotations

import tracemalloc

import pytest

from ollm_tui.core.intake import UNSAFE
from ollm_tui.engine.loops.detector import LoopDetector
from ollm_tui.engine.loops.evidence import told_to_the_model
from ollm_tui.settings.schema import LoopDetection
from tests.engine.loops.trace import Do, Event, Say, Stream, User, found_in, play

LINES = "\n".join(f"src/a.py:{n}: retry" for n in range(12))
UNRESOLVED = "could not resolve this host"
SEARCH = Do("search_text", {"pattern": "retry", "path": "src/"}, LINES)


@pytest.fixture
def detector() -> LoopDetector:
    return LoopDetector(LoopDetection())


@pytest.mark.parametrize(
    ("events", "evidence"),
    [
        (
            [SEARCH] * 3,
            'called search_text("retry", "src/") 3 times and got the same 12 lines each time',
        ),
        ([Do("ls", {})] * 3, "called ls() 3 times in a row"),
        ([Do("ls", {}, "")] * 3, "called ls() 3 times and got nothing each time"),
        (
            [Do("cat", {"path": "x"}, "no such file", None, True)] * 3,
            'called cat("x") 3 times and got the same error, "no such file", each time',
        ),
        (
            [Do("a", {"n": 1}, "x"), Do("b", {"n": None, "on": True}, "y")] * 3,
            "called a(1) and b(null, True) in turn, 3 times over with the same results",
        ),
        (
            [Do("grep", {"for": word}, LINES) for word in "abc"],
            "called grep 3 times with different arguments and got the same 12 lines each time",
        ),
        ([Say("I will look.")] * 3, 'said almost the same 3 times: "I will look."'),
        (
            [Stream("I will fix this now. " * 30)],
            'wrote "I will fix this now." 9 times in one reply',
        ),
        (
            [Do("t", {"n": n}, f"is {n}") for n in range(501)],
            "worked 501 rounds since you last wrote",
        ),
        (
            [Do("edit", {"path": "a.py", "old": old}, f"{old}?", None, True) for old in "abcde"],
            'called edit on "a.py" 5 times and it failed each time',
        ),
        (
            [Do("exec", {"code": "make"}, f"Error in {word}", None, True) for word in "abcde"],
            'called exec("make") 5 times and it failed each time',
        ),
        (
            [
                Do("exec", {"code": f"curl {flag} x.test"}, f"{flag}\n{UNRESOLVED}", None, True)
                for flag in ("-s", "-v", "-L", "-k", "-sS", "-i")
            ],
            f'called exec 6 times and it failed each time with "{UNRESOLVED}"',
        ),
    ],
)
def test_evidence_is_a_sentence_for_people(events: list[Event], evidence: str) -> None:
    found = found_in(events)
    assert found
    assert found.evidence == evidence


def test_evidence_shows_foreign_text_short_and_without_controls() -> None:
    hostile = "\x1b]52;c;aGk=\x07\u202e" + "x\n" * 100_000
    turns: list[list[Event]] = [
        [Do(hostile, {"a": hostile, "b": [hostile], "c": hostile, "d": hostile}, "r")] * 3,
        [Do("t", {"a": "b"}, hostile, None, True)] * 3,
        [Say(hostile)] * 3,
        [Do(hostile, {"a": hostile}, str(n % 5)) for n in range(5)] * 3,
        [Stream(f"{hostile[:60]} and on it goes. " * 50)],
    ]
    for events in turns:
        found = found_in(events)
        assert found
        assert not UNSAFE.search(found.evidence)
        assert "\n" not in found.evidence
        assert len(found.evidence) <= 400


def test_a_change_never_made_before_clears_the_counters(detector: LoopDetector) -> None:
    edit = Do("edit_file", {"path": "a", "new": "b"}, "edited", True)
    assert play(detector, [SEARCH, SEARCH, edit, SEARCH, SEARCH]) is None
    assert play(detector, [SEARCH])


def test_a_change_made_before_clears_nothing(detector: LoopDetector) -> None:
    edit = Do("edit_file", {"path": "a", "new": "b"}, "edited", True)
    found = play(detector, [edit, SEARCH] * 3)
    assert found
    assert (found.type, found.count) == ("repeated-cycle", 3)


def test_thirty_unchanged_polls_are_waiting_and_the_next_is_a_loop(detector: LoopDetector) -> None:
    poll = Do("getJobOutput", {"jobId": "job-1"}, '{"status":"running","stdout":""}')
    assert play(detector, [poll] * 30) is None
    found = play(detector, [poll])
    assert found
    assert found.count == 31


def test_parallel_calls_are_told_apart_by_their_ids(detector: LoopDetector) -> None:
    for number in range(6):
        for letter in "ab":
            assert detector.tool_called("read", {"path": letter}, f"{letter}{number}") is None
        for letter in "ba":
            assert detector.tool_answered(f"{letter}{number}", f"{letter} at {number}") is None


def test_an_answer_nobody_asked_for_is_ignored(detector: LoopDetector) -> None:
    assert detector.tool_answered("call-9", "text") is None


def test_after_a_word_of_the_user_everything_counts_anew(detector: LoopDetector) -> None:
    assert play(detector, [SEARCH, SEARCH, User("go on"), SEARCH, SEARCH]) is None
    assert play(detector, [SEARCH])
    detector.user_spoke("again")
    assert detector.paused is None
    assert play(detector, [SEARCH, SEARCH]) is None


def test_a_loop_let_go_on_once_pauses_at_the_next_repetition(detector: LoopDetector) -> None:
    assert play(detector, [SEARCH] * 3)
    detector.go_on_once()
    found = play(detector, [SEARCH])
    assert found
    assert found.count == 4


def test_a_long_turn_let_go_on_has_as_many_rounds_again() -> None:
    detector = LoopDetector(LoopDetection(max_rounds=10))
    work: list[Event] = [Do("t", {"n": n}, f"is {n}") for n in range(100)]
    assert play(detector, work[:10]) is None
    assert play(detector, work[10:11])
    detector.go_on_once()
    assert play(detector, work[11:20]) is None
    assert play(detector, work[20:21])


def test_only_rounds_that_bring_nothing_new_count_for_max_turns() -> None:
    detector = LoopDetector(LoopDetection(max_turns=10, repeat_threshold=100))
    work: list[Event] = [Do("t", {"n": n}, f"is {n}") for n in range(100)]
    again: list[Event] = [Do("t", {"n": n}, f"is {n}") for n in range(11)]
    news: list[Event] = [Do("u", {"n": n}, f"is {n}") for n in range(100)]
    assert play(detector, [*work, *again[:9], *news, again[9]]) is None
    found = play(detector, again[10:])
    assert found
    assert (found.type, found.count) == ("turn-limit", 11)
    assert found.evidence == "worked 11 rounds without anything new since you last wrote"


def test_in_strict_mode_all_rounds_count_for_max_turns() -> None:
    detector = LoopDetector(LoopDetection(max_turns=10, strict=True))
    work: list[Event] = [Do("t", {"n": n}, f"is {n}") for n in range(11)]
    assert play(detector, work[:10]) is None
    found = play(detector, work[10:])
    assert found
    assert found.evidence == "worked 11 rounds since you last wrote"


def test_an_allowed_tool_may_repeat_for_the_whole_session(detector: LoopDetector) -> None:
    found = play(detector, [SEARCH] * 3)
    assert found
    assert found.tool
    detector.allow(found.tool)
    detector.user_spoke("and on")
    assert play(detector, [SEARCH] * 20) is None
    assert play(detector, [Do("ls", {}, "a")] * 3)


def test_an_allowed_pattern_allows_nothing_else(detector: LoopDetector) -> None:
    found = play(detector, [SEARCH] * 3)
    assert found
    detector.allow(found.pattern)
    assert play(detector, [SEARCH] * 20) is None
    other = Do("search_text", {"pattern": "backoff", "path": "src/"}, "b\n" * 9)
    assert play(detector, [other] * 3)


def test_an_allowed_cycle_is_allowed_wherever_it_begins(detector: LoopDetector) -> None:
    one, two = Do("a", {}, "x"), Do("b", {}, "y")
    found = play(detector, [one, two] * 3)
    assert found
    detector.allow(found.pattern)
    detector.user_spoke("go on")
    assert play(detector, [two, one] * 3) is None


def test_the_model_is_told_once_before_the_user_is_asked(detector: LoopDetector) -> None:
    first = play(detector, [SEARCH] * 3)
    assert first
    assert first.nudge
    told = told_to_the_model(first)
    assert told.startswith("You called search_text again and again (3)")
    assert "retry" not in told, "nothing is quoted that a tool may have said"
    detector.go_on_once()
    second = play(detector, [SEARCH])
    assert second
    assert not second.nudge


def test_without_the_setting_the_user_is_asked_at_once() -> None:
    found = play(LoopDetector(LoopDetection(nudge=False)), [SEARCH] * 3)
    assert found
    assert not found.nudge


def test_strict_mode_counts_calls_whatever_they_answer() -> None:
    events: list[Event] = [Do("next", {}, f"item {n}") for n in range(3)]
    assert found_in(events) is None
    found = play(LoopDetector(LoopDetection(strict=True)), events)
    assert found
    assert found.type == "repeated-tool"


def test_switched_off_it_says_nothing() -> None:
    detector = LoopDetector(LoopDetection(enabled=False, max_turns=1))
    assert play(detector, [SEARCH] * 9) is None
    assert play(detector, [Say("x")] * 9) is None
    assert play(detector, [Stream("over and over " * 90)]) is None


def test_what_new_results_bring_excuses_the_same_words(detector: LoopDetector) -> None:
    work: list[Event] = []
    for number in range(9):
        work += [Say("Next one."), Do("read_file", {"path": f"{number}"}, f"text {number}")]
    assert play(detector, work) is None


@pytest.mark.parametrize("changed", [True, False])
def test_a_turn_without_end_takes_no_more_memory_than_a_long_one(changed: bool) -> None:
    detector = LoopDetector(LoopDetection())

    def work(first: int, last: int) -> int:
        for number in range(first, last):
            detector.tool_called(f"tool{number}", {"n": number})
            lines = "\n".join(f"line {line} of {number}" for line in range(8))
            detector.tool_answered(f"tool{number}", lines, changed_state=changed)
            detector.tool_called("never answered", {"n": number})
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        long = work(0, 2_000)
        assert work(2_000, 4_000) < 1.1 * long
    finally:
        tracemalloc.stop()
    assert detector.paused is None
