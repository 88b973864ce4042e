"""/context add, remove, list, refresh and clear: what is in every prompt."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.tui.app import OllmApp
from ollm_tui.tui.kit.choice_list import ChoiceList
from ollm_tui.tui.kit.picker import Picker
from tests.tui.conftest import OpenApp
from tests.tui.seen import prompt, settled, state


async def slash(app: OllmApp, pilot: Pilot[int], text: str) -> None:
    prompt(app).put(text)
    await pilot.press("enter")
    await settled(app, pilot)


def conversation(app: OllmApp) -> Conversation:
    assert app.conversation
    return app.conversation


async def test_words_are_added_listed_and_removed(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await slash(app, pilot, "/context add style Use  short\nsentences.")
        assert "style, “Use short sentences.” added to every prompt: ≈" in state(app)
        [entry] = conversation(app).notes.all
        assert entry.content == "Use  short\nsentences." and entry.is_users_own
        await slash(app, pilot, "/context list")
        assert isinstance(app.screen, Picker)
        await pilot.press("enter")
        await pilot.pause()
        assert prompt(app).text == "/context remove style"
        await pilot.press("enter")
        await settled(app, pilot)
        assert conversation(app).notes.all == () and "removed from the prompt" in state(app)
        await slash(app, pilot, "/context remove style")
        assert "No context entry 'style'" in state(app)


async def test_a_file_is_added_as_data_and_read_again_on_refresh(
    open_app: OpenApp, home: Path
) -> None:
    home.mkdir(parents=True)
    async with open_app() as (app, pilot):
        file = home / "my api.md"
        file.write_text("GET /old")
        await slash(app, pilot, '/context add api @"my api.md"')
        [entry] = conversation(app).notes.all
        assert (entry.content, entry.origin) == ("GET /old", "file:my api.md")
        assert not entry.is_users_own
        await slash(app, pilot, '/context add @"my api.md"')
        assert [each.key for each in conversation(app).notes.all] == ["api", "my api.md"]
        await slash(app, pilot, "/context remove my api.md")
        file.write_text("GET /new")
        await slash(app, pilot, "/context refresh")
        assert "Reloaded 1" in state(app)
        assert "GET /new" in conversation(app).prompt_text()


async def test_the_tree_is_added_and_everything_cleared(open_app: OpenApp, home: Path) -> None:
    home.mkdir(parents=True)
    async with open_app() as (app, pilot):
        (home / "main.py").write_text("")
        await slash(app, pilot, "/context add tree")
        assert "main.py" in conversation(app).notes.all[0].content
        await slash(app, pilot, "/context add git")
        assert "Not a git repository" in state(app)
        await slash(app, pilot, "/context clear")
        assert conversation(app).notes.all == () and "1 entry removed" in state(app)


@pytest.mark.more
async def test_what_cannot_be_added_says_how_it_is_done(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await slash(app, pilot, "/context add style")
        assert "add NAME @FILE" in state(app)
        await slash(app, pilot, "/context add api @missing.md")
        assert "No file missing.md" in state(app)
        await slash(app, pilot, "/context list")
        page = app.screen.query_one(ChoiceList)
        seen = " ".join(page.render_line(y).text.strip() for y in range(page.size.height))
        assert "Nothing added yet." in seen
