"""What was run is found on the search screen, and opened where it was run."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from ollm_tui.core.provider import TextDelta
from ollm_tui.core.session.message import Retrieval
from ollm_tui.core.session.session import ToolCall, ToolResult
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.store_layout import StoreLayout
from tests.tui.conftest import OpenApp
from tests.tui.jobs_desk import jobs, run_through
from tests.tui.search_desk import Desk, desk
from tests.tui.search_samples import full_id, samples
from tests.tui.seen import chat, prompt, send, stream

JOB = f"job-{full_id(0)}-1"
LONG = "\n".join(["zebrafish", *(f"line {number}" for number in range(40))])


def ran(call_id: str, printed: str, at: str, tool: str = "exec") -> ToolCall:
    result = ToolResult(f"{printed}\n[exit 0 · 3 ms]")
    return ToolCall(call_id, tool, {"code": "ls aquarium"}, result, at)


BETWEEN, BEFORE = "2025-10-14T14:06:30.000000Z", "2025-10-14T13:00:00.000000Z"


@asynccontextmanager
async def on_commands(
    open_app: OpenApp, home: Path, calls: Sequence[ToolCall]
) -> AsyncGenerator[Desk]:
    """The samples; in the session about the uploader something was run."""
    async with open_app([[TextDelta("Yes.")]], size=(120, 40)) as (app, pilot):
        library = SessionLibrary.at(StoreLayout(home / "sessions"))
        first, *others = samples()
        for session in (replace(first, tool_calls=tuple(calls)), *others):
            library.add(session)
        library.close()
        yield Desk(app, pilot)


async def test_a_command_is_found_and_opened_where_it_was_run(
    open_app: OpenApp, home: Path
) -> None:
    async with on_commands(open_app, home, [ran(JOB, LONG, BETWEEN)]) as at:
        await at.search("zebrafish")
        assert at.hits == [JOB]
        assert "tool" in at.lines[1] and "zebrafish" in at.lines[1]
        assert at.stream.cursor.key == JOB
        shown = [key for key in at.stream.keys if key != JOB]
        assert list(at.stream.keys).index(JOB) == shown.index("s0m1") + 1
        await at.press("enter")
        here = chat(at.app)
        assert here.chat.conversation.session_id == full_id(0)
        assert here.transcript.cursor.key == JOB
        assert here.transcript.finder.position[1] == 1


async def test_what_the_stream_does_not_show_is_opened_at_what_was_said_before(
    open_app: OpenApp, home: Path
) -> None:
    calls = [ran("call-7", "zebrafish", BETWEEN, "read_file")]
    async with on_commands(open_app, home, calls) as at:
        await at.search("zebrafish")
        assert at.hits == ["call-7"]
        assert at.stream.cursor.key == "s0m1"
        await at.press("enter")
        assert chat(at.app).transcript.cursor.key == "s0m1"


@pytest.mark.more
async def test_a_command_is_quoted_copied_and_forked_from(open_app: OpenApp, home: Path) -> None:
    async with on_commands(open_app, home, [ran(JOB, "zebrafish", BETWEEN)]) as at:
        await at.search("zebrafish")
        await at.press("down", "y")
        assert at.app.clipboard.startswith("! ls aquarium\nzebrafish")  # pyright: ignore[reportUnknownMemberType] Textual leaves it open
        await at.press("q", "f")
        assert at.is_chat
        assert at.said == ["s0m0", "s0m1"]
        assert JOB in chat(at.app).transcript.keys
        await at.search("zebrafish")
        await at.press("down", "q", "escape")
        assert "[earlier message 1" in prompt(at.app).text
        await send(at.app, at.pilot, " what is this?")
        question = chat(at.app).chat.conversation.state.branch()[-2]
        [quoted] = [part for part in question.parts if isinstance(part, Retrieval)]
        assert quoted.text.startswith("! ls aquarium\nzebrafish")


@pytest.mark.more
async def test_before_the_first_message_there_is_nothing_to_go_back_to(
    open_app: OpenApp, home: Path
) -> None:
    async with on_commands(open_app, home, [ran(JOB, "zebrafish", BEFORE)]) as at:
        await at.search("zebrafish")
        await at.press("down", "r")
        assert "Nothing before that message" in at.keys
        await at.press("enter")
        assert chat(at.app).transcript.cursor.key == JOB


async def test_a_command_that_was_just_run_is_found(open_app: OpenApp, home: Path) -> None:
    async with desk(open_app, home) as at:
        await run_through(at.app, at.pilot, "echo zebrafish")
        key = jobs(at.app)[0].id
        await at.search("zebrafish")
        assert at.hits == [key]
        await at.press("enter")
        assert chat(at.app).transcript.cursor.key == key
        assert any("zebrafish" in line for line in stream(at.app))
