"""Keeping drafts: soon, together, and for the session they belong to."""

from __future__ import annotations

import asyncio
from pathlib import Path

from ollm_tui.services.sessions.prompt_memory import PromptMemory
from ollm_tui.tui.chat.drafts import DraftStore


def memory(home: Path) -> PromptMemory:
    return PromptMemory(home, Path("/project"))


async def test_the_last_of_many_changes_is_written_by_itself(home: Path) -> None:
    keeper = DraftStore(memory(home), "s1")
    for text in ("a", "ab", "abc"):
        keeper.note(text)
    while memory(home).draft("s1") != "abc":
        await asyncio.sleep(0.05)


async def test_flushing_writes_at_once(home: Path) -> None:
    keeper = DraftStore(memory(home))
    keeper.note("words")
    await keeper.flush()
    assert memory(home).draft(None) == "words"
    keeper.note("")
    await keeper.flush()
    assert memory(home).draft(None) == ""
    await keeper.flush()


async def test_nothing_runs_while_nothing_changes(home: Path) -> None:
    keeper = DraftStore(memory(home), "s1")
    keeper.note("words")
    await keeper.flush()
    file = home / "drafts" / "s1"
    written = file.stat().st_ino
    keeper.note("words")
    await keeper.flush()
    assert file.stat().st_ino == written
    assert len(asyncio.all_tasks()) == 1


async def test_each_session_has_its_own_draft(home: Path) -> None:
    keeper = DraftStore(memory(home), "s1")
    keeper.note("for one")
    assert keeper.switch_to("s2") == ""
    keeper.note("for two")
    assert keeper.switch_to("s1") == "for one"
    await keeper.flush()
    assert (memory(home).draft("s1"), memory(home).draft("s2")) == ("for one", "for two")
    assert keeper.switch_to("s2") == "for two"
