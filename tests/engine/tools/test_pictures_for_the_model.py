"""A picture that a tool reads is looked at by the model, if it can."""

from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest

from ollm_tui.core.provider import Capabilities, TextDelta, ToolCallArrived
from ollm_tui.core.session.message import Attachment, ToolCallPart, ToolResultPart
from ollm_tui.engine.jobs.session_jobs import SessionJobs
from ollm_tui.engine.tools.tool_setup import ToolSetup
from ollm_tui.providers.scripted import Scripted
from ollm_tui.services.jobs.job_registry import JobRegistry
from ollm_tui.settings.schema import Settings
from ollm_tui.storage.files.cipher import Plain
from ollm_tui.storage.store_layout import StoreLayout
from tests.engine.conftest import workspace_on

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


class Seeing(Scripted):
    """A model of which one knows whether it sees."""

    images: bool | None = True

    async def capabilities(self, model: str) -> Capabilities:
        return Capabilities(tools=True, window=8192, max_window=8192, images=self.images)


@pytest.mark.parametrize("images", (True, False, None))
async def test_a_picture_goes_to_a_model_that_sees_and_to_no_other(
    home: Path, images: bool | None
) -> None:
    project = Path.cwd()
    (project / "a.png").write_bytes(PNG)
    asked = ToolCallPart("c", "read_file", {"path": "a.png"})
    model = Seeing([[ToolCallArrived(asked)], [TextDelta("A dot.")]])
    model.images = images
    workspace = workspace_on(home, model, Settings())
    environment = {"PATH": os.environ["PATH"]}
    jobs = SessionJobs(JobRegistry(environment, None), project, {})
    workspace.tool_setup = ToolSetup(
        settings=Settings(),
        project=project,
        home=None,
        layout=StoreLayout(home / "sessions"),
        cipher=Plain(),
        environ=environment,
        open_jobs=lambda: jobs,
    )
    conversation = await workspace.begin()
    async for _ in conversation.send("What is on a.png?"):
        pass
    sent = [image.media_type for message in model.requests[-1].messages for image in message.images]
    [result] = [
        part
        for message in conversation.state.branch()
        for part in message.parts
        if isinstance(part, ToolResultPart)
    ]
    assert sent == (["image/png"] if images else [])
    assert result.is_error is not bool(images)
    await jobs.close()
    await conversation.close()
    await workspace.close()


async def test_a_conversation_with_pictures_goes_on_with_a_model_that_sees_none(
    home: Path,
) -> None:
    model = Seeing([[TextDelta("A dot.")], [TextDelta("Yes.")], [TextDelta("Fine.")]])
    workspace = workspace_on(home, model, Settings())
    conversation = await workspace.begin()
    picture = Attachment("a.png", "image/png", base64.b64encode(PNG).decode())
    async for _ in conversation.send("What is this?", [picture]):
        pass
    await conversation.use(conversation.choice._replace(model="blind", images=False))
    async for _ in conversation.send("Sure?"):
        pass
    first, *_ = (m for m in model.requests[-1].messages if m.role == "user")
    assert not any(message.images for message in model.requests[-1].messages)
    assert first.text == "What is this?\n[1 picture left out: this model cannot look at pictures]"
    await conversation.use(conversation.choice._replace(model="scripted", images=True))
    async for _ in conversation.send("And now?"):
        pass
    assert any(message.images for message in model.requests[-1].messages), "nothing was lost"
    await conversation.close()
    await workspace.close()
