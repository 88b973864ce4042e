"""retention.storeToolOutputs: false: outputs are in memory as before, and never on disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.loop import LoopRecord
from ollm_tui.core.session.compression import CompressedContext
from ollm_tui.core.session.encoding import to_tree
from ollm_tui.core.session.message import Attachment, Message, Text, ToolResultPart
from ollm_tui.core.session.record import (
    AnyRecord,
    Compressed,
    Created,
    MessageAdded,
    MetadataChanged,
    SessionChanged,
    ToolCallAdded,
)
from ollm_tui.core.session.session import Metadata, ToolCall, ToolResult
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.core.snapshot import snapshot_of
from ollm_tui.core.unkept_outputs import note_of
from ollm_tui.services.sessions.recording import Recorder, Recording
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.services.snapshots.restore_plan import restoration
from ollm_tui.services.snapshots.snapshot_library import SnapshotLibrary
from ollm_tui.storage.store_layout import StoreLayout
from tests.crash.samples import empty_session
from tests.folders import everything_in
from tests.snapshot_samples import compression

AT = clock.now()
GIVEN = "guppy\n[… 1 line, 9 characters cut here …]\nguppy"
WHOLE = "guppy\nzebrafish\nguppy"


def answer(name: str = "answer") -> Message:
    picture = Attachment("fish.png", "image/png", "Z3VwcHk")
    return Message(name, "tool", (ToolResultPart("c", "list", GIVEN), picture), AT)


def everything_with_outputs() -> list[AnyRecord]:
    """Every kind of record that may carry an output of a tool or a command."""
    loop = LoopRecord(
        AT, "repeated-output", 'called x and got the same answer, "guppy",', 3, "stop"
    )
    call = ToolCall("c", "list", {"in": "aquarium"}, ToolResult(GIVEN, WHOLE), AT)
    command = ToolCall("job-one-1", "exec", {"code": "fish"}, ToolResult("guppy\n[exit 1]"), AT)
    cut = replace(compression(CompressedContext()), elisions={"answer": "guppy"})
    return [
        MessageAdded(at=AT, message=answer()),
        ToolCallAdded(at=AT, tool_call=call),
        ToolCallAdded(at=AT, tool_call=command),
        MetadataChanged(at=AT, fields={"loops": to_tree(Metadata(loops=(loop,)))["loops"]}),
        SessionChanged(at=AT, fields={"messages": [to_tree(answer("other"))]}),
        Compressed(at=AT, compression=cut),
    ]


async def begin(library: SessionLibrary) -> tuple[Recording, Recorder]:
    recording = Recording(library.store, library.index)
    recorder = recording.create(empty_session("one"))
    created = Created(at=AT, session=empty_session("one"))
    await recorder.record(created, *everything_with_outputs())
    return recording, recorder


def library_at(home: Path) -> SessionLibrary:
    return SessionLibrary.at(StoreLayout(home / "sessions"), keeps_outputs=False)


def outputs_in(data: bytes) -> list[str]:
    return [word for word in ("guppy", "zebrafish", "Z3VwcHk") if word.encode() in data]


@pytest.mark.parametrize("fold", (False, True))
async def test_no_output_is_on_disk_in_any_record_and_all_are_in_memory(
    tmp_path: Path, fold: bool
) -> None:
    library = library_at(tmp_path)
    recording, recorder = await begin(library)
    if fold:
        await recorder.save()
    assert outputs_in(everything_in(tmp_path)) == []
    assert recorder.state["answer"] == answer()
    assert recorder.state.tool_calls[0].result == ToolResult(GIVEN, WHOLE)
    assert recorder.state.header.metadata.compression_history[0].elisions == {"answer": "guppy"}
    await recorder.close()
    await recording.close()
    found = library.load("one").state
    assert found["answer"].parts[0] == ToolResultPart("c", "list", note_of(GIVEN))
    assert isinstance(found["answer"].parts[1], Text)
    assert found.tool_calls[0].args == {"in": "aquarium"}
    assert found.tool_calls[0].result.size == len(WHOLE)
    assert found.tool_calls[1].result.llm_content.endswith("…]\n[exit 1]")


async def test_a_snapshot_has_no_outputs_and_restoring_it_live_brings_them_back(
    tmp_path: Path,
) -> None:
    library = library_at(tmp_path)
    recording, recorder = await begin(library)
    snapshots = SnapshotLibrary.beside(library.store)
    taken = snapshots.create(snapshot_of(recorder.state, 10, reason="manual"), 5).summary
    assert outputs_in(everything_in(tmp_path)) == []
    stored = snapshots.get("one", taken.id, recorder.state)
    assert restoration(stored, recorder.state).missing == ()
    await recorder.close()
    await recording.close()


async def test_a_session_that_is_stored_again_keeps_its_notes(tmp_path: Path) -> None:
    library = library_at(tmp_path)
    recording, recorder = await begin(library)
    await recorder.close()
    await recording.close()
    before = library.load("one").state.session()
    library.change("one", title="another")
    after = library.load("one").state.session()
    assert (after.messages, after.tool_calls) == (before.messages, before.tool_calls)


async def test_our_own_words_about_a_call_are_kept(tmp_path: Path) -> None:
    library = library_at(tmp_path)
    words = "the user refused this"
    refused = Message("no", "tool", (ToolResultPart("c", "x", words, trusted=True),), AT)
    call = ToolCall("c", "x", {}, ToolResult(words, trusted=True), AT)
    library.add(SessionState(empty_session("two")).session())
    library.record(
        "two",
        lambda _: [MessageAdded(at=AT, message=refused), ToolCallAdded(at=AT, tool_call=call)],
    )
    state = library.load("two").state
    assert state["no"] == refused and state.tool_calls == [call]


async def test_what_only_the_user_was_shown_is_not_kept_either(tmp_path: Path) -> None:
    library = library_at(tmp_path)
    call = ToolCall("c", "list", {}, ToolResult("", WHOLE), AT)
    library.add(SessionState(empty_session("two")).session())
    library.record("two", lambda _: [ToolCallAdded(at=AT, tool_call=call)])
    assert outputs_in(everything_in(tmp_path)) == []
    assert library.load("two").state.tool_calls[0].result.size == len(WHOLE)


@pytest.mark.parametrize(
    ("output", "note"),
    (
        ("[exit 0 · 1 ms]", "[exit 0 · 1 ms]"),
        ("", ""),
        ("x" * 3100, "[output not kept: 3.1 kB, sha256:"),
        (
            "one\n[exit 1 · 3 ms · noted]",
            "[output not kept: 3 bytes, sha256:7692c3ad3540…]\n[exit 1 · 3 ms]",
        ),
        ("one\n[not ours]", "[output not kept: 14 bytes, sha256:"),
        ('["guppy", "tetra"]', "[output not kept: 18 bytes, sha256:"),
        ("[output not kept: a guppy]", "[output not kept: 26 bytes, sha256:"),
    ),
)
def test_a_note_has_the_size_the_hash_and_how_a_command_ended(output: str, note: str) -> None:
    assert note_of(output).startswith(note)
    assert note_of(note_of(output)) == note_of(output)
