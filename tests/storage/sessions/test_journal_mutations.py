"""Journals with random damage: nothing crashes, what is whole is read, and every loss is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest

from ollm_tui.core.errors import SessionDamaged, SessionNotFound
from ollm_tui.storage.sessions.session_store import SessionStore
from ollm_tui.storage.store_layout import StoreLayout
from tests.conftest import Tell, runs
from tests.crash.samples import begin, texts, user_message
from tests.folders import quick_folder

NAME = "session"
MESSAGES = 8
MUTATIONS = runs(600, of_gate=10_000)
Mutation = Callable[[Random, list[bytes]], bytes]


def torn(dice: Random, lines: list[bytes]) -> bytes:
    whole = b"".join(lines)
    return whole[: dice.randrange(len(whole))]


def zeros(dice: Random, lines: list[bytes]) -> bytes:
    whole = b"".join(lines)
    at, size = dice.randrange(len(whole)), dice.choice((1, 16, 512, 4096))
    return whole[:at] + bytes(size) + whole[at + dice.choice((0, size)) :]


def garbage(dice: Random, lines: list[bytes]) -> bytes:
    whole = b"".join(lines)
    at, size = dice.randrange(len(whole)), dice.choice((1, 4, 40))
    return whole[:at] + dice.randbytes(size) + whole[at + dice.choice((0, size)) :]


def swapped(dice: Random, lines: list[bytes]) -> bytes:
    first, second = dice.sample(range(len(lines)), 2)
    lines[first], lines[second] = lines[second], lines[first]
    return b"".join(lines)


def dropped(dice: Random, lines: list[bytes]) -> bytes:
    del lines[dice.randrange(len(lines))]
    return b"".join(lines)


def repeated(dice: Random, lines: list[bytes]) -> bytes:
    lines.insert(dice.randrange(len(lines)), dice.choice(lines))
    return b"".join(lines)


KINDS: tuple[Mutation, ...] = (torn, zeros, garbage, swapped, dropped, repeated)


@pytest.fixture
def store() -> Iterator[SessionStore]:
    with quick_folder() as folder:
        yield SessionStore(StoreLayout(Path(folder) / "sessions"))


def read(store: SessionStore) -> tuple[dict[str, str], bool]:
    """What was said, and whether a loss is told; a session that is gone whole tells it too."""
    try:
        loaded = store.load(NAME)
    except (SessionDamaged, SessionNotFound):
        return {}, True
    return texts(loaded.state), bool(loaded.problems)


@pytest.mark.parametrize("mutate", KINDS, ids=lambda each: each.__name__)
def test_whatever_happens_to_its_bytes_no_loss_is_silent(
    store: SessionStore, mutate: Mutation, record_property: Tell
) -> None:
    begin(store, NAME, *(user_message(f"m{number}") for number in range(MESSAGES)))
    journal = store.layout.journal(NAME)
    lines = journal.read_bytes().splitlines(keepends=True)
    everything, _ = read(store)
    # A journal that stops between two records looks like one that ends there: nothing can know.
    ends = {b"".join(lines[:count]) for count in range(len(lines))}
    silent: list[int] = []
    for seed in range(MUTATIONS // len(KINDS) + 1):
        damaged = mutate(Random(seed), list(lines))
        journal.write_bytes(damaged)
        found, is_told = read(store)
        assert found.items() <= everything.items(), seed
        is_end = damaged in ends or damaged + b"\n" in ends
        if len(found) < len(everything) and not is_told and not is_end:
            silent.append(seed)
    record_property("mutations", MUTATIONS // len(KINDS) + 1)
    record_property("silent losses", len(silent))
    assert silent == []
