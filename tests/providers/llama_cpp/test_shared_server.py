"""One server of embedded models for several programs, each with a connection to its owner."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from pathlib import Path

import pytest

from ollm_tui.core.errors import Unavailable
from ollm_tui.core.provider import Preparing, TextDelta
from ollm_tui.providers.embedded import Embedded
from ollm_tui.providers.llama_cpp.shared_server import ModelSharing, SharedSlot
from tests.providers.test_embedded import STARTING, children, question
from tests.stand_ins.collected_events import collect, text_of

ANOTHER = Preparing("another tab is answering")

Join = Callable[[], Awaitable[Embedded]]


@pytest.fixture
async def sharing() -> AsyncGenerator[ModelSharing]:
    """The owner of the server."""
    owner = ModelSharing()
    yield owner
    await owner.close()


@pytest.fixture
async def join(model_home: Path, sharing: ModelSharing) -> AsyncGenerator[Join]:
    """Makes programs that have no server of their own."""
    made: list[tuple[Embedded, int]] = []

    async def join_one() -> Embedded:
        line = await sharing.connect()
        provider = Embedded(models_dir=model_home / "models", shared=SharedSlot(line))
        made.append((provider, line))
        return provider

    yield join_one
    for provider, line in made:
        await provider.close()
        os.close(line)


@pytest.mark.model
async def test_two_programs_use_one_server_that_has_room_for_both(join: Join) -> None:
    first, second = await join(), await join()
    events = await collect(first, question(window=1024))
    assert events[0] == STARTING
    assert "Paris" in text_of(events)
    (server,) = children()
    # A window that is larger starts it anew; a smaller one is content with it.
    assert "Paris" in text_of(await collect(second, question(window=2048)))
    (larger,) = children()
    assert larger != server
    again = await collect(first, question(window=1024))
    assert STARTING not in again
    assert "Paris" in text_of(again)
    assert children() == [larger]
    assert await second.count_tokens(question(window=1024)) is not None
    assert children() == [larger]


@pytest.mark.more
@pytest.mark.model
async def test_who_waits_for_another_program_is_told_and_then_answered(join: Join) -> None:
    first, second = await join(), await join()
    long = question("Count from one to a hundred.", max_output=200)
    async with aclosing(first.stream(long)) as answer:
        async for event in answer:
            if isinstance(event, TextDelta):
                break
        async with aclosing(second.stream(question())) as waiting:
            assert await anext(waiting) == ANOTHER
            await answer.aclose()
            rest = [event async for event in waiting]
        assert any(isinstance(event, TextDelta) for event in rest)
    assert ANOTHER not in await collect(first, question())


@pytest.mark.model
async def test_a_program_that_goes_leaves_the_server_to_the_others(join: Join) -> None:
    first, second = await join(), await join()
    async with aclosing(first.stream(question(max_output=200))) as answer:
        async for event in answer:
            if isinstance(event, TextDelta):
                break
        await first.close()
    (server,) = children()
    assert "Paris" in text_of(await collect(second, question()))
    assert children() == [server]


@pytest.mark.more
@pytest.mark.model
async def test_with_its_owner_the_server_ends_and_that_is_told(
    join: Join, sharing: ModelSharing
) -> None:
    program = await join()
    await collect(program, question())
    assert len(children()) == 1
    await sharing.close()
    assert children() == []
    with pytest.raises(Unavailable, match="ollm serve was stopped"):
        await collect(program, question())


async def test_why_a_server_does_not_start_is_told_to_who_asked(
    tmp_path: Path, sharing: ModelSharing
) -> None:
    (tmp_path / "broken.gguf").write_bytes(b"GGUF" + bytes(200))
    line = await sharing.connect()
    program = Embedded(models_dir=tmp_path, shared=SharedSlot(line))
    with pytest.raises(Unavailable, match="broken"):
        await collect(program, question(model="broken"))
    await program.close()
    os.close(line)
