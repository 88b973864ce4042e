"""Events for outsiders: all of the seeds there, documented, heard, and hooks run at them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

from docs.generate import events_page
from ollm_tui.core.compression_events import CompressionFailed, CompressionSkipped
from ollm_tui.engine.project.outside_events import ALL_EVENTS
from ollm_tui.engine.project.workspace import Workspace
from ollm_tui.providers.scripted import Scripted
from ollm_tui.settings.schema import HookEvent
from tests.conftest import REPOSITORY
from tests.engine.conftest import OpenWorkspace
from tests.engine.context.test_context_entries import Desk, send
from tests.engine.project.test_instructions import DONE, says
from tests.engine.tools.test_tools_in_a_turn import Echo, call, collect, equipped

OF_THE_SEEDS = frozenset(
    "session-created message-recorded tool-call-recorded session-saved snapshot-created"
    " auto-snapshot-created snapshot-restored snapshot-deleted snapshot-error compressed"
    " compression-skipped compression-error checkpoint-created checkpoint-aged loop-paused".split()
)


WORDS = (REPOSITORY / "docs" / "guide.md").read_text(encoding="utf-8").split()
LONG = [says(" ".join(WORDS[number * 400 :][:400])) for number in range(7)]


def test_every_event_is_documented_and_hooks_can_run_at_those_of_the_seeds() -> None:
    page = (REPOSITORY / "docs" / "events.md").read_text(encoding="utf-8")
    assert page == events_page(), "make docs writes it"
    names = {str(each.__struct_config__.tag) for each in ALL_EVENTS}
    assert names >= OF_THE_SEEDS
    assert set(get_args(HookEvent)) >= OF_THE_SEEDS
    for name in names:
        assert f"\n| `{name}` | " in page


def heard_in(workspace: Workspace) -> list[dict[str, Any]]:
    heard: list[dict[str, Any]] = []
    workspace.events.subscribe(heard.append)
    return heard


def names(heard: list[dict[str, Any]]) -> set[str]:
    json.dumps(heard)  # it is plain JSON
    assert all(each["at"] for each in heard)
    return {each["event"] for each in heard}


async def test_a_turn_with_a_tool_and_a_loop_is_heard(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    script = Scripted([*[[call("echo", text="same"), DONE]] * 4, says("done")])
    conversation = await equipped(open_workspace, script, Echo(), home=home)
    heard: list[object] = []
    conversation.heard.subscribe(heard.append)
    conversation.tools.can_ask = False
    await collect(conversation)
    assert "LoopPaused" in {type(each).__name__ for each in heard}
    await conversation.close()


async def test_recording_snapshots_and_compressions_are_heard(
    open_workspace: OpenWorkspace,
) -> None:
    workspace = await open_workspace(LONG)
    heard = heard_in(workspace)
    conversation = await workspace.begin()
    for number in range(len(LONG)):
        await send(conversation, f"Question {number} about src/module_{number}.py?")
    snapshot = await conversation.snapshots.take("here")
    await conversation.snapshots.restore(await conversation.snapshots.get(snapshot.id))
    await workspace.snapshots.delete(conversation.session_id, snapshot.id)
    assert [event async for event in conversation.compression.run(strategy="truncate")]
    again = [event async for event in conversation.compression.run(strategy="truncate")]
    assert isinstance(again[-1], CompressionSkipped | CompressionFailed)
    await conversation.close()
    assert names(heard) >= {
        *("session-created", "message-recorded", "session-saved", "turn-started", "turn-finished"),
        *("snapshot-created", "auto-snapshot-created", "snapshot-restored", "snapshot-deleted"),
        *("compression-started", "compressed", "compression-skipped"),
    }
    assert "text" not in names(heard)


async def test_a_compression_that_fails_is_heard(open_workspace: OpenWorkspace) -> None:
    workspace = await open_workspace([*LONG, says(""), says("")])
    conversation = await workspace.begin()
    for number in range(len(LONG)):
        await send(conversation, f"Question {number} about src/module_{number}.py?")
    heard = heard_in(workspace)
    events = [event async for event in conversation.compression.run(strategy="summarize")]
    assert isinstance(events[-1], CompressionFailed)
    assert "compression-error" in names(heard)
    await conversation.close()


async def test_hooks_run_at_events_in_order_and_what_they_print_is_not_used(home: Path) -> None:
    code = "cat >> heard; echo not for the prompt"
    desk = Desk(home, {"session-created": code, "message-recorded": code, "session-saved": code})
    conversation = await desk.workspace.begin()
    await send(conversation)
    await send(conversation, "more")
    await conversation.close()
    await desk.workspace.close()
    lines = (desk.project / "heard").read_text().splitlines()
    heard = [json.loads(line) for line in lines]
    assert [each["event"] for each in heard][:2] == ["session-created", "message-recorded"]
    assert heard[-1]["event"] == "session-saved"
    assert {each["sessionId"] for each in heard} == {conversation.session_id}
    assert "not for the prompt" not in str(desk.said_to_the_model())
    assert desk.told == []
