"""`/compact --provider`: the server compacts; its form is kept, sent to it alone, and undone as any
other compression."""

from __future__ import annotations

from collections.abc import Sequence

from ollm_tui.core.compression_events import CompressionFailed
from ollm_tui.core.provider import ChatRequest, TextDelta
from ollm_tui.engine.context.prompt_message import checkpoint_text
from ollm_tui.providers.scripted import Scripted, Step
from tests.engine.compression.test_compression import (
    PARAGRAPH,
    WINDOW,
    collected,
    garden,
    is_summary,
    result,
)
from tests.engine.conftest import OpenWorkspace


def turn(request: ChatRequest) -> Sequence[Step]:
    assert not is_summary(request), "no model is asked for a summary"
    return [TextDelta(PARAGRAPH)]


async def test_the_server_alone_compacts_and_this_is_said(open_workspace: OpenWorkspace) -> None:
    server = Scripted(turn, window=WINDOW, compacts=True)
    conversation = await garden(open_workspace, provider=server, strategy="provider")
    before = conversation.prompt_json()
    done = result(await collected(conversation.compression.run())).compression
    made = done.created[-1]
    assert (done.strategy, made.summary) == ("provider", "")
    assert made.compacted
    assert "cannot be read or checked" in done.note
    assert done.after_tokens < done.before_tokens
    await conversation.compression.undo()
    assert conversation.prompt_json() == before
    await conversation.close()


async def test_another_model_is_sent_the_facts_from_the_record(
    open_workspace: OpenWorkspace,
) -> None:
    server = Scripted(turn, window=WINDOW, compacts=True)
    conversation = await garden(open_workspace, provider=server, strategy="provider")
    made = result(await collected(conversation.compression.run())).compression.created[-1]
    await conversation.use(conversation.choice._replace(model="another"))
    await collected(conversation.send("And now?"))
    assert not any(each.compacted for each in server.requests[-1].messages)
    assert checkpoint_text(made) in "".join(each.text for each in server.requests[-1].messages)
    await conversation.use(conversation.choice._replace(model=made.compacted.model))  # pyright: ignore[reportOptionalMemberAccess] the server made it
    await collected(conversation.send("And here?"))
    assert made.compacted in [each.compacted for each in server.requests[-1].messages]
    await conversation.close()


async def test_where_the_server_cannot_nothing_is_changed_and_the_reason_told(
    open_workspace: OpenWorkspace,
) -> None:
    server = Scripted(turn, window=WINDOW)
    conversation = await garden(open_workspace, provider=server, strategy="provider")
    before = conversation.prompt_json()
    last = (await collected(conversation.compression.run()))[-1]
    assert isinstance(last, CompressionFailed)
    assert (last.error, last.hint) == (
        "scripted cannot compact prompts",
        "/compact does it locally",
    )
    assert conversation.prompt_json() == before
    await conversation.close()
