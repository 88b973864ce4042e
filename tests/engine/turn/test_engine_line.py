"""The line before a model server: fair, but what the user looks at goes first."""

from __future__ import annotations

from ollm_tui.core.counts import ordinal
from ollm_tui.core.events import Queued
from ollm_tui.engine.turn.engine_line import Asker, CacheLost, EngineLine, EngineLines
from ollm_tui.settings.schema import ProviderSettings, Settings


def asker(name: str) -> Asker:
    return Asker(name, lambda: name.capitalize())


def test_whoever_came_first_is_answered_first() -> None:
    line = EngineLine(1, lambda: None)
    one, two, three = (line.join(asker(name)) for name in ("one", "two", "three"))
    assert one.is_answered and not two.is_answered
    assert line.place(two) == Queued(2, "One") and line.place(three) == Queued(3, "Two")
    line.leave(one)
    assert two.is_answered and line.place(three) == Queued(2, "Two")


def test_what_the_user_looks_at_goes_before_others_that_wait() -> None:
    line = EngineLine(1, lambda: "three")
    one, two, three = (line.join(asker(name)) for name in ("one", "two", "three"))
    assert line.place(three) == Queued(2, "One") and line.place(two) == Queued(3, "Three")
    line.leave(one)
    assert three.is_answered and not two.is_answered


def test_one_that_gives_up_leaves_its_place_to_the_next() -> None:
    line = EngineLine(2, lambda: None)
    requests = [line.join(asker(str(number))) for number in range(4)]
    assert [each.is_answered for each in requests] == [True, True, False, False]
    line.leave(requests[2])
    assert line.place(requests[3]).place == 3
    line.leave(requests[0])
    assert requests[3].is_answered


def test_a_comparison_is_named_by_its_session_and_within_it_by_the_model() -> None:
    line = EngineLine(1, lambda: None)
    line.join(Asker("one", lambda: "One", "qwen3:8b"))
    beside = line.join(Asker("one", lambda: "One", "gemma3"))
    assert line.place(beside) == Queued(2, "qwen3:8b")
    line.leave(beside)
    assert line.place(line.join(asker("two"))) == Queued(2, "One")


async def test_going_back_and_forth_on_one_slot_is_told_with_who_lost_what() -> None:
    lines, told = EngineLines(), list[CacheLost]()
    lines.lost.subscribe(told.append)
    for name in ("one", "one", "two", "one", "two"):
        with lines.place("embedded", asker(name)) as place:
            assert [queued async for queued in place.changes()] == []
    assert told == [CacheLost("one", "two"), CacheLost("two", "one")]


def test_a_server_here_answers_one_at_a_time_unless_the_settings_say_more() -> None:
    more = {"ollama": ProviderSettings(parallel=3), "embedded": ProviderSettings(parallel=3)}
    assert Settings().answers_at_once("ollama") == Settings().answers_at_once("embedded") == 1
    assert Settings().answers_at_once("anthropic") == 4
    assert Settings(providers=more).answers_at_once("ollama") == 3
    assert Settings(providers=more).answers_at_once("embedded") == 1  # it has one slot


def test_places_have_names() -> None:
    named = [ordinal(number) for number in (1, 2, 3, 4, 11, 12, 13, 21, 112)]
    assert named == ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "112th"]
