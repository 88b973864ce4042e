"""A prompt that is too long is never sent: the user is told what can be done about it."""

from __future__ import annotations

import io
from collections.abc import AsyncGenerator
from random import Random

import pytest
from msgspec import structs

from ollm_tui.core.compression_events import ContextCompressed
from ollm_tui.core.errors import OverLimit
from ollm_tui.core.events import (
    AnyTurnEvent,
    Prepared,
    PromptTooLong,
    ReplyStarted,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from ollm_tui.core.provider import Capabilities, ChatRequest, TextDelta
from ollm_tui.core.session.context_marks import ContextChange
from ollm_tui.core.session.message import Attachment
from ollm_tui.core.session.session import Metadata
from ollm_tui.engine.context.budget import Budget
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.engine.turn.prompt_check import wider_window
from ollm_tui.headless import Headless
from ollm_tui.providers.scripted import Scripted
from ollm_tui.services.tokens.prompt_count import Parts
from ollm_tui.settings.schema import ModelSettings, Settings
from tests.engine.conftest import OpenWorkspace

SMALL = Settings(models={"scripted": ModelSettings(window=1024)})
LIMIT = 870

WORDS = ("answer", "garden", "window", "bridge", "silver", "winter", "market", "letter")
LONG_ANSWER = "".join(f"{word} " for word in Random(7).choices(WORDS, k=100))


def talk(request: ChatRequest) -> list[TextDelta]:
    return talk_turn()


async def finish(events: AsyncGenerator[AnyTurnEvent, None]) -> list[AnyTurnEvent]:
    return [event async for event in events]


async def long_conversation(
    open_workspace: OpenWorkspace, provider: Scripted, turns: int
) -> Conversation:
    workspace = await open_workspace(provider, SMALL)
    conversation = await workspace.begin()
    for turn in range(turns):
        events = await finish(conversation.send(f"question {turn} " * 20))
        assert isinstance(events[-1], TurnFinished)
    return conversation


async def test_a_prompt_over_the_limit_is_not_sent_and_the_words_are_kept(
    open_workspace: OpenWorkspace,
) -> None:
    provider = Scripted()
    workspace = await open_workspace(provider, SMALL)
    conversation = await workspace.begin()
    events = await finish(conversation.send("word " * 1000))
    events = [event for event in events if not isinstance(event, Prepared)]  # a slow machine
    question, reply = conversation.state.branch()
    told = PromptTooLong(1011, LIMIT, ("larger-window",), 8192)
    assert events == [
        TurnStarted(conversation.session_id, question),
        ReplyStarted(reply.id, "scripted", "scripted"),
        told,
        TurnFailed(told.message, told.hint, "OverLimit", reply),
    ]
    assert told.message == "the prompt is too long: 1,011 tokens, 870 fit"
    assert told.hint == "use a larger window: context.window, up to 8,192"
    assert provider.requests == []
    assert question.text == "word " * 1000
    await conversation.close()


async def test_the_choices_are_those_there_are(open_workspace: OpenWorkspace) -> None:
    provider = Scripted(talk, window=1024)
    conversation = await long_conversation(open_workspace, provider, 2)
    attachment = Attachment("a.txt", "text/plain", "word " * 900)
    told = (await finish(conversation.send("See", [attachment])))[-2]
    assert isinstance(told, PromptTooLong)
    assert told.choices == ("fold-or-exclude", "remove-attachment")
    await conversation.close()


async def test_what_is_long_for_its_history_can_be_said_elsewhere(
    open_workspace: OpenWorkspace,
) -> None:
    workspace = await open_workspace(Scripted(talk, window=1024), SMALL)
    conversation = await workspace.begin()
    for _ in range(2):
        await finish(conversation.send("word " * 150))
    told = (await finish(conversation.send("word " * 400)))[-2]
    assert isinstance(told, PromptTooLong)
    assert told.choices == ("fold-own", "fold-or-exclude", "new-session")
    assert "fold your oldest messages: /compact --mine" in told.hint
    await conversation.close()


async def test_where_nothing_helps_the_message_has_to_be_shorter(
    open_workspace: OpenWorkspace,
) -> None:
    workspace = await open_workspace(Scripted(talk, window=1024), SMALL)
    conversation = await workspace.begin()
    told = (await finish(conversation.send("word " * 2000)))[-2]
    assert isinstance(told, PromptTooLong) and told.choices == ()
    assert told.hint == "shorten the message"
    await conversation.close()


@pytest.mark.parametrize(
    ("largest", "tokens", "wider"),
    [
        (8192, 900, 2048),
        (8192, 2500, 4096),
        (8192, 3000, 8192),
        (3000, 2500, 3000),
        (1024, 900, None),
        (8192, 9000, None),
    ],
)
def test_a_wider_window_is_the_next_one_in_which_the_prompt_fits(
    largest: int, tokens: int, wider: int | None
) -> None:
    room = Budget.of(1024, Parts(user=tokens)).room
    assert wider_window(room, largest, tokens) == wider


async def test_after_leaving_something_out_the_same_question_is_answered(
    open_workspace: OpenWorkspace,
) -> None:
    provider = Scripted(talk, window=1024)
    conversation = await long_conversation(open_workspace, provider, 4)
    assert isinstance((await finish(conversation.send("word " * 300)))[-1], TurnFailed)
    first = conversation.state.branch()[1]
    sent = len(provider.requests)
    await conversation.change_context(
        ContextChange("fold-above", (conversation.state.branch()[8].id,))
    )
    assert "tokens folded]" in conversation.prompt_text()
    assert first.text == LONG_ANSWER
    assert isinstance((await finish(conversation.regenerate()))[-1], TurnFinished)
    assert len(provider.requests) == sent + 1
    await conversation.close()


async def test_a_server_that_refuses_is_treated_the_same_and_learnt_from(
    open_workspace: OpenWorkspace,
) -> None:
    refusal = OverLimit("too long for the server", "", 5000, 4096)
    workspace = await open_workspace(Uncounted([[refusal]]))
    conversation = await workspace.begin()
    told, failed = (await finish(conversation.send("word " * 50)))[-2:]
    assert isinstance(told, PromptTooLong) and told.tokens == 5000
    assert isinstance(failed, TurnFailed)
    assert (failed.error, failed.hint) == ("too long for the server", told.hint)
    assert conversation.context().count.tokens == 5000
    await conversation.close()


async def test_compressing_folds_the_oldest_replies_and_says_so(
    open_workspace: OpenWorkspace,
) -> None:
    provider = Scripted(talk, window=1024)
    conversation = await long_conversation(open_workspace, provider, 4)
    pinned, second = conversation.state.branch()[1], conversation.state.branch()[3]
    await conversation.change_context(ContextChange("pin", (pinned.id,)))
    conversation.on_overflow = "compress"
    events = await finish(conversation.send("word " * 300))
    [done] = [e.compression for e in events if isinstance(e, ContextCompressed)]
    assert done.folded[0] == second.id and pinned.id not in done.folded
    assert done.before_tokens > LIMIT >= done.after_tokens
    assert isinstance(events[-1], TurnFinished)
    sent = provider.requests[-1].messages
    assert await provider.count_tokens(provider.requests[-1]) == done.after_tokens
    assert sent[2].text == LONG_ANSWER
    own = "\n\n".join(m.text for m in sent if m.role == "user")
    assert all(f"question {n} " * 20 in own for n in range(4))
    await conversation.close()


def without_count(metadata: Metadata) -> Metadata:
    return structs.replace(metadata, token_count=0, token_parts={}, tokens_estimated=False)


async def test_what_cannot_be_made_to_fit_is_left_as_it_was(open_workspace: OpenWorkspace) -> None:
    provider = Scripted(talk, window=1024)
    conversation = await long_conversation(open_workspace, provider, 2)
    conversation.on_overflow = "compress"
    before = conversation.state.header.metadata
    events = await finish(conversation.send("word " * 900))
    assert isinstance(events[-2], PromptTooLong)
    assert not any(isinstance(event, ContextCompressed) for event in events)
    after = conversation.state.header.metadata
    assert after.token_count > before.token_count, "the message counts"
    assert without_count(after) == without_count(before)
    await conversation.close()


@pytest.mark.parametrize(("policy", "code"), [("fail", 1), ("compress", 0)])
async def test_without_a_screen_the_policy_decides(
    open_workspace: OpenWorkspace, policy: str, code: int
) -> None:
    provider = Scripted(talk, window=1024)
    conversation = await long_conversation(open_workspace, provider, 4)
    conversation.on_overflow = "compress" if policy == "compress" else "fail"
    out, err = io.StringIO(), io.StringIO()
    assert await Headless("text", out, err).show(conversation.send("word " * 300)) == code
    assert ("folded into a checkpoint" in err.getvalue()) == (policy == "compress")
    assert ("the prompt is too long" in err.getvalue()) == (policy == "fail")
    await conversation.close()


async def test_a_server_that_refuses_is_asked_once_more_with_less(
    open_workspace: OpenWorkspace,
) -> None:
    refusal = OverLimit("too long for the server", "", 1100, 1024)
    summary = [TextDelta("Four long questions were asked and each was answered at length.")]
    provider = Uncounted([*[talk_turn()] * 4, [refusal], summary, talk_turn(), *[[refusal]] * 9])
    conversation = await long_conversation(open_workspace, provider, 4)
    conversation.on_overflow = "compress"
    events = await finish(conversation.send("Go on"))
    events = [event for event in events if not isinstance(event, Prepared)]
    assert [type(event) for event in events[:2]] == [TurnStarted, ReplyStarted]
    assert any(isinstance(event, ContextCompressed) for event in events)
    assert isinstance(events[-1], TurnFinished)
    refused, _, sent = provider.requests[-3:]
    assert len(str(sent.messages)) < len(str(refused.messages))
    assert sent.messages[-1] == refused.messages[-1]

    again = await finish(conversation.send("And on"))
    assert isinstance(again[-1], TurnFailed)
    asked = [r for r in provider.requests[7:] if r.messages[-1].text == "And on"]
    assert 1 <= len(asked) <= 2, "a prompt known to be too long is not sent; no other is sent again"
    await conversation.close()


def talk_turn() -> list[TextDelta]:
    return [TextDelta(LONG_ANSWER)]


class Uncounted(Scripted):
    """A server that counts nothing before it answers."""

    async def count_tokens(self, request: ChatRequest) -> int | None:
        return None

    async def capabilities(self, model: str) -> Capabilities:
        return Capabilities(window=8192, max_window=8192)


class Narrow(Uncounted):
    """A server that has less room than it says, and refuses what is longer."""

    def __init__(self, told: int | None, room: int, *, says_so: bool) -> None:
        super().__init__(self._answer)
        self._told = told
        self._room = room
        self._says_so = says_so

    async def capabilities(self, model: str) -> Capabilities:
        return Capabilities(window=self._told, max_window=self._told)

    def _answer(self, request: ChatRequest) -> list[TextDelta | OverLimit]:
        tokens = sum(len(message.text) for message in request.messages) // 4
        if tokens > self._room:
            counts = (tokens, self._room) if self._says_so else (None, None)
            return [OverLimit("longer than the window", "", *counts)]
        if "shorter" in request.messages[0].text or len(request.messages) == 1:
            return [TextDelta("Questions about the garden were asked and answered at length.")]
        return [TextDelta(LONG_ANSWER)]


@pytest.mark.parametrize("told", (None, 8192))
@pytest.mark.parametrize("says_so", (True, False))
async def test_a_server_with_less_room_than_it_said_is_no_dead_end(
    open_workspace: OpenWorkspace, told: int | None, says_so: bool
) -> None:
    provider = Narrow(told, 900, says_so=says_so)
    workspace = await open_workspace(provider, Settings())
    conversation = await workspace.begin()
    conversation.on_overflow = "compress"
    compressed = 0
    for turn in range(16):
        events = await finish(conversation.send(f"{turn} Which soil is good for the beds?"))
        assert isinstance(events[-1], TurnFinished), turn
        compressed += any(isinstance(event, ContextCompressed) for event in events)
    assert compressed, "there was too much for it"
    window = conversation.choice.window
    assert window is not None and 512 <= window <= 1100
    assert conversation.state.header.window == window, "it is known after a restart too"
    await conversation.close()
