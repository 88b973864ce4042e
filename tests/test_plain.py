"""Plain lines: what the model wants to do is asked in words, one question at a time."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import pytest

from ollm_tui.core.provider import ChatRequest, TextDelta
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.plain import PlainChat
from ollm_tui.providers.scripted import Scripted, Step
from tests.engine.conftest import OpenWorkspace, open_workspace
from tests.engine.tools.test_tools_in_a_turn import Echo, call, equipped, looping

__all__ = ["open_workspace"]


async def chat(conversation: Conversation, *lines: str) -> str:
    """What is printed while somebody types these lines."""
    out, typed = io.StringIO(), iter(lines)

    def read_line(prompt: str) -> str:
        out.write(prompt)
        line = next(typed, None)
        if line is None:
            raise EOFError
        return line

    await PlainChat(conversation, read_line, out, out).run()
    return out.getvalue()


@pytest.mark.parametrize(
    ("answer", "done"), [("yes", ["touch x\ny"]), ("no", []), ("y", []), ("always", ["touch x\ny"])]
)
async def test_a_command_is_shown_whole_and_runs_after_a_yes(
    open_workspace: OpenWorkspace, home: Path, answer: str, done: list[str]
) -> None:
    tool = Echo("exec", "run")
    script: list[Sequence[Step]] = [[call("exec", text="touch x\ny")], [TextDelta("Fine.")]]
    conversation = await equipped(open_workspace, script, tool, home=home)
    printed = await chat(conversation, "go", answer)
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
    printed = await chat(conversation, "go", "no, use a temporary folder")
    assert "the user refused this: use a temporary folder" in printed
    await conversation.close()


async def test_a_loop_is_told_and_stopped(open_workspace: OpenWorkspace, home: Path) -> None:
    conversation = await equipped(open_workspace, Scripted(looping), Echo(), home=home)
    printed = await chat(conversation, "go", "stop")
    assert "stop, once (more), or allow?" in printed
    await conversation.close()
