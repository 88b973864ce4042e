"""What a project and others bring, for pictures: tasks, MCP servers, a mode that is suggested."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from msgspec.structs import replace
from textual.pilot import Pilot

from ollm_tui.engine.project.pinned_task import PinnedTask
from ollm_tui.engine.tools.conversation_tools import ToolKit
from ollm_tui.services.mcp.mcp_servers import McpServers
from ollm_tui.services.redaction.redactor import Redactor
from ollm_tui.services.safety.project_trust import Trust
from ollm_tui.services.tasks.project_tasks import ProjectTasks
from ollm_tui.settings.schema import McpServer
from ollm_tui.tui.chat.trust_question import TrustQuestion
from ollm_tui.tui.kit.picker import Picker
from ollm_tui.tui.mcp.screen import McpScreen
from tests.conftest import REPOSITORY
from tests.snapshots.stage import StagedApp, new_session, say, scene, until
from tests.tui.seen import chat
from tests.tui.tool_desk import DIFF, FakePolicy, editor, reader, says

TASKS = """\
sections: [{id: up, name: Uploads}, {id: docs, name: Documents}]
tasks:
  - {id: t1, title: Retry with back-off, section: up, status: in_progress, source: docs/spec.md}
  - {id: t2, title: Show the progress, section: up, status: completed}
  - {id: t3, title: Tell how often it is tried, section: docs, status: pending}
"""


@scene(new_session())
async def tasks(app: StagedApp, pilot: Pilot[int]) -> None:
    """The tasks of the project, to choose one."""
    folder = Path(app.cleanup.enter_context(TemporaryDirectory()))
    (folder / ".ollm").mkdir()
    (folder / ".ollm" / "tasks.yaml").write_text(TASKS)
    app.workspace.task = PinnedTask(ProjectTasks(folder))
    await say(app, pilot, "/task")
    await until(pilot, lambda: isinstance(app.screen, Picker))


@scene(new_session())
async def servers(app: StagedApp, pilot: Pilot[int]) -> None:
    """MCP servers, one of which does not start, and what their tools cost."""
    path = {"PYTHONPATH": str(REPOSITORY)}
    stand_in = McpServer(
        command=sys.executable,
        args=("-m", "tests.stand_ins.mcp_stand_in"),
        env=path,
        tools=("add", "write", "much"),
        timeout_seconds=600,
    )
    entries = {"tracker": stand_in, "broken": McpServer(command="/nowhere/server")}
    app.workspace.additions.mcp = McpServers(entries, {}, {}, Path.cwd(), Trust(None))
    tools = chat(app).chat.conversation.tools
    tools.further = app.workspace.additions
    toolkit = ToolKit((reader(), editor()), cast(Any, FakePolicy()), Redactor(), None, "")

    async def make(*_: object) -> ToolKit:
        return toolkit

    tools.make_toolkit = make
    await say(app, pilot, "/mcp")
    await until(pilot, lambda: isinstance(app.screen, McpScreen))
    await app.workspace.additions.ready()
    await tools.ready()
    await pilot.press("down")


@scene(new_session([says("The delay has a cap now, and no jitter.")]))
async def suggestion(app: StagedApp, pilot: Pilot[int]) -> None:
    """A mode that fits the diff that was sent."""
    settings = app.workspace.settings
    app.workspace.settings = replace(settings, ui=replace(settings.ui, suggest_modes=True))
    await say(app, pilot, DIFF)
    await until(pilot, lambda: any(bar.display for bar in chat(app).query(TrustQuestion)))
