"""Messages with attachments: recorded as data, and delimited where the model reads them."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from ollm_tui.core.errors import UsageError
from ollm_tui.core.events import AnyTurnEvent
from ollm_tui.core.session.message import Attachment, Message, Text
from ollm_tui.engine.context.prompt_assembly import assemble
from ollm_tui.providers.scripted import Scripted
from tests.engine.conftest import OpenWorkspace


async def finish(events: AsyncGenerator[AnyTurnEvent, None]) -> None:
    async for _ in events:
        pass


def attached(content: str, name: str = "paste 1") -> Attachment:
    return Attachment(name=name, media_type="text/plain", content=content)


async def test_a_message_carries_its_attachments_behind_its_words(
    open_workspace: OpenWorkspace,
) -> None:
    provider = Scripted()
    workspace = await open_workspace(provider)
    conversation = await workspace.begin()
    await finish(conversation.send("why [paste 1]?", [attached("one\ntwo")]))
    question = conversation.state.branch()[0]
    assert question.parts == (Text("why [paste 1]?"), attached("one\ntwo"))
    asked = provider.requests[0].messages[-1].text
    assert asked == "why [paste 1]?\n\n[paste 1]:\n```\none\ntwo\n```\n"
    await conversation.close()


async def test_an_attachment_can_be_sent_alone_and_gives_the_title(
    open_workspace: OpenWorkspace,
) -> None:
    provider = Scripted()
    workspace = await open_workspace(provider)
    conversation = await workspace.begin()
    await finish(conversation.send(" ", [attached("Traceback of the uploader\nmore")]))
    question = conversation.state.branch()[0]
    assert question.parts == (attached("Traceback of the uploader\nmore"),)
    assert conversation.state.header.title == "Traceback of the uploader"
    assert provider.requests[0].messages[-1].text.startswith("[paste 1]:\n```\nTraceback")
    with pytest.raises(UsageError):
        await finish(conversation.send(" "))
    await conversation.close()


async def test_an_edited_message_has_the_attachments_it_is_given(
    open_workspace: OpenWorkspace,
) -> None:
    workspace = await open_workspace()
    conversation = await workspace.begin()
    await finish(conversation.send("first", [attached("old")]))
    first = conversation.state.branch()[0]
    await finish(conversation.edit(first.id, "better", [attached("new")]))
    assert conversation.state.branch()[0].parts == (Text("better"), attached("new"))
    await conversation.close()


async def test_what_is_attached_is_cleaned_and_never_trusted(open_workspace: OpenWorkspace) -> None:
    workspace = await open_workspace()
    conversation = await workspace.begin()
    foreign = Attachment(
        name="a\x1b[2J\nb", media_type="text/plain", content="x\x1b]52;c;eA==\x07y", trusted=True
    )
    await finish(conversation.send("see", [foreign]))
    assert conversation.state.branch()[0].parts[1] == attached("xy", "a b")
    await conversation.close()


@pytest.mark.parametrize("content", ("```\nend", "a ````` b\n```", "`", ""))
def test_the_content_cannot_end_its_own_fence(content: str) -> None:
    message = Message("m1", "user", (attached(content), attached("next", "b")), "")
    [asked] = assemble((), [message]).prompt
    fence = asked.text.split("\n")[1]
    assert set(fence) == {"`"} and len(fence) >= 3
    assert fence not in content
    assert asked.text.startswith(f"[paste 1]:\n{fence}\n{content}\n{fence}\n\n\n[b]:\n```\nnext\n")
