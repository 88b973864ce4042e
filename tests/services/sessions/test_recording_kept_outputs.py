"""retention.storeToolOutputs: what tools and commands print stays off the disk where wanted."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ollm_tui.core import clock
from ollm_tui.core.session.message import Message, ToolResultPart
from ollm_tui.core.session.record import AnyRecord, Created, MessageAdded, ToolCallAdded
from ollm_tui.core.session.session import ToolCall, ToolResult
from ollm_tui.services.sessions.recording import NOT_KEPT, Recording
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.store_layout import StoreLayout
from tests.crash.samples import empty_session

AT = clock.now()
GIVEN = "first\n[… 1 line, 9 characters cut here …]\nlast"


def command(result: str, number: int = 1) -> ToolCallAdded:
    code = {"code": "cat aquarium"}
    call = ToolCall(f"job-one-{number}", "exec", code, ToolResult(result), AT)
    return ToolCallAdded(at=AT, tool_call=call)


def tool() -> list[AnyRecord]:
    """What the model was given is in a message, the whole in the record of the call."""
    answer = Message("answer", "tool", (ToolResultPart("c", "list", GIVEN),), AT)
    call = ToolCall("c", "list", {}, ToolResult(GIVEN, "first\nzebrafish\nlast"), AT)
    return [MessageAdded(at=AT, message=answer), ToolCallAdded(at=AT, tool_call=call)]


async def record(home: Path, *records: AnyRecord, keeps_outputs: bool, fold: bool) -> str:
    """Everything that is on disk afterwards."""
    library = SessionLibrary.at(StoreLayout(home / "sessions"))
    recording = Recording(library.store, library.index, keeps_outputs=keeps_outputs)
    recorder = recording.create(empty_session("one"))
    await recorder.record(Created(at=AT, session=empty_session("one")), *records)
    if fold:
        await recorder.save()
    files = [path for path in home.rglob("*") if path.is_file()]
    text = "".join(path.read_text("utf-8", "replace") for path in files)
    await recorder.close()
    await recording.close()
    return text


@pytest.mark.parametrize("fold", (False, True))
def test_nothing_but_what_the_model_was_given_is_on_disk(tmp_path: Path, fold: bool) -> None:
    records = (*tool(), command("guppy\n[exit 0 · 3 ms]"))
    kept = asyncio.run(record(tmp_path / "a", *records, keeps_outputs=True, fold=fold))
    assert "zebrafish" in kept and "guppy" in kept
    text = asyncio.run(record(tmp_path / "b", *records, keeps_outputs=False, fold=fold))
    assert "zebrafish" not in text and "guppy" not in text
    assert "cat aquarium" in text and "characters cut here" in text


async def test_a_command_says_that_its_output_was_not_kept_and_how_it_ended(
    tmp_path: Path,
) -> None:
    ends = "guppy\nshark\n[exit 1 · 3 ms]", "[exit 0 · 1 ms]", "guppy", "guppy\nshark"
    commands = [command(result, number) for number, result in enumerate(ends)]
    await record(tmp_path, *commands, keeps_outputs=False, fold=True)
    state = SessionLibrary.at(StoreLayout(tmp_path / "sessions")).load("one").state
    assert [call.result.llm_content for call in state.tool_calls] == [
        f"{NOT_KEPT}\n[exit 1 · 3 ms]",
        "[exit 0 · 1 ms]",
        NOT_KEPT,
        NOT_KEPT,
    ]
    assert all(call.args == {"code": "cat aquarium"} for call in state.tool_calls)
