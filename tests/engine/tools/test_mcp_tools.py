"""A model that uses tools of an MCP server: asked about, recorded, redacted, bounded in number."""

from __future__ import annotations

import sys
from pathlib import Path

from ollm_tui.core.provider import TextDelta
from ollm_tui.core.tool import Decision
from ollm_tui.core.tool_events import ApprovalRequested, ToolFinished
from ollm_tui.engine.project.additions import Additions
from ollm_tui.engine.tools.tool_selection import ToolSelection
from ollm_tui.providers.scripted import Scripted
from ollm_tui.services.mcp.mcp_servers import McpServers
from ollm_tui.services.safety.project_trust import Trust
from ollm_tui.settings.schema import McpServer, Settings, Tools
from tests.conftest import REPOSITORY
from tests.engine.conftest import OpenWorkspace
from tests.engine.tools.test_tools_in_a_turn import SECRET, Echo, call, collect, equipped

ENTRY = McpServer(
    command=sys.executable,
    args=("-m", "tests.stand_ins.mcp_stand_in"),
    env={"PYTHONPATH": str(REPOSITORY)},
    timeout_seconds=600,
)


def with_servers(folder: Path, most: int = 10) -> Additions:
    """The stand-in as the server `tests`."""
    servers = McpServers({"tests": ENTRY}, {}, {}, folder, Trust(None))
    return Additions(ToolSelection(most), servers)


async def test_a_call_of_a_server_is_asked_about_run_recorded_and_redacted(
    open_workspace: OpenWorkspace, home: Path, tmp_path: Path
) -> None:
    note = tmp_path / "note.txt"
    script = Scripted(
        [
            [call("tests__write", path=str(note), text=SECRET)],
            [call("tests.write", path=f"{note}2 {SECRET}", text="no")],
            [TextDelta("Written.")],
        ]
    )
    conversation = await equipped(open_workspace, script, Echo(), home=home)
    conversation.tools.further = additions = with_servers(tmp_path)
    events = await collect(conversation, "Go", Decision("yes"), Decision("no", words="not that"))
    asked = [event for event in events if isinstance(event, ApprovalRequested)]
    assert [event.call.name for event in asked] == ["tests.write", "tests.write"]
    assert SECRET in asked[0].action.subject, "what runs is what was shown"
    assert note.read_text() == SECRET
    results = [event.result for event in events if isinstance(event, ToolFinished)]
    assert "wrote" in results[0].content and not results[0].trusted
    assert "not that" in results[1].content
    assert not list(tmp_path.glob("note.txt2*"))
    sent = script.requests[-1]
    assert {"echo", "tests__add"} <= {tool.name for tool in sent.tools}
    assert all("." not in tool.name for tool in sent.tools)
    assert {each.name for message in sent.messages for each in message.tool_calls} == {
        "tests__write"
    }
    await additions.close()
    await conversation.close()


async def test_few_tools_are_offered_and_the_user_chooses_which(
    open_workspace: OpenWorkspace, home: Path, tmp_path: Path
) -> None:
    own = [Echo(f"own{number}") for number in range(9)]
    settings = Settings(tools=Tools(allowed=("own*", "tests.*")))
    conversation = await equipped(open_workspace, [], *own, home=home, settings=settings)
    conversation.tools.further = additions = with_servers(tmp_path)
    await conversation.tools.ready()
    offered = conversation.tools.offered
    assert len(offered) == 10
    assert offered[:5] == ("own0", "own1", "own2", "own3", "tests.add")
    additions.selection.switch("own0", on=False)
    additions.selection.switch("own8", on=True)
    assert await conversation.tools.ready()
    assert conversation.tools.offered[:2] == ("own8", "own1")
    assert "own0" not in conversation.tools.offered
    assert len(conversation.tools.known) > 10
    assert all(conversation.tools.cost(tool) > 0 for tool in conversation.tools.known)
    await additions.close()
    assert await conversation.tools.ready(), "a server that is gone takes its tools with it"
    assert not any(name.startswith("tests.") for name in conversation.tools.offered)
    await conversation.close()
