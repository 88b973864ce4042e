"""Following a session: whatever its writer does, the follower soon knows the same."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_tui.core import clock
from ollm_tui.core.errors import SessionNotFound
from ollm_tui.core.session.record import SessionChanged
from ollm_tui.services.sessions.following import Followed, follow
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.files.cipher import Plain
from ollm_tui.storage.sessions.session_store import SessionStore
from ollm_tui.storage.sessions.session_tail import SessionTail, TailUpdate
from ollm_tui.storage.store_layout import StoreLayout
from tests.crash.samples import LARGE, added, begin, texts, user_message
from tests.folders import quick_folder
from tests.stand_ins.other_writer import OtherWriter

NAME = "subject"


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    store = SessionStore(StoreLayout(tmp_path / "sessions"))
    begin(store, NAME, user_message("first"))
    return store


async def at_once(work: Callable[[], TailUpdate | None]) -> TailUpdate | None:
    return work()


def following(store: SessionStore) -> AsyncGenerator[Followed, None]:
    return follow(store, NAME, at_once, every_seconds=0.001)


async def test_each_message_is_seen_with_its_name(store: SessionStore) -> None:
    writer = OtherWriter(store, NAME)
    changes = following(store)
    first = await anext(changes)
    assert (first.changed, first.is_held) == ({"first"}, True)
    writer.say("second")
    writer.say("third")
    seen = await anext(changes)
    assert seen.changed == {"second", "third"}
    assert list(texts(seen.state)) == ["first", "second", "third"]
    writer.grow("third", " and more")
    writer.finish("third")
    seen = await anext(changes)
    assert seen.changed == {"third"}
    assert seen.state["third"].text == "words of third and more"
    writer.record(SessionChanged(at=clock.now(), fields={"title": "renamed"}))
    seen = await anext(changes)
    assert (seen.changed, seen.state.header.title) == (frozenset(), "renamed")
    writer.close()


async def test_folding_alone_is_no_change_and_the_end_of_the_writer_is_one(
    store: SessionStore,
) -> None:
    writer = OtherWriter(store, NAME)
    changes = following(store)
    await anext(changes)
    writer.fold()
    waiting = asyncio.ensure_future(anext(changes))
    await asyncio.sleep(0.05)
    assert not waiting.done()
    writer.say("second")
    assert (await waiting).changed == {"second"}
    writer.say("third")
    writer.close()
    seen = await anext(changes)
    assert (seen.changed, seen.is_held) == ({"third"}, False)
    again = OtherWriter(store, NAME)
    assert (await anext(changes)).is_held
    again.say("fourth")
    assert (await anext(changes)).changed == {"fourth"}
    again.close()


async def test_a_session_that_is_deleted_ends_the_following(store: SessionStore) -> None:
    changes = following(store)
    await anext(changes)
    SessionLibrary.at(store.layout).delete(NAME)
    with pytest.raises(SessionNotFound):
        await anext(changes)


def test_only_new_bytes_are_read(store: SessionStore) -> None:
    writer, tail = OtherWriter(store, NAME), SessionTail(store, NAME)
    tail.look()
    writer.say("second")
    tail.look()
    journal = store.layout.journal(NAME)
    # Whoever reads the beginning again stumbles over it.
    data = journal.read_bytes()
    with journal.open("r+b") as file:
        file.write(b"#" * (len(data) - 1) + b"\n")
    writer.say("third")
    news = tail.look()
    assert news is not None and news.state is None
    assert [seq for seq, _ in news.entries] == [writer.state.header.journal_seq]


def test_nothing_is_read_while_nothing_changes(store: SessionStore) -> None:
    tail = SessionTail(store, NAME)
    assert tail.look() is not None
    assert tail.look() is None


def test_half_a_line_is_waited_for_and_large_records_are_found(store: SessionStore) -> None:
    writer, tail = OtherWriter(store, NAME), SessionTail(store, NAME)
    tail.look()
    writer.say("large", LARGE)
    news = tail.look()
    assert news is not None
    [(_, record)] = news.entries
    assert record == added(writer.state["large"])
    journal = store.layout.journal(NAME)
    before = journal.read_bytes()
    writer.say("next")
    line = journal.read_bytes().removeprefix(before)
    journal.write_bytes(before + line[:20])
    assert tail.look() == TailUpdate(is_held=True)
    with journal.open("ab") as file:
        file.write(line[20:])
    news = tail.look()
    assert news is not None and len(news.entries) == 1


class Reversed(Plain):
    """A cipher whose bytes nobody else can read."""

    def seal(self, data: bytes, place: str) -> bytes:
        return data[::-1].hex().encode()

    def open(self, data: bytes, place: str) -> bytes:
        return bytes.fromhex(data.decode())[::-1]


def test_a_sealed_session_is_followed_too(tmp_path: Path) -> None:
    store = SessionStore(StoreLayout(tmp_path / "sessions"), Reversed())
    begin(store, NAME, user_message("first"))
    writer, tail = OtherWriter(store, NAME), SessionTail(store, NAME)
    tail.look()
    writer.say("second")
    news = tail.look()
    assert news is not None and len(news.entries) == 1


@given(st.lists(st.sampled_from(("say", "say", "grow", "fold", "reopen", "look")), max_size=20))
def test_whatever_happens_between_two_looks_nothing_is_missed(steps: list[str]) -> None:
    with quick_folder() as folder:
        store = SessionStore(StoreLayout(Path(folder) / "sessions"))
        begin(store, NAME, user_message("first"))
        asyncio.run(_follow_through(store, steps))


async def _follow_through(store: SessionStore, steps: list[str]) -> None:
    writer, tail = OtherWriter(store, NAME), SessionTail(store, NAME)
    news = tail.look()
    assert news and news.state
    state = news.state
    for number, step in enumerate([*steps, "look"]):
        match step:
            case "say":
                writer.say(f"m{number}")
            case "grow":
                writer.grow(writer.state.header.head or "", "+")
            case "fold":
                writer.fold()
            case "reopen":
                writer.close()
                writer = OtherWriter(store, NAME)
            case _:
                news = tail.look()
                state = news.state if news and news.state else state
                for seq, record in news.entries if news else ():
                    state.apply(record, seq)
                assert state.session() == writer.state.session()
    writer.close()
