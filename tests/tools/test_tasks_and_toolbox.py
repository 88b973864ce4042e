"""tasks, and all tools together: few, and short enough for a small window."""

from __future__ import annotations

import json
import re
from pathlib import Path

import msgspec
import pytest

from ollm_tui.core.errors import ToolError, UsageError
from ollm_tui.core.session import goals
from ollm_tui.core.session.goals import Goal, Subtask
from ollm_tui.core.tool import Tool
from ollm_tui.services.files.project_files import ProjectFiles
from ollm_tui.services.jobs.job_registry import JobRegistry
from ollm_tui.services.tokens.vocabulary_encoding import VocabularyEncoding
from ollm_tui.tools.tasks import Tasks
from ollm_tui.tools.toolbox import ToolEnvironment, toolbox
from tests.tools.conftest import SESSION, call

MOST_TOKENS = 900


class GoalBook:
    """Goals in memory, changed as those of a session are."""

    def __init__(self) -> None:
        self.all: tuple[Goal, ...] = ()

    @property
    def active(self) -> Goal | None:
        return goals.active_goal(self.all)

    async def set_goal(self, text: str) -> Goal:
        goal = Goal(id=text, text=text, created_at="now")
        self.all = goals.with_goal(self.all, goal)
        return goal

    async def complete_goal(self) -> None:
        self.all = goals.with_status(self.all, self._worked_on().id, "done")

    async def add_subtask(self, text: str) -> Subtask:
        goal = self._worked_on()
        step = Subtask(id=text, text=text)
        changed = msgspec.structs.replace(goal, subtasks=(*goal.subtasks, step))
        self.all = goals.changed(self.all, goal.id, lambda _: changed)
        return step

    async def finish_subtask(self, subtask_id: str, done: bool = True) -> None:
        goal = self._worked_on()
        steps = tuple(
            msgspec.structs.replace(step, done=done) if step.id == subtask_id else step
            for step in goal.subtasks
        )
        changed = msgspec.structs.replace(goal, subtasks=steps)
        self.all = goals.changed(self.all, goal.id, lambda _: changed)

    def _worked_on(self) -> Goal:
        if self.active is None:
            raise UsageError("no active goal", "/goal TEXT sets one")
        return self.active


async def test_a_goal_is_set_divided_and_reached() -> None:
    tasks = Tasks(GoalBook())
    assert (await call(tasks, action="list")).text == "[no goal is set]"
    await call(tasks, action="goal", text="Ship it")
    await call(tasks, action="add", text="Write tests")
    added = await call(tasks, action="add", task="Write the docs")
    assert added.text == "goal: Ship it\n1. [ ] Write tests\n2. [ ] Write the docs"
    assert added.action.effect == "none" and added.outcome.changed
    await call(tasks, action="done", text="2")
    done = await call(tasks, action="done", text="write  TESTS")
    assert done.text == "goal: Ship it\n1. [x] Write tests\n2. [x] Write the docs"
    assert (await call(tasks, action="reached")).text == "[no goal is set]"


async def test_what_cannot_be_done_is_said_in_words_for_the_model() -> None:
    tasks = Tasks(GoalBook())
    for args, message in (
        (
            {"action": "add", "text": "x"},
            "no active goal; tasks with action goal sets one",
        ),
        ({"action": "add"}, "tasks with action add needs text"),
        ({"action": "done", "text": "7"}, "there is no step '7'"),
    ):
        with pytest.raises(ToolError, match=message):
            await call(tasks, **args)


@pytest.fixture
def tools(jobs: JobRegistry, project: Path) -> tuple[Tool, ...]:
    async def open_shell() -> None:
        await jobs.open_shell(SESSION, project)

    return toolbox(
        ToolEnvironment(
            root=project,
            jobs=jobs,
            session_id=SESSION,
            open_shell=open_shell,
            goals=GoalBook(),
            discovery=ProjectFiles(project),
        )
    )


def test_there_are_few_tools_and_their_descriptions_fit_a_small_window(
    tools: tuple[Tool, ...],
) -> None:
    assert [tool.spec.name for tool in tools] == [
        *("read_file", "exec", "edit_file", "search_text", "find_files"),
        *("write_file", "git", "tasks", "jobs"),
    ]
    sent = [{"type": "function", "function": msgspec.to_builtins(tool.spec)} for tool in tools]
    count = VocabularyEncoding.shipped("o200k_base").count
    assert sum(count(json.dumps(one, ensure_ascii=False)) for one in sent) <= MOST_TOKENS


async def test_every_tool_says_what_it_needs(tools: tuple[Tool, ...]) -> None:
    for tool in tools:
        with pytest.raises(ToolError) as wrong:
            await tool.plan({})
        required = tool.spec.parameters["required"][0]
        assert re.match(rf"{tool.spec.name} needs {required}\b", wrong.value.message)
        assert "\n" not in wrong.value.message


async def test_the_tools_of_a_session_know_what_each_other_read(
    tools: tuple[Tool, ...], project: Path
) -> None:
    by_name = {tool.spec.name: tool for tool in tools}
    await call(by_name["read_file"], path="readme.md")
    await call(by_name["exec"], code="echo more >> readme.md")
    with pytest.raises(ToolError, match="changed since it was read"):
        await call(by_name["write_file"], path="readme.md", content="x")
    await call(by_name["edit_file"], path="readme.md", old="more", new="less")
    assert (project / "readme.md").read_text() == "# A project\nless\n"
