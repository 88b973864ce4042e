"""/recall: passages to choose from, chips in the prompt, parts of the next message."""

from __future__ import annotations

from pathlib import Path

import pytest

from ollm_tui.core.provider import TextDelta
from ollm_tui.core.session.message import Retrieval
from ollm_tui.settings.schema import Search, Settings
from ollm_tui.tui.kit.choice_list import ChoiceList
from ollm_tui.tui.search.commands import PassagePicker
from tests.tui.conftest import OpenApp
from tests.tui.dialog_host import shown
from tests.tui.search_desk import Desk, desk
from tests.tui.search_samples import full_id
from tests.tui.seen import chat, prompt, send, state, stream


def picker(at: Desk) -> PassagePicker:
    assert isinstance(at.app.screen, PassagePicker)
    return at.app.screen


async def recall(at: Desk, words: str) -> None:
    await send(at.app, at.pilot, f"/recall {words}")
    await at.settle()


async def test_a_passage_is_chosen_by_where_it_is_from_and_goes_along(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home, script=[[TextDelta("Yes.")]]) as at:
        await recall(at, "upload job 503")
        assert "retry logic for the…" in shown(at.app) and "≈" in shown(at.app)
        await at.press("enter")
        assert at.is_chat and chat(at.app).focused is prompt(at.app)
        assert "[earlier message 1" in prompt(at.app).text
        await send(at.app, at.pilot, " go on from there")
        question = chat(at.app).chat.conversation.state.branch()[-2]
        [brought] = [part for part in question.parts if isinstance(part, Retrieval)]
        assert (brought.session_id, brought.message_id) == (full_id(0), "s0m0")
        assert any("from an earlier session" in line for line in stream(at.app))


async def test_several_passages_are_marked_and_taken(open_app: OpenApp, home: Path) -> None:
    async with desk(open_app, home) as at:
        await recall(at, "retries")
        assert "marked" not in shown(at.app)
        await at.press("tab", "tab")
        assert "2 marked, ≈" in shown(at.app)
        await at.press("enter")
        pieces = prompt(at.app).written.attachments
        assert [piece.name for piece in pieces] == ["earlier message 1", "earlier message 2"]


async def test_more_than_the_budget_is_refused_in_words(open_app: OpenApp, home: Path) -> None:
    settings = Settings(search=Search(retrieval_tokens=3))
    async with desk(open_app, home, settings=settings) as at:
        await recall(at, "retries")
        await at.press("enter")
        assert picker(at).is_current
        assert "tokens (search.retrievalTokens)" in shown(at.app)


@pytest.mark.more
async def test_without_words_or_without_hits_it_says_so(open_app: OpenApp, home: Path) -> None:
    async with desk(open_app, home) as at:
        await send(at.app, at.pilot, "/recall")
        assert "Recall what?" in state(at.app)
        await send(at.app, at.pilot, "/recall zebras")
        await at.settle()
        assert "No matches in other sessions" in state(at.app)


async def test_what_goes_along_by_itself_is_seen_in_the_stream(
    open_app: OpenApp, home: Path
) -> None:
    settings = Settings(search=Search(retrieval=True))
    script = [[TextDelta("Yes.")]]
    async with desk(open_app, home, script=script, settings=settings) as at:
        await send(at.app, at.pilot, "how should the upload job back off on 503")
        await at.settle()
        assert any("from an earlier session" in line for line in stream(at.app))


async def test_what_came_along_has_a_line_of_its_own_in_the_breakdown(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home, script=[[TextDelta("Yes.")]]) as at:
        await recall(at, "retries")
        await at.press("tab", "tab", "enter")
        await send(at.app, at.pilot, " go on from there")
        await at.settle()
        await at.press("f5", "o")
        await at.settle()
        # Afterwards: the breakdown counts what was only estimated before.
        view = chat(at.app).chat.conversation.context()
        [asked] = [item for item in view.items if item.recalled]
        assert asked.recalled and 0 < asked.recalled.tokens.tokens < asked.tokens.tokens
        found = at.app.screen.query_one(ChoiceList)
        lines = [" ".join(found.render_line(y).text.split()) for y in range(found.size.height)]
        [brought] = [line for line in lines if "2 passages from earlier sessions" in line]
        assert "recalled" in brought and str(asked.recalled.tokens) in brought
        [words] = [line for line in lines if "go on from there" in line]
        assert f"{asked.tokens.tokens - asked.recalled.tokens.tokens:,} " in words


@pytest.mark.more
async def test_a_line_of_what_came_along_is_changed_with_its_message(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home, script=[[TextDelta("Yes.")]]) as at:
        await recall(at, "upload job 503")
        await at.press("enter")
        await send(at.app, at.pilot, " go on from there")
        await at.settle()
        await at.press("f5", "o")
        found = at.app.screen.query_one(ChoiceList)
        while not (found.highlighted and found.highlighted.key.endswith(":recalled")):
            await at.press("down")
        await at.press("x", "x")
        await at.settle()
        view = chat(at.app).chat.conversation.context()
        [asked] = [item for item in view.items if "go on from there" in item.title]
        assert (asked.mark, asked.tokens.tokens, asked.recalled) == ("excluded", 0, None)


async def test_passages_of_files_are_chosen_and_go_along_as_data(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home, script=[[TextDelta("Yes.")]]) as at:
        root = at.app.workspace.project.root
        (root / "notes.md").write_text("# Uploads\n\nThe quokka decides how often it is tried.\n")
        await recall(at, "--files which quokkas decide")
        assert "notes.md:1-3 · ≈" in shown(at.app), "what it costs"
        found = picker(at).choice_list
        # The words that were typed are in a file here as well: the draft of the prompt.
        while not (found.highlighted and "notes.md" in found.highlighted.note):
            await at.press("down")
        await at.press("enter")
        await send(at.app, at.pilot, " go on from there")
        await at.settle()
        question = chat(at.app).chat.conversation.state.branch()[-2]
        [brought] = [part for part in question.parts if isinstance(part, Retrieval)]
        assert (brought.source, brought.trusted) == ("notes.md:1-3", False)
        assert any("from notes.md:1-3" in line for line in stream(at.app))


@pytest.mark.more
async def test_passages_of_files_are_offered_after_an_at_and_a_question_mark(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home) as at:
        root = at.app.workspace.project.root
        (root / "notes.md").write_text("# Uploads\n\nThe quokka decides how often it is tried.\n")
        await at.press(*"@?quokka")
        await at.settle()
        await at.press("enter")
        await at.settle()
        [piece] = prompt(at.app).written.attachments
        assert piece.name == "notes.md:1-3"
