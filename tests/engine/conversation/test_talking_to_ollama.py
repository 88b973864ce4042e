"""Conversations on Ollama: one window for the whole session, and nothing is cut in silence."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from itertools import product
from typing import Any

import pytest
from msgspec.structs import replace

from ollm_tui.core.events import AnyTurnEvent, PromptCut, PromptTooLong, TurnFailed, TurnFinished
from ollm_tui.providers.ollama import Ollama
from ollm_tui.settings.schema import Context, Settings
from tests.engine.conftest import OpenWorkspace
from tests.stand_ins.http_server import Reply, Request
from tests.stand_ins.ollama_server import MODEL, OllamaServer


@pytest.fixture
async def server() -> AsyncGenerator[OllamaServer, None]:
    async with OllamaServer() as running:
        yield running


def on(server: OllamaServer) -> Ollama:
    return Ollama(name="ollama", base_url=server.url, retry_seconds=0)


def chats(server: OllamaServer) -> list[dict[str, Any]]:
    return [request.json for request in server.requests if request.path == "/api/chat"]


async def finish(events: AsyncGenerator[AnyTurnEvent, None]) -> list[AnyTurnEvent]:
    return [event async for event in events]


async def test_a_session_keeps_one_window_so_the_model_is_loaded_once(
    open_workspace: OpenWorkspace, server: OllamaServer
) -> None:
    conversation = await (await open_workspace(on(server))).begin(model=MODEL)
    await finish(conversation.send("One"))
    await conversation.change_mode("developer")
    await finish(conversation.send("Two"))
    await conversation.close()
    server.loaded[MODEL] = 8192
    resumed, _ = await (await open_workspace(on(server))).resume(conversation.session_id)
    await finish(resumed.send("Three"))
    await resumed.close()
    assert {body["options"]["num_ctx"] for body in chats(server)} == {8192}
    assert {(body["truncate"], body["shift"]) for body in chats(server)} == {(False, False)}
    assert server.loads == 1


async def test_what_others_load_meanwhile_does_not_change_the_window(
    open_workspace: OpenWorkspace, server: OllamaServer
) -> None:
    workspace = await open_workspace(on(server))
    conversation = await workspace.begin(model=MODEL)
    await finish(conversation.send("One"))
    server.loaded[MODEL] = 2048
    await workspace.models.capabilities("ollama", MODEL)
    await finish(conversation.send("Two"))
    await finish(conversation.regenerate())
    assert [body["options"]["num_ctx"] for body in chats(server)] == [8192] * 3
    await conversation.close()


async def test_what_the_server_finds_too_long_comes_back_with_its_numbers(
    open_workspace: OpenWorkspace, server: OllamaServer
) -> None:
    async def counts_more(request: Request, reply: Reply) -> None:
        body = request.json
        body["messages"][-1]["content"] = "word " * 9000
        await server.answer(replace(request, body=json.dumps(body).encode()), reply)

    server.chat = counts_more
    conversation = await (await open_workspace(on(server))).begin(model=MODEL)
    told, failed = (await finish(conversation.send("Short to us")))[-2:]
    assert isinstance(told, PromptTooLong)
    assert told.tokens > 9000
    assert isinstance(failed, TurnFailed) and failed.kind == "OverLimit"
    await conversation.close()


async def test_why_it_is_slow_is_recorded_with_the_reply(
    open_workspace: OpenWorkspace, server: OllamaServer
) -> None:
    conversation = await (await open_workspace(on(server))).begin(model=MODEL)
    await finish(conversation.send("One"))
    usage = conversation.state.branch()[-1].usage
    assert usage is not None
    assert (usage.load_seconds, usage.prompt_seconds, usage.output_seconds) == (1.5, 0.25, 2.0)
    assert conversation.context().count.tokens >= usage.input_tokens
    await conversation.close()


async def test_a_prompt_over_the_limit_never_reaches_the_server(
    open_workspace: OpenWorkspace, server: OllamaServer
) -> None:
    settings = Settings(context=Context(window=1024))
    conversation = await (await open_workspace(on(server), settings)).begin(model=MODEL)
    told, failed = (await finish(conversation.send("word " * 1000)))[-2:]
    assert isinstance(told, PromptTooLong)
    assert told.choices == ("larger-window",), "it is too long for a new session as well"
    assert told.largest_window == 131_072
    assert isinstance(failed, TurnFailed) and failed.kind == "OverLimit"
    assert chats(server) == []
    await conversation.close()


async def test_a_server_that_cuts_all_the_same_raises_the_alarm(
    open_workspace: OpenWorkspace, server: OllamaServer
) -> None:
    async def old_server(request: Request, reply: Reply) -> None:
        """Knows neither `truncate` nor `shift`, and loads no more than it likes."""
        body = request.json
        body.pop("truncate")
        body.pop("shift")
        body["options"]["num_ctx"] = 2048
        await server.answer(replace(request, body=json.dumps(body).encode()), reply)

    server.chat = old_server
    conversation = await (await open_workspace(on(server))).begin(model=MODEL)
    # No two words are the same: the server answers with what it reads, and that is no loop then.
    words = map("".join, product("abcdefghijklmn", repeat=3))
    events = await finish(conversation.send(" ".join(words)))
    cut = events[-2]
    assert isinstance(cut, PromptCut)
    assert cut.read == 1026 < cut.sent <= 2 * 14**3
    assert isinstance(events[-1], TurnFinished)
    await conversation.close()
