"""Contexts that leave compression little to work with: what then happens, and what is said."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import TypeVar

import pytest

from ollm_tui.core.compression_events import (
    CompressionDrafted,
    CompressionSkipped,
    ContextCompressed,
    SummaryArrived,
    UserMessagesFill,
)
from ollm_tui.core.events import PromptTooLong, TurnFinished
from ollm_tui.core.provider import ChatRequest, TextDelta
from ollm_tui.core.session.context_marks import ContextChange
from ollm_tui.core.session.message import (
    Attachment,
    Message,
    Part,
    Role,
    Text,
    ToolCallPart,
    ToolResultPart,
)
from ollm_tui.core.session.record import MessageAdded
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.providers.scripted import Scripted, Step
from ollm_tui.settings.schema import Settings
from tests.engine.compression.fact_conversations import conversation as written
from tests.engine.compression.fact_phrases import VARIED
from tests.engine.conftest import OpenWorkspace

T = TypeVar("T")
WINDOW, LIMIT = 4096, 3481
AT = "2026-03-01T10:00:00.000Z"
SUMMARY = "They looked at the logs of the upload and found that the disk of the server was full."


def answering(request: ChatRequest) -> Sequence[Step]:
    is_summary = "summary" in request.messages[0].text
    return [TextDelta(SUMMARY if is_summary else "The disk is full.")]


async def begun(open_workspace: OpenWorkspace) -> Conversation:
    """A conversation of one short exchange in a window of 4k."""
    workspace = await open_workspace(Scripted(answering, window=WINDOW), Settings())
    conversation = await workspace.begin()
    conversation.on_overflow = "compress"
    await collected(conversation.send("What is wrong with the upload?"))
    return conversation


async def collected(events: AsyncGenerator[T, None]) -> list[T]:
    async with aclosing(events):
        return [event async for event in events]


async def add(conversation: Conversation, role: Role, *parts: Part) -> None:
    number, head = len(conversation.state), conversation.state.header.head
    message = Message(f"m{number}", role, parts, AT, parent_id=head)
    await conversation.record(MessageAdded(at=AT, message=message))


def lines(words: int) -> str:
    return "\n".join(f"{n:04} upload part {n * 7919 % 1000} done" for n in range(words // 5))


def fits(conversation: Conversation) -> bool:
    return conversation.context().count.tokens <= LIMIT


async def test_after_a_paste_that_fills_the_window_the_next_question_is_answered(
    open_workspace: OpenWorkspace,
) -> None:
    conversation = await begun(open_workspace)
    paste = Attachment(name="log.txt", media_type="text/plain", content=lines(3_000))
    ended = (await collected(conversation.send("And here?", [paste])))[-1]
    assert isinstance(ended, TurnFinished)
    ended = (await collected(conversation.send("What follows from that? " * 200)))[-1]
    assert isinstance(ended, TurnFinished)
    prompt = conversation.prompt_text()
    assert fits(conversation) and "And here?" in prompt and "0117 upload" not in prompt
    await conversation.close()


async def test_a_paste_larger_than_the_window_is_not_sent_and_the_choices_are_told(
    open_workspace: OpenWorkspace,
) -> None:
    conversation = await begun(open_workspace)
    paste = Attachment(name="log.txt", media_type="text/plain", content=lines(5_000))
    events = await collected(conversation.send("And here?", [paste]))
    [told] = [event for event in events if isinstance(event, PromptTooLong)]
    assert "remove-attachment" in told.choices
    assert conversation.state.header.metadata.compression_count == 0
    ended = (await collected(conversation.send("Without the log, then.")))[-1]
    assert isinstance(ended, TurnFinished)
    await conversation.close()


async def test_files_that_came_along_are_not_the_users_own_words(
    open_workspace: OpenWorkspace,
) -> None:
    conversation = await begun(open_workspace)
    paste = Attachment(name="log.txt", media_type="text/plain", content=lines(3_000))
    await collected(conversation.send("And here?", [paste]))
    await collected(conversation.send("And then?"))
    events = await collected(conversation.compression.run())
    assert not [event for event in events if isinstance(event, UserMessagesFill)]
    assert isinstance(events[-1], ContextCompressed)
    await conversation.close()


@pytest.mark.parametrize("is_headless", [False, True])
async def test_user_messages_alone_are_folded_only_where_nobody_can_be_asked(
    open_workspace: OpenWorkspace, is_headless: bool
) -> None:
    conversation = await begun(open_workspace)
    conversation.compression.folds_own = is_headless
    for number in range(12):
        rule = f"Part {number} must never be larger than {number}00 MB."
        await add(conversation, "user", Text(f"{rule} {'I say so. ' * 90}"))
    own = [message.text for message in conversation.state.branch() if message.role == "user"]
    events = await collected(conversation.compression.run("auto"))
    asked = [event for event in events if isinstance(event, UserMessagesFill)]
    prompt = conversation.prompt_text()
    if is_headless:
        assert isinstance(done := events[-1], ContextCompressed) and not asked
        assert own[1] not in prompt and "Part 0 must never be larger than 000 MB." in prompt
        assert "of yours folded" in done.compression.note
    else:
        assert asked and asked[0].foldable == len(own) - 1
        assert all(text in prompt for text in own)
    assert own[-1] in prompt
    await conversation.close()


async def test_the_users_messages_are_not_folded_unasked_while_they_leave_room(
    open_workspace: OpenWorkspace,
) -> None:
    conversation = await begun(open_workspace)
    conversation.compression.folds_own = True
    for number in range(5):
        await add(conversation, "user", Text(f"{number}. " + "I say so. " * 70))
        await add(conversation, "assistant", Text(lines(300)))
    await collected(conversation.compression.run())
    own = [message.text for message in conversation.state.branch() if message.role == "user"]
    assert conversation.state.header.metadata.compression_count == 1
    assert all(text in conversation.prompt_text() for text in own)
    await conversation.close()


async def test_of_a_tool_output_that_nobody_could_read_an_excerpt_is_sent(
    open_workspace: OpenWorkspace,
) -> None:
    conversation = await begun(open_workspace)
    await add(conversation, "user", Text("Read the log."))
    await add(conversation, "assistant", ToolCallPart("c1", "read_file", {"path": "log.txt"}))
    await add(conversation, "tool", ToolResultPart("c1", "read_file", lines(9_000)))
    assert not fits(conversation)
    messages = conversation.state.branch()
    events = await collected(conversation.compression.run("overflow"))
    assert isinstance(events[-1], ContextCompressed)
    prompt = conversation.prompt_text()
    assert fits(conversation) and conversation.state.branch() == messages
    assert "0000 upload" in prompt and "1799 upload" in prompt and "0900 upload" not in prompt
    assert "Read the log." in prompt
    await conversation.close()


async def test_a_context_from_a_larger_window_is_brought_into_a_smaller_one(
    open_workspace: OpenWorkspace,
) -> None:
    workspace = await open_workspace(Scripted(answering, window=65_536), Settings())
    conversation = await workspace.begin()
    for number in range(8):
        for _ in range(8):
            await add(conversation, "user", Text("And what then?"))
            await add(conversation, "assistant", Text(lines(900 + number)))
        await collected(conversation.compression.run(strategy="truncate"))
    assert conversation.context().budget.parts.checkpoints > LIMIT
    await conversation.use(conversation.choice._replace(window=WINDOW))
    ended = (await collected(conversation.compression.run("auto")))[-1]
    assert isinstance(ended, ContextCompressed)
    room = conversation.context().budget.room
    assert room and conversation.context().budget.parts.checkpoints <= room.checkpoint_cap
    assert fits(conversation)
    await conversation.close()


async def test_what_cannot_fit_is_said_and_nothing_is_changed(
    open_workspace: OpenWorkspace,
) -> None:
    conversation = await begun(open_workspace)
    for number in range(9):
        await add(conversation, "user", Text(f"{number}. " + "I say so. " * 200))
    before = conversation.prompt_json()
    skipped = (await collected(conversation.compression.run("overflow")))[-1]
    assert isinstance(skipped, CompressionSkipped) and skipped.reason == "cannot-fit"
    assert skipped.message.startswith("nothing left to compress; your messages are 9")
    assert conversation.prompt_json() == before
    await conversation.close()


async def test_that_ones_own_words_fill_it_is_only_said_where_they_do(
    open_workspace: OpenWorkspace,
) -> None:
    conversation = await begun(open_workspace)
    paste = Attachment("log", "text/plain", "503 at the gate. " * 3000)
    await add(conversation, "user", Text("See"), paste)
    skipped = (await collected(conversation.compression.run("overflow")))[-1]
    assert isinstance(skipped, CompressionSkipped)
    assert skipped.message == "nothing left to compress"
    await conversation.close()


async def test_what_a_compression_records_does_not_grow_with_every_other(
    open_workspace: OpenWorkspace,
) -> None:
    conversation = await begun(open_workspace)
    facts: list[int] = []
    for seed in range(9):
        for message in written(VARIED, seed, rounds=5).messages:
            await add(conversation, message.role, *message.parts)
        ended = (await collected(conversation.compression.run(strategy="summarize")))[-1]
        assert isinstance(ended, ContextCompressed)
        facts.append(len(ended.compression.created[-1].ledger.facts))
    assert max(facts) < 2 * facts[1]
    await conversation.close()


async def test_an_older_checkpoint_is_shortened_without_asking_a_model(
    open_workspace: OpenWorkspace,
) -> None:
    conversation = await begun(open_workspace)
    sizes: list[int] = []
    for number in range(4):
        for place in range(4):
            await add(conversation, "user", Text(f"And part {number}-{place}?"))
            await add(conversation, "assistant", Text(f"We decided {number}. {lines(600)}"))
        strategy = "truncate" if number != 1 else "hybrid"
        events = await collected(conversation.compression.run(strategy=strategy))
        asked = [event for event in events if isinstance(event, SummaryArrived)]
        assert bool(asked) == (number == 1), "only the new messages are ever summarised"
        first = conversation.context().prompt.assembly.shortening.checkpoints[0]
        sizes.append(first.current_tokens)
    oldest, *others = conversation.context().prompt.assembly.shortening.checkpoints
    assert oldest.level < 3 and "We decided" in oldest.facts
    assert SUMMARY in "".join(each.summary for each in (oldest, *others))
    assert sizes[-1] < sizes[0], "its quotes are shorter now"
    await conversation.close()


async def test_a_draft_applied_after_an_undo_has_a_number_of_its_own(
    open_workspace: OpenWorkspace,
) -> None:
    conversation = await begun(open_workspace)
    for place in range(4):
        await add(conversation, "user", Text(f"And part {place}?"))
        await add(conversation, "assistant", Text(lines(600)))
    before = conversation.prompt_json()
    drafted = (await collected(conversation.compression.preview()))[-1]
    assert isinstance(drafted, CompressionDrafted)
    await collected(conversation.compression.run())
    await conversation.compression.undo()
    done = await conversation.compression.apply(drafted.draft)
    assert done.number == 2
    await conversation.compression.undo()
    assert conversation.prompt_json() == before
    assert all(entry.undone_at for entry in conversation.compression.history)
    await conversation.close()


async def test_what_is_due_again_at_once_waits_for_the_next_message(
    open_workspace: OpenWorkspace,
) -> None:
    conversation = await begun(open_workspace)
    for number in range(6):
        await add(conversation, "user", Text(f"{number}. " + "I say so. " * 100))
        await add(conversation, "assistant", Text(lines(300)))
    assert isinstance(
        (await collected(conversation.compression.run("auto")))[-1], ContextCompressed
    )
    # Its own words bring it over the trigger, not over the limit.
    await conversation.use(conversation.choice._replace(window=3_000))
    assert conversation.context().budget.needs_compression
    again = (await collected(conversation.compression.run("auto")))[-1]
    assert isinstance(again, CompressionSkipped) and again.reason == "nothing-to-do"
    assert again.message == "no messages since the last compression"
    await conversation.close()


async def test_a_pinned_call_without_its_result_says_nothing_and_is_in_nobodys_way(
    open_workspace: OpenWorkspace,
) -> None:
    conversation = await begun(open_workspace)
    await add(conversation, "assistant", ToolCallPart("c1", "read_file", {"path": "log.txt"}))
    await add(conversation, "tool", ToolResultPart("c1", "read_file", lines(300)))
    call, result = (message.id for message in conversation.state.branch()[-2:])
    await add(conversation, "assistant", Text("It is full."))
    for _ in range(4):
        await add(conversation, "user", Text("And then?"))
        await add(conversation, "assistant", Text(lines(900)))
    await conversation.change_context(ContextChange("pin", (call,)))
    await conversation.change_context(ContextChange("exclude", (result,)))
    ended = (await collected(conversation.compression.run("auto", strategy="summarize")))[-1]
    assert isinstance(ended, ContextCompressed)
    await conversation.close()


async def test_of_old_outputs_only_as_many_are_cut_short_as_room_is_needed(
    open_workspace: OpenWorkspace,
) -> None:
    conversation = await begun(open_workspace)
    await conversation.use(conversation.choice._replace(window=4 * WINDOW))
    for number in range(10):
        call = ToolCallPart(f"c{number}", "read_file", {"path": f"part_{number}.txt"})
        await add(conversation, "assistant", call)
        output = f"begin {number}\n{lines(1_400)}"
        await add(conversation, "tool", ToolResultPart(f"c{number}", "read_file", output))
    await add(conversation, "user", Text("And then?"))
    await add(conversation, "assistant", Text("We will see."))
    done = (await collected(conversation.compression.run("auto")))[-1]
    assert isinstance(done, ContextCompressed)
    results = [m.id for m in conversation.state.branch() if m.role == "tool"]
    cut = [key for key in results if key in done.compression.elisions]
    assert not done.compression.folded and 0 < len(cut) < len(results) - 2, cut
    assert cut == results[: len(cut)], "the oldest ones"
    await conversation.close()


async def test_a_large_last_round_does_not_cost_what_was_folded_before(
    open_workspace: OpenWorkspace,
) -> None:
    conversation = await begun(open_workspace)
    for number in range(5):
        await add(conversation, "user", Text(f"And part {number}?"))
        await add(conversation, "assistant", Text(f"Part {number} is set. {lines(500)}"))
    await collected(conversation.compression.run("auto", strategy="truncate"))
    for number, words in enumerate((700, 1_300)):
        call = ToolCallPart(f"c{number}", "read_file", {"path": f"log_{number}.txt"})
        await add(conversation, "assistant", call)
        await add(conversation, "tool", ToolResultPart(call.call_id, "read_file", lines(words)))
    assert not fits(conversation)
    ended = (await collected(conversation.compression.run("overflow")))[-1]
    assert isinstance(ended, ContextCompressed) and fits(conversation)
    taken = conversation.context().budget.parts.checkpoints
    assert taken >= LIMIT * 0.08
    await conversation.close()
