"""A prompt that was not read to its end is never passed over in silence."""

from __future__ import annotations

from ollm_tui.core.events import AnyTurnEvent, PromptCut, TurnFinished
from ollm_tui.core.provider import Completed, StreamEvent, TextDelta
from ollm_tui.core.session.message import Usage
from ollm_tui.engine.conversation.conversation import Conversation
from tests.engine.conftest import OpenWorkspace

LONG = "word " * 6000


def answer(tokens_read: int) -> list[StreamEvent]:
    usage = Usage(input_tokens=tokens_read, output_tokens=1)
    return [TextDelta("Yes."), Completed(finish="stop", usage=usage)]


async def last_two(conversation: Conversation, text: str) -> list[AnyTurnEvent]:
    return [event async for event in conversation.send(text)][-2:]


async def test_a_prompt_that_was_cut_raises_an_alarm_and_the_reply_stays(
    open_workspace: OpenWorkspace,
) -> None:
    workspace = await open_workspace([answer(2050)])
    conversation = await workspace.begin()
    alarm, end = await last_two(conversation, LONG)
    assert isinstance(alarm, PromptCut)
    assert alarm.read == 2050 < alarm.sent <= 6011
    assert isinstance(end, TurnFinished)
    assert end.message.status == "complete"
    await conversation.close()


async def test_a_prompt_read_shorter_than_the_one_before_it_was_cut(
    open_workspace: OpenWorkspace,
) -> None:
    workspace = await open_workspace([answer(400), answer(450), answer(449)])
    conversation = await workspace.begin()
    for text in ("One", "Two"):
        first, _ = await last_two(conversation, text)
        assert not isinstance(first, PromptCut)
    alarm, _ = await last_two(conversation, "Three")
    assert alarm == PromptCut(449, 450)
    await conversation.close()


async def test_what_another_model_or_branch_read_does_not_count(
    open_workspace: OpenWorkspace,
) -> None:
    workspace = await open_workspace([answer(900), answer(40)])
    conversation = await workspace.begin()
    await last_two(conversation, "Tell me about it all. " * 170)
    question = conversation.state.branch()[0]
    events = [event async for event in conversation.edit(question.id, "Other words")]
    assert not any(isinstance(event, PromptCut) for event in events)
    await conversation.close()


async def test_a_server_that_counts_nothing_raises_no_alarm(open_workspace: OpenWorkspace) -> None:
    workspace = await open_workspace([answer(0), [TextDelta("Yes."), Completed(finish="stop")]])
    conversation = await workspace.begin()
    for text in (LONG, LONG):
        first, _ = await last_two(conversation, text)
        assert not isinstance(first, PromptCut)
    await conversation.close()
