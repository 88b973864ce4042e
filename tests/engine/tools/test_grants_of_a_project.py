"""What was answered for a project is known in a session before anything is said in it."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from ollm_tui.core.tool import Action, Decision
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.engine.jobs.session_jobs import SessionJobs
from ollm_tui.engine.tools.policy import Policy
from ollm_tui.engine.tools.tool_setup import ToolSetup
from ollm_tui.providers.scripted import Scripted
from ollm_tui.services.jobs.job_registry import JobRegistry
from ollm_tui.services.safety.grants import Grants
from ollm_tui.settings.schema import Settings, Tools
from ollm_tui.storage.files.cipher import Plain
from ollm_tui.storage.store_layout import StoreLayout
from tests.engine.conftest import workspace_on

MAKE = Action("run", "run", "make", language="shell")
DEPLOY = Action("run", "run", "make deploy", language="shell")


@asynccontextmanager
async def opened(home: Path, project: Path) -> AsyncGenerator[Conversation]:
    """A session in a project, with nothing said in it."""
    workspace = workspace_on(home, Scripted([]), Settings())
    jobs = SessionJobs(JobRegistry({"PATH": os.environ["PATH"]}, None), project, {})
    workspace.tool_setup = ToolSetup(
        settings=Settings(),
        project=project,
        home=home,
        layout=StoreLayout(home / "sessions"),
        cipher=Plain(),
        environ=os.environ,
        open_jobs=lambda: jobs,
    )
    conversation = await workspace.begin()
    yield conversation
    await jobs.close()
    await conversation.close()
    await workspace.close()


async def test_answers_of_earlier_sessions_are_listed_and_cleared_before_the_first_message(
    home: Path, tmp_path: Path
) -> None:
    project = tmp_path / "code"
    project.mkdir()
    home.mkdir(exist_ok=True)
    rules = Policy(Tools(), project, Grants(home, project))
    for action, decision in (
        (MAKE, Decision("always", "project")),
        (DEPLOY, Decision("never", "project")),
    ):
        rules.remember("exec", action, rules.judge("exec", action, "ask"), decision)
    async with opened(home, project) as conversation:
        assert conversation.tools.offered == ()
        found = {(each.answer, each.scope) for each in await conversation.tools.grants()}
        assert found == {("never", "project"), ("always", "project")}
        assert conversation.tools.sandbox_words
        assert conversation.tools.offered == (), "looking at it offers nothing"
        assert await conversation.tools.clear_grants() == 2
    assert Grants(home, project).list() == []
