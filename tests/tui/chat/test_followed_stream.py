"""A session another window writes: it grows before one's eyes, and nothing jumps."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.errors import SessionBusy
from ollm_tui.core.session.message import Message, Text
from ollm_tui.core.session.record import MessageAdded, MetadataChanged, SessionChanged, TextAppended
from ollm_tui.services.sessions.following import Followed
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.store_layout import StoreLayout
from ollm_tui.tui.chat.followed_session import FollowedStream, take_over
from ollm_tui.tui.chat.words import FOLLOWS, FORKS, GOES_ON, LEFT_ALONE
from ollm_tui.tui.stream.transcript.transcript import Transcript
from tests.crash.samples import begin, user_message
from tests.engine.conftest import OpenWorkspace, open_workspace
from tests.stand_ins.other_writer import OtherWriter
from tests.tui.stream.transcript.screen import seen, shown

__all__ = ["open_workspace"]

NAME = "subject"


@pytest.fixture
def library(home: Path) -> SessionLibrary:
    library = SessionLibrary.at(StoreLayout(home / "sessions"))
    begin(library.store, NAME, user_message("first", "Hello"))
    return library


class Here:
    """This window: what it sees of the other one."""

    def __init__(self, transcript: Transcript, changes: AsyncGenerator[Followed, None]) -> None:
        self.transcript = transcript
        self.view = FollowedStream(transcript)
        self._shown = self.view.show(changes)

    async def next(self) -> Followed:
        return await anext(self._shown)

    def text(self) -> str:
        return "\n".join(seen(self.transcript))

    async def close(self) -> None:
        await self._shown.aclose()


@asynccontextmanager
async def following(open_workspace: OpenWorkspace) -> AsyncGenerator[Here]:
    workspace = await open_workspace()
    async with shown(size=(60, 12)) as (transcript, _):
        here = Here(transcript, workspace.follow(NAME))
        await here.next()
        yield here
        await here.close()


def answer(key: str, parent: str) -> MessageAdded:
    message = Message(key, "assistant", (), clock.now(), parent_id=parent, status="streaming")
    return MessageAdded(at=message.timestamp, message=replace(message, model="scripted"))


async def test_messages_and_growing_answers_are_seen(
    library: SessionLibrary, open_workspace: OpenWorkspace
) -> None:
    other = OtherWriter(library.store, NAME)
    async with following(open_workspace) as here:
        assert "Hello" in here.text()
        other.record(answer("a1", "first"))
        other.grow("a1", "Good morning")
        await here.next()
        assert here.transcript.entry("a1").growing
        assert "Good morning" in here.text() and "interrupted" not in here.text()
        other.grow("a1", ", and **welcome**")
        await here.next()
        assert "Good morning, and welcome" in here.text()
        other.finish("a1")
        await here.next()
        assert not here.transcript.entry("a1").growing
        other.say("u2", "Thanks")
        other.fold()
        await here.next()
        assert here.transcript.keys == ["first", "a1", "u2"]
    other.close()


@pytest.mark.more
async def test_thoughts_stay_open_while_they_grow(
    library: SessionLibrary, open_workspace: OpenWorkspace
) -> None:
    other = OtherWriter(library.store, NAME)
    async with following(open_workspace) as here:
        other.record(answer("a1", "first"))
        thought = TextAppended(at=clock.now(), message_id="a1", part="reasoning", text="hm")
        other.record(thought)
        await here.next()
        here.transcript.toggle_folds("a1")
        other.record(replace(thought, text=" let me see"))
        await here.next()
        assert "hm let me see" in here.text()
    other.close()


async def test_who_reads_further_up_stays_there(
    library: SessionLibrary, open_workspace: OpenWorkspace
) -> None:
    other = OtherWriter(library.store, NAME)
    for number in range(30):
        other.say(f"m{number}", f"message number {number}")
    async with following(open_workspace) as here:
        here.transcript.go_to("m3")
        before = seen(here.transcript)
        other.say("last", "the last one")
        await here.next()
        assert here.transcript.has_news
        assert seen(here.transcript)[:-1] == before[:-1]
        fields = {"pins": ["m1"]}
        other.record(MetadataChanged(at=clock.now(), fields=fields))
        await here.next()
        assert "message number 3" in here.text() and "the last one" not in here.text()
        assert here.transcript.entry("m1").footer == "pinned"
    other.close()


@pytest.mark.more
async def test_another_branch_takes_the_place_of_the_one_shown(
    library: SessionLibrary, open_workspace: OpenWorkspace
) -> None:
    other = OtherWriter(library.store, NAME)
    other.say("second")
    async with following(open_workspace) as here:
        instead = user_message("instead", "something else", "first")
        other.record(MessageAdded(at=instead.timestamp, message=instead))
        await here.next()
        assert here.transcript.keys == ["first", "instead"]
        other.record(SessionChanged(at=clock.now(), fields={"head": "second"}))
        await here.next()
        assert here.transcript.keys == ["first", "second"]
    other.close()


async def test_the_end_of_the_other_window_is_told_and_cuts_off_its_answer(
    library: SessionLibrary, open_workspace: OpenWorkspace
) -> None:
    other = OtherWriter(library.store, NAME)
    other.record(answer("a1", "first"))
    async with following(open_workspace) as here:
        assert (here.view.words, here.view.prompt_words) == (FOLLOWS, FORKS)
        other.close()
        await here.next()
        assert (here.view.words, here.view.prompt_words) == (LEFT_ALONE, GOES_ON)
        assert here.transcript.entry("a1").footer == "interrupted"


@pytest.mark.more
async def test_another_model_is_announced(
    library: SessionLibrary, open_workspace: OpenWorkspace
) -> None:
    other = OtherWriter(library.store, NAME)
    async with following(open_workspace) as here:
        for key, parent, model in (("a1", "first", "small"), ("a2", "u2", "large")):
            if parent == "u2":
                other.say("u2")
            said = Message(key, "assistant", (Text("x"),), clock.now(), parent_id=parent)
            added = MessageAdded(at=said.timestamp, message=replace(said, model=model))
            other.record(added)
        await here.next()
        assert "Switched to large" in here.text()
    other.close()


async def test_sending_forks_what_is_open_elsewhere_and_continues_what_is_not(
    library: SessionLibrary, open_workspace: OpenWorkspace
) -> None:
    workspace = await open_workspace()
    other = OtherWriter(library.store, NAME)
    with pytest.raises(SessionBusy):
        await workspace.resume(NAME)
    fork, _ = await take_over(workspace, NAME)
    assert fork.session_id != NAME
    assert fork.state.header.forked_from == NAME
    assert [message.text for message in fork.state.branch()] == ["Hello"]
    await fork.close()
    other.close()
    itself, _ = await take_over(workspace, NAME)
    assert itself.session_id == NAME
    await itself.close()
