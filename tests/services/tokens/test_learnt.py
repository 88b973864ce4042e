"""What was learnt about models outlives the program, and damage costs only what was learnt."""

from __future__ import annotations

from pathlib import Path

import pytest

from ollm_tui.services.tokens.learnt import FILE, MOST_MODELS, Learnt, ModelMemory
from tests.approximately import approx

SOME = Learnt(request=7, per_message=5, read=120.0, plain=100.0, careful=150.0, agreed=True)


def test_a_sample_without_a_vocabulary_changes_only_the_rate_of_the_estimate() -> None:
    fresh = Learnt()
    assert fresh.text_tokens(None, 100.0) == 100.0
    sampled = fresh.with_text(60, None, 120.0)
    assert sampled.text_tokens(None, 100.0) == approx(50)
    assert sampled.text_tokens(80, 100.0) == 80  # the larger one: nothing is known of the other
    later = SOME.with_text(150, None, 200.0)
    assert later.read / later.plain == approx(SOME.read / SOME.plain)
    assert later.rate < SOME.rate
    counted = sampled.with_text(120, 100, 150.0)
    assert (counted.read, counted.plain, counted.careful) == (120, 100, 150.0)


def test_what_was_learnt_is_there_after_a_restart(memory_home: Path) -> None:
    ModelMemory(memory_home).keep("ollama/a", SOME)
    assert ModelMemory(memory_home).recall("ollama/a") == SOME
    assert ModelMemory(memory_home).recall("ollama/b") == Learnt()
    assert (memory_home / FILE).stat().st_mode & 0o777 == 0o600


def test_two_programs_keep_what_the_other_learnt(memory_home: Path) -> None:
    one, other = ModelMemory(memory_home), ModelMemory(memory_home)
    one.keep("a", SOME)
    other.keep("b", Learnt(request=9))
    one.keep("c", Learnt(request=10))
    fresh = ModelMemory(memory_home)
    assert [fresh.recall(name).request for name in "abc"] == [7, 9, 10]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00" * 100,
        b"[]",
        b"{not json",
        b'{"version": 1, "models": {"a": {"request": "many"}}}',
        b'{"version": 1, "models": {"a": {"read": -5}}}',
        b'{"version": 1, "models": {"a": {"request": 99999}}}',
        b'{"version": 2, "models": {"a": {"request": 7}}}',
        b'{"version": 1, "models": {"\xff": {}}}',
    ],
)
def test_a_damaged_file_counts_as_none_and_is_replaced(memory_home: Path, content: bytes) -> None:
    memory_home.mkdir()
    (memory_home / FILE).write_bytes(content)
    memory = ModelMemory(memory_home)
    assert memory.recall("a") == Learnt()
    memory.keep("b", SOME)
    assert ModelMemory(memory_home).recall("b") == SOME


def test_only_the_models_used_last_are_kept(memory_home: Path) -> None:
    memory = ModelMemory(memory_home)
    for number in range(MOST_MODELS + 1):
        memory.keep(f"model {number}", SOME)
        memory.keep("always", SOME)
    fresh = ModelMemory(memory_home)
    assert fresh.recall("model 0") == Learnt()
    assert fresh.recall("always") == fresh.recall(f"model {MOST_MODELS}") == SOME


def test_a_place_that_cannot_be_written_is_no_reason_to_fail(tmp_path: Path) -> None:
    (tmp_path / "memory").write_text("a file where the directory should be")
    memory = ModelMemory(tmp_path / "memory")
    memory.keep("a", SOME)
    assert memory.recall("a") == SOME


def test_without_a_directory_it_is_remembered_until_the_end() -> None:
    memory = ModelMemory(None)
    memory.keep("a", SOME)
    assert memory.recall("a") == SOME
