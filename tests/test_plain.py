"""Plain lines: what the model wants to do is asked in words, one question at a time."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from ollm_tui.core.provider import ChatRequest, ModelInfo, TextDelta
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.engine.jobs.session_jobs import SessionJobs
from ollm_tui.engine.project.workspace import Workspace
from ollm_tui.plain.chat import PlainChat
from ollm_tui.plain.commands import COMMANDS
from ollm_tui.providers.scripted import MODEL, Scripted, Step
from ollm_tui.settings.schema import Settings
from tests.engine.conftest import OpenWorkspace, open_workspace, workspace_on
from tests.engine.tools.test_tools_in_a_turn import Echo, call, equipped, looping
from tests.tui.conftest import jobs_on

__all__ = ["open_workspace"]


@dataclass
class Around:
    """A conversation and what is behind it, as the command line holds them."""

    conversation: Conversation | None
    workspace: Workspace | None = None
    jobs: SessionJobs | None = None

    def open_workspace(self) -> Workspace:
        assert self.workspace
        return self.workspace

    def open_jobs(self) -> SessionJobs:
        assert self.jobs
        return self.jobs


async def chat(around: Around, *lines: str) -> str:
    """What is printed while somebody types these lines."""
    out, typed = io.StringIO(), iter(lines)

    def read_line(prompt: str) -> str:
        out.write(prompt)
        line = next(typed, None)
        if line is None:
            raise EOFError
        return line

    await PlainChat(around, read_line, out, out).run()
    return out.getvalue()


def around_of(conversation: Conversation, home: Path) -> Around:
    """What is behind a conversation that has no other: the files of a folder."""
    return Around(conversation, workspace_on(home, (), Settings()))


@pytest_asyncio.fixture
async def around(open_workspace: OpenWorkspace) -> AsyncIterator[Around]:
    """A conversation whose model repeats what it was asked, with all that is behind it."""
    workspace = await open_workspace(Scripted(repeating))
    around = Around(await workspace.begin(), workspace)
    yield around
    assert around.conversation
    await around.conversation.close()


def repeating(request: ChatRequest) -> Sequence[Step]:
    return [TextDelta(f"You said: {request.messages[-1].text}")]


@pytest.mark.parametrize(
    ("answer", "done"), [("yes", ["touch x\ny"]), ("no", []), ("y", []), ("always", ["touch x\ny"])]
)
async def test_a_command_is_shown_whole_and_runs_after_a_yes(
    open_workspace: OpenWorkspace, home: Path, answer: str, done: list[str]
) -> None:
    tool = Echo("exec", "run")
    script: list[Sequence[Step]] = [[call("exec", text="touch x\ny")], [TextDelta("Fine.")]]
    conversation = await equipped(open_workspace, script, tool, home=home)
    printed = await chat(around_of(conversation, home), "go", answer)
    assert "The model wants to use:\ntouch x\ny\n" in printed
    assert "yes, always, no, or no and why?" in printed
    assert "Fine." in printed
    assert tool.done == done
    await conversation.close()


async def test_why_not_reaches_the_model(open_workspace: OpenWorkspace, home: Path) -> None:
    def turn(request: ChatRequest) -> Sequence[Step]:
        last = request.messages[-1]
        return [TextDelta(last.text)] if last.role == "tool" else [call("exec", text="touch x")]

    conversation = await equipped(open_workspace, Scripted(turn), Echo("exec", "run"), home=home)
    printed = await chat(around_of(conversation, home), "go", "no, use a temporary folder")
    assert "the user refused this: use a temporary folder" in printed
    await conversation.close()


async def test_a_loop_is_told_and_stopped(open_workspace: OpenWorkspace, home: Path) -> None:
    conversation = await equipped(open_workspace, Scripted(looping), Echo(), home=home)
    printed = await chat(around_of(conversation, home), "go", "stop")
    assert "stop, once (more), or allow?" in printed
    await conversation.close()


# Commands


async def test_a_word_after_a_slash_that_is_no_command_is_not_sent(around: Around) -> None:
    printed = await chat(around, "/modle", "/etc/hosts is short", "//etc is a folder")
    assert "Unknown command /modle (did you mean /model?" in printed
    assert "Unknown command /etc/hosts" in printed
    assert "You said: /etc is a folder" in printed
    assert around.conversation
    assert [each.text for each in around.conversation.state.branch()][::2] == ["/etc is a folder"]


async def test_the_list_of_models_marks_the_used_one_and_those_to_download(
    open_workspace: OpenWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def models(_: Scripted) -> tuple[ModelInfo, ...]:
        return (ModelInfo(name=MODEL), ModelInfo(name="larger", installed=False))

    monkeypatch.setattr(Scripted, "list_models", models)
    workspace = await open_workspace(Scripted(repeating))
    conversation = await workspace.begin()
    printed = await chat(Around(conversation, workspace), "/model")
    assert f"* {MODEL}  (scripted)\n" in printed
    assert "  larger  (scripted, not downloaded)\n" in printed


async def test_help_names_every_command(around: Around) -> None:
    printed = await chat(around, "/help")
    assert all(f"/{command.name}" in printed for command in COMMANDS)


async def test_a_file_that_is_named_goes_along(around: Around, home: Path) -> None:
    home.mkdir(exist_ok=True)
    (home / "notes.txt").write_text("the moon is round")
    printed = await chat(around, "read @notes.txt, and mail me@example.org")
    assert "the moon is round" in printed


async def test_a_command_of_your_own_is_sent_after_a_yes_to_what_it_runs(
    around: Around, home: Path
) -> None:
    (home / "commands").mkdir(parents=True)
    (home / "commands" / "count.md").write_text("Look: !`echo $((6 * 7)) $1`")
    around.jobs = jobs_on(home)
    printed = await chat(around, "/count apples", "no", "/count pears", "yes", "/help")
    await around.jobs.close()
    assert "Nothing sent." in printed and "42 apples" not in printed
    assert "$ echo $((6 * 7)) pears" in printed and "42 pears" in printed
    assert "/count" in printed.partition("/help")[2]


async def test_sessions_are_left_listed_and_opened_again(around: Around) -> None:
    assert around.conversation
    first = around.conversation.session_id
    printed = await chat(around, "about cats", "/new", "about dogs", f"/load {first}", "/history")
    assert f"/load {first[:8]} reopens the last one" in printed
    assert printed.rstrip().endswith("user: about cats\nassistant: You said: about cats\n>")
    assert around.conversation.session_id == first


async def test_what_the_full_screen_lists_stands_in_lines(around: Around) -> None:
    printed = await chat(
        around,
        "hello",
        "/goal learn Latin",
        "/goal step nouns",
        "/goal tick 1",
        "/decide tabs",
        "/mode",
        "/context",
        "/snapshot here",
        "/restore",
        "/search hello",
        "/rename Roman things",
        "/approval auto-edit",
        "/compact",
        "/load",
    )
    for words in (
        "Goal: learn Latin\n  1. [x] nouns",
        "1. tabs",
        "Mode: assistant",
        "tokens\n",
        "here",
        "user: hello",
        "Renamed to Roman things.",
        "Approval: auto-edit.",
        "not compressed",
        "/load needs an ID (/sessions lists them)",
    ):
        assert words in printed
    assert "You said: /" not in printed


async def test_the_window_and_a_tool_are_changed_by_a_line(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    conversation = await equipped(open_workspace, [], Echo("exec", "run"), home=home)
    await conversation.tools.ready()
    around = around_of(conversation, home)
    printed = await chat(around, "/window", "/window 2 apples", "/tool exec off", "/tools", "/tool")
    assert "Window: 8,192 tokens" in printed
    assert "scripted sets the window itself" in printed
    assert "exec is off." in printed and "No tools." in printed
    assert "/tool needs a name, and on or off" in printed


async def test_leaving_by_name_ends_the_chat(around: Around) -> None:
    assert "You said" not in await chat(around, "/quit", "still here?")
