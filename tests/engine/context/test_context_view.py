"""The context as it is shown: its number is the one that is sent, and changing it can be seen
before it is done, is recorded once, and can be undone.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from ollm_tui.core.errors import UsageError
from ollm_tui.core.events import AnyTurnEvent, ReplyStarted, TextArrived, TurnFinished
from ollm_tui.core.provider import Completed, TextDelta
from ollm_tui.core.session.context_marks import ContextChange
from ollm_tui.core.session.message import Attachment, Usage
from ollm_tui.engine.context.context_view import ContextView
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.engine.project.workspace import Workspace
from ollm_tui.providers.scripted import Scripted
from ollm_tui.services.sessions.recording import Recording
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.services.tokens.counter import TokenCounters
from ollm_tui.settings.schema import ModelSettings, Settings
from ollm_tui.storage.store_layout import StoreLayout
from tests.approximately import approx
from tests.engine.conftest import OnlyProvider, OpenWorkspace

LONG = "A long story about many small things that happened on the way. " * 12


async def finish(events: AsyncGenerator[AnyTurnEvent, None]) -> list[AnyTurnEvent]:
    return [event async for event in events]


async def conversation_of(
    open_workspace: OpenWorkspace, *texts: str, provider: Scripted | None = None
) -> Conversation:
    workspace = await open_workspace(provider or Scripted())
    conversation = await workspace.begin()
    for text in texts:
        await finish(conversation.send(text))
    return conversation


def adds_up(view: ContextView) -> bool:
    return sum(item.tokens.tokens for item in view.items) == view.count.tokens


async def test_an_empty_conversation_has_a_budget_too(open_workspace: OpenWorkspace) -> None:
    conversation = await conversation_of(open_workspace)
    view = conversation.context()
    assert view.budget.room is not None
    assert (view.budget.room.window, view.budget.room.limit) == (8192, 6963)
    assert [item.key for item in view.items] == ["system"]
    assert view.exchanges_left is None
    assert view.words == "compresses at 5.6k"
    await conversation.close()


async def test_the_items_are_the_prompt_in_its_order_and_add_up_to_it(
    open_workspace: OpenWorkspace,
) -> None:
    conversation = await conversation_of(open_workspace, "Hello there", LONG)
    paste = Attachment("notes.txt", "text/plain", "line\n" * 50)
    await finish(conversation.send("And this", [paste]))
    await conversation.settle_context()
    view = conversation.context()
    branch = conversation.state.branch()
    assert [item.key for item in view.items] == ["system", *(message.id for message in branch)]
    assert [item.group for item in view.items[1:3]] == ["user", "assistant"]
    assert view.items[1].title == "Hello there"
    assert view.items[3].title.startswith("A long story about") and "\n" not in view.items[3].title
    [attachment] = view.items[5].attachments
    assert attachment.name == "notes.txt"
    assert 50 <= attachment.tokens.tokens <= view.items[5].tokens.tokens + 4
    assert adds_up(view)
    await conversation.close()


async def test_the_number_shown_is_the_one_that_is_sent(open_workspace: OpenWorkspace) -> None:
    provider = Scripted()
    conversation = await conversation_of(open_workspace, provider=provider)
    await conversation.settle_context()
    for text in ("One", LONG, "Three little words"):
        shown: list[int] = []
        async for event in conversation.send(text):
            if isinstance(event, ReplyStarted):
                continue
            if isinstance(event, TextArrived) and not shown:
                view = conversation.context()
                shown = [view.count.tokens - view.writing]
        sent = await provider.count_tokens(provider.requests[-1])
        usage = conversation.state.branch()[-1].usage
        assert usage is not None
        assert shown == [sent] == [usage.input_tokens]
    await conversation.close()


async def test_the_live_count_grows_with_the_reply_and_then_becomes_the_context(
    open_workspace: OpenWorkspace,
) -> None:
    words = [TextDelta(f"word{n} and more ") for n in range(20)]
    conversation = await conversation_of(open_workspace, provider=Scripted([words]))
    seen: list[int] = []
    async for event in conversation.send("Go"):
        if isinstance(event, TextArrived):
            seen.append(conversation.live_tokens.tokens)
            view = conversation.context()
            assert view.count.tokens == seen[-1]
            assert view.items[-1].key == "reply" and adds_up(view)
    assert seen == sorted(set(seen))
    assert conversation.live_tokens == conversation.context().count.total
    assert conversation.context().items[-1].key == conversation.state.header.head
    await conversation.close()


async def test_a_preview_is_what_the_change_then_brings(open_workspace: OpenWorkspace) -> None:
    conversation = await conversation_of(open_workspace, "Hello", LONG, "Bye")
    await conversation.settle_context()
    before = conversation.context()
    question, reply = conversation.state.branch()[2:4]
    for action in ("pin", "exclude", "fold", "drop"):
        change = ContextChange(action, (reply.id,))
        preview = await conversation.preview(change)
        assert conversation.context().items == before.items
        undo = await conversation.change_context(change)
        await conversation.settle_context()
        after = conversation.context()
        assert [item.mark for item in after.items] == [item.mark for item in preview.items]
        assert after.count.tokens == approx(preview.count.tokens, rel=0.2)
        assert (after.count.tokens < before.count.tokens) == (action != "pin")
        assert adds_up(after) and adds_up(preview)
        await conversation.change_context(undo)
        assert conversation.context().items == before.items
    assert question.text.strip() == LONG.strip()
    await conversation.close()


async def test_marks_are_shown_and_what_is_left_out_says_what_it_would_cost(
    open_workspace: OpenWorkspace,
) -> None:
    conversation = await conversation_of(open_workspace, "Hello", LONG)
    pinned, left_out, folded = (message.id for message in conversation.state.branch()[:3])
    await conversation.change_context(ContextChange("pin", (pinned,)))
    await conversation.change_context(ContextChange("exclude", (left_out,)))
    await conversation.change_context(ContextChange("fold", (folded,)))
    items = {item.key: item for item in conversation.context().items}
    assert (items[pinned].mark, items[pinned].group) == ("pinned", "system")
    assert (items[left_out].mark, items[left_out].tokens.tokens) == ("excluded", 0)
    assert items[left_out].whole.tokens > 0
    assert items[folded].mark == "folded"
    assert 0 < items[folded].tokens.tokens < items[folded].whole.tokens
    assert adds_up(conversation.context())
    await conversation.close()


async def test_a_change_is_one_record_and_survives_resuming_forking_and_export(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    conversation = await conversation_of(open_workspace, "Hello", LONG)
    question, reply = conversation.state.branch()[2:4]
    seq = conversation.state.header.journal_seq
    await conversation.change_context(ContextChange("fold-above", (question.id,)))
    await conversation.change_context(ContextChange("fold", (reply.id,)))
    assert conversation.state.header.journal_seq == seq + 2
    shown = conversation.prompt_text()
    assert "tokens folded]" in shown
    await conversation.close()

    workspace = await open_workspace()
    resumed, _ = await workspace.resume(conversation.session_id)
    assert resumed.prompt_text() == shown
    await resumed.close()
    fork, _ = await workspace.resume(await workspace.fork(conversation.session_id))
    assert fork.prompt_text() == shown
    await fork.close()
    library = SessionLibrary.at(StoreLayout(home / "sessions"))
    exported = library.load(conversation.session_id).state.session()
    again, _ = await workspace.resume(library.add(exported))
    assert again.prompt_text() == shown
    await again.close()


async def test_nothing_is_recorded_when_nothing_changes(open_workspace: OpenWorkspace) -> None:
    conversation = await conversation_of(open_workspace, "Hello")
    seq = conversation.state.header.journal_seq
    key = conversation.state.branch()[0].id
    await conversation.change_context(ContextChange("unpin", (key,)))
    assert conversation.state.header.journal_seq == seq
    with pytest.raises(UsageError):
        await conversation.preview(ContextChange("pin", ("nobody",)))
    await conversation.close()


async def test_the_exact_prompt_can_be_read(open_workspace: OpenWorkspace) -> None:
    provider = Scripted()
    conversation = await conversation_of(open_workspace, "Hello", provider=provider)
    assert conversation.prompt_text() == (
        "── system ──\nYou are a helpful assistant. Answer briefly and to the point.\n\n"
        "── user ──\nHello\n\n── assistant ──\nHello"
    )
    tree = json.loads(conversation.prompt_json())
    assert tree["model"] == "scripted"
    assert tree["messages"][1:] == [
        {"role": "user", "text": "Hello"},
        {"role": "assistant", "text": "Hello"},
    ]
    await finish(conversation.send("Again"))
    sent = [(message.role, message.text) for message in provider.requests[-1].messages]
    assert sent[:3] == [(message["role"], message["text"]) for message in tree["messages"]]
    await conversation.close()


async def test_a_message_that_was_left_out_is_sent_when_it_is_asked_again(
    open_workspace: OpenWorkspace,
) -> None:
    provider = Scripted()
    conversation = await conversation_of(open_workspace, "One", "Two", provider=provider)
    question = conversation.state.branch()[2]
    await conversation.change_context(ContextChange("drop", (question.id,)))
    assert "Two" not in conversation.prompt_text()
    await finish(conversation.regenerate(question.id))
    assert provider.requests[-1].messages[-1].text == "Two"
    assert "Two" in conversation.prompt_text()  # the new reply is not left out
    await conversation.close()


async def test_the_outlook_says_how_many_exchanges_fit(open_workspace: OpenWorkspace) -> None:
    wishes = Settings(models={"scripted": ModelSettings(window=1024)})
    workspace = await open_workspace(Scripted(), wishes)
    conversation = await workspace.begin()
    await finish(conversation.send("word " * 100))
    view = conversation.context()
    left = view.exchanges_left
    assert left is not None and 1 <= left <= 2
    more = "exchange" if left == 1 else "exchanges"
    assert view.words == f"compresses at {view.budget.trigger_mark} · about {left} {more}"
    await conversation.close()


async def test_another_model_is_previewed_with_its_own_window(
    open_workspace: OpenWorkspace,
) -> None:
    settings = Settings(models={"small": ModelSettings(window=1024)})
    workspace = await open_workspace(Scripted(), settings)
    conversation = await workspace.begin()
    await finish(conversation.send("word " * 500))
    view = await workspace.preview_model(conversation, None, "small")
    assert view.budget.room is not None and view.budget.room.window == 1024
    assert view.budget.over_limit
    assert view.words == "compresses before the next message"
    assert conversation.choice.window == 8192
    await workspace.switch_model(conversation, None, "small")
    room = conversation.context().budget.room
    assert room is not None and room.window == 1024
    await conversation.close()


async def test_the_measured_length_is_shown_as_measured(open_workspace: OpenWorkspace) -> None:
    done = Completed(finish="stop", usage=Usage(input_tokens=40, output_tokens=2))
    conversation = await conversation_of(
        open_workspace, provider=Scripted([[TextDelta("Yes."), done]])
    )
    async for event in conversation.send("One two three " * 8):
        if isinstance(event, TurnFinished):
            shown = conversation.context().count.tokens
            assert conversation.state.header.metadata.token_count == shown
    assert conversation.context().count.source == "estimated"  # with the reply in it
    await conversation.close()


@pytest.mark.parametrize("ephemeral", [False, True])
async def test_what_is_learnt_about_a_model_is_remembered_unless_nothing_is_kept(
    home: Path, ephemeral: bool
) -> None:
    library = SessionLibrary.at(StoreLayout(home / "sessions"))
    recording = Recording(library.store, library.index)
    home.mkdir(exist_ok=True)
    workspace = Workspace(
        Settings(), recording, library, OnlyProvider(Scripted()), home, TokenCounters(home)
    )
    conversation = await workspace.begin(ephemeral=ephemeral)
    await finish(conversation.send("Hello"))
    await conversation.close()
    await workspace.close()
    assert (home / "token-counts.json").exists() != ephemeral
