"""Prompt history: those of this project, then of others; Tab widens to everything ever said."""

from __future__ import annotations

from pathlib import Path

import pytest

from ollm_tui.services.sessions.prompt_memory import PromptMemory
from ollm_tui.tui.prompt.commands import PromptPicker
from ollm_tui.tui.prompt.words import ELSEWHERE
from tests.tui.conftest import OpenApp
from tests.tui.search_desk import Desk, desk
from tests.tui.seen import prompt


def lines(at: Desk) -> list[str]:
    picker = at.app.screen
    assert isinstance(picker, PromptPicker)
    found = picker.choice_list
    drawn = (found.render_line(y).text.strip() for y in range(found.size.height))
    return [line for line in drawn if line]


async def test_prompts_of_other_projects_come_below_those_of_this_one(
    open_app: OpenApp, home: Path
) -> None:
    PromptMemory(home, home.parent / "other").remember("from elsewhere")
    PromptMemory(home, home.parent / "other").remember("known here")
    async with desk(open_app, home) as at:
        at.app.memory.remember("known here")
        at.app.memory.remember("the last one")
        await at.press("ctrl+r")
        assert lines(at) == ["the last one", "known here", ELSEWHERE, "from elsewhere"]
        await at.type("elsew")
        await at.press("enter")
        assert prompt(at.app).text == "from elsewhere"


async def test_tab_looks_for_the_words_in_everything(open_app: OpenApp, home: Path) -> None:
    async with desk(open_app, home) as at:
        at.app.memory.remember("something")
        await at.press("ctrl+r")
        await at.type("jitter")
        await at.press("tab")
        assert at.screen.text == "jitter"
        assert at.hits == ["s0m1"]


@pytest.mark.more
async def test_without_any_it_teaches_and_still_widens(open_app: OpenApp, home: Path) -> None:
    async with desk(open_app, home) as at:
        await at.press("ctrl+r")
        assert lines(at)[0].startswith("No prompts yet.")
        await at.press("tab")
        assert "Type words or a question" in at.lines[0]
