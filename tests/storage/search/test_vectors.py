"""Vectors: found by nearness, kept in one file, gone when what they are of is deleted."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from random import Random

import pytest

from ollm_tui.storage.search.vectors import SAMPLED, Vectors, vectors_path

SIZE = 64


def vector(seed: int) -> list[float]:
    random = Random(seed)
    return [random.gauss(0, 1) for _ in range(SIZE)]


def near(one: Sequence[float], share: float = 0.1) -> list[float]:
    return [a + share * b for a, b in zip(one, vector(999), strict=True)]


def filled(path: Path | None, count: int = 50) -> Vectors:
    vectors = Vectors(path)
    vectors.begin("model", SIZE)
    add(vectors, range(count))
    return vectors


def add(vectors: Vectors, contents: Collection[int]) -> None:
    vectors.add({content: [vector(content)] for content in contents}, lambda: contents)


@pytest.fixture(params=("file", "memory"))
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path | None:
    return tmp_path / "search.sqlite" if request.param == "file" else None


def test_the_nearest_comes_first(place: Path | None) -> None:
    vectors = filled(place)
    found = vectors.nearest(near(vector(7)), None, 10)
    assert found[0].content == 7
    assert found[0].closeness > 0.9
    assert vectors.nearest(near(vector(7)), {3, 4}, 10) == []


def test_among_nothing_nothing_is_near(place: Path | None) -> None:
    assert filled(place).nearest(vector(7), set(), 10) == []


def test_the_nearest_of_many_is_found_though_only_a_sample_says_how_far_it_is() -> None:
    many = 20_000
    vectors = filled(None, many)
    for wanted in range(0, many, 4_001):
        assert vectors.nearest(near(vector(wanted)), None, 10)[0].content == wanted


def test_what_is_near_to_everything_does_not_stand_before_what_is_near_to_this() -> None:
    vectors = Vectors(None)
    vectors.begin("model", SIZE)
    everywhere, own = vector(1), vector(2)
    said = {
        number: [[a + b for a, b in zip(everywhere, vector(100 + number), strict=True)]]
        for number in range(SAMPLED)
    }
    said[-1] = [everywhere]
    said[-2] = [own]
    vectors.add(said, lambda: said)
    asked = [1.5 * a + b for a, b in zip(everywhere, own, strict=True)]
    assert vectors.nearest(asked, None, 10)[0].content == -2


def test_another_piece_of_a_message_may_be_the_nearest(place: Path | None) -> None:
    vectors = filled(place)
    vectors.add({70: [vector(70), vector(71)]}, lambda: {70})
    for seed in (70, 71):
        assert vectors.nearest(vector(seed), None, 1)[0].content == 70


def test_what_is_added_later_is_found_too(place: Path | None) -> None:
    vectors = filled(place)
    assert 60 not in vectors.known()
    add(vectors, (60,))
    assert vectors.nearest(vector(60), None, 1)[0].content == 60


def test_only_what_is_still_wanted_is_added(place: Path | None) -> None:
    vectors = filled(place, 0)
    vectors.add({1: [vector(1)], 2: [vector(2)]}, lambda: {2})
    assert vectors.known() == {2}


def test_what_is_no_longer_there_is_forgotten(place: Path | None) -> None:
    vectors = filled(place)
    vectors.keep({1, 2})
    assert vectors.known() == {1, 2}
    assert vectors.nearest(vector(7), None, 1) == []
    if place:
        assert vectors_path(place).stat().st_size < 3 * (8 + SIZE // 8 + SIZE) + 64


def test_vectors_of_another_model_are_thrown_away(place: Path | None) -> None:
    vectors = filled(place)
    assert vectors.model() == "model"
    vectors.begin("other", SIZE)
    assert (vectors.model(), vectors.known()) == ("other", set())


def test_the_file_is_read_by_another_program_and_is_private(tmp_path: Path) -> None:
    path = tmp_path / "search.sqlite"
    filled(path)
    assert Vectors(path).known() == set(range(50))
    assert vectors_path(path).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("damage", (b"", b"garbage", None))
def test_a_damaged_file_is_used_as_far_as_it_goes(tmp_path: Path, damage: bytes | None) -> None:
    path = tmp_path / "search.sqlite"
    filled(path)
    file = vectors_path(path)
    file.write_bytes(file.read_bytes()[:-10] if damage is None else damage)
    again = Vectors(path)
    assert len(again.known()) == (49 if damage is None else 0)
    again.begin("model", SIZE)
    add(again, (60,))
    assert again.nearest(vector(60), None, 1)[0].content == 60
    assert len(again.known()) == (50 if damage is None else 1)
