"""Long turns in a window of 8k: the real server counts every prompt, and each of them fits."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ollm_tui.core.errors import OverLimit
from ollm_tui.core.events import TurnFinished
from ollm_tui.core.provider import (
    ChatRequest,
    Completed,
    PromptMessage,
    StreamEvent,
    TextDelta,
    ToolCallArrived,
    ToolSpec,
)
from ollm_tui.core.session.message import ToolCallPart, Usage
from ollm_tui.core.tool import Action, Effect, Tell, ToolOutcome
from ollm_tui.engine.conversation.conversation_goals import ConversationGoals
from ollm_tui.engine.conversation.held_session import HeldSession
from ollm_tui.engine.tools.conversation_tools import ToolKit
from ollm_tui.engine.tools.policy import Policy
from ollm_tui.providers.embedded import Embedded
from ollm_tui.providers.llama_cpp.model_catalogue import SMOLLM2
from ollm_tui.providers.scripted import Scripted, Step
from ollm_tui.services.redaction.redactor import Redactor
from ollm_tui.services.safety.grants import Grants
from ollm_tui.settings.schema import Compression, Settings
from tests.engine.conftest import OpenWorkspace

pytestmark = [pytest.mark.model, pytest.mark.long]
WINDOW = 8192
LIMIT = int(WINDOW * 0.85)


class Counted(Scripted):
    """Answers as told; the embedded server counts what it would have to read."""

    def __init__(self, script: Sequence[Sequence[Step]], server: Embedded) -> None:
        super().__init__(script, window=WINDOW)
        self.read: list[int] = []
        self._server = server

    async def count_tokens(self, request: ChatRequest) -> int | None:
        said = tuple(map(_with_calls, request.messages))
        return await self._server.count_tokens(
            replace(request, model=SMOLLM2.name, messages=said, window=WINDOW)
        )

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        read = await self.count_tokens(request)
        assert read is not None
        if read > WINDOW:
            raise OverLimit("too long", "", read, WINDOW)
        self.read.append(read)
        async with aclosing(super().stream(request)) as events:
            async for event in events:
                if isinstance(event, Completed):
                    event = replace(event, usage=Usage(input_tokens=read, output_tokens=5))
                yield event


def _with_calls(message: PromptMessage) -> PromptMessage:
    """A message with its calls as text: the template of this model leaves them out."""
    calls = (f"{call.name} {json.dumps(call.args)}" for call in message.tool_calls)
    return replace(message, text="\n".join((message.text, *calls)), tool_calls=())


class Answering:
    """A call that is answered with a text."""

    def __init__(self, name: str, text: str) -> None:
        self.action = Action("read", "use", name)
        self._text = text

    async def run(self, tell: Tell) -> ToolOutcome:
        return ToolOutcome(self._text)


class FileTool:
    """Takes files, and gives back what was written."""

    effect: Effect = "read"

    def __init__(self, name: str, files: dict[str, str]) -> None:
        self.spec = ToolSpec(name, "Works on a file.", {"type": "object"})
        self._files = files

    async def plan(self, args: Mapping[str, Any]) -> Answering:
        path = str(args["path"])
        if "content" in args:
            self._files[path] = str(args["content"])
            return Answering(path, f"{path} is written")
        return Answering(path, self._files[path])


def source(number: int, lines: int) -> str:
    """A module with functions of its own."""
    rows = (
        f"def step_{number}_{line}(order: int) -> int:\n    return order * {number * line + 7}\n"
        for line in range(lines)
    )
    return "\n".join(rows)


def call(number: int, name: str, **args: str) -> ToolCallArrived:
    return ToolCallArrived(ToolCallPart(f"c{number}", name, args))


def fourteen_files() -> list[list[Step]]:
    """Each of about 1,500 tokens."""
    return [
        [call(n, "write_file", path=f"src/part_{n}.py", content=source(n, 60))] for n in range(14)
    ]


def sixty_rounds() -> list[list[Step]]:
    """Files are written and read again."""
    rounds: list[list[Step]] = []
    for n in range(30):
        path = f"part_{n}.py"
        write = call(2 * n, "write_file", path=path, content=source(n, 25))
        rounds.append([TextDelta(f"Part {n} next."), write])
        rounds.append([call(2 * n + 1, "read_file", path=path)])
    return rounds


@pytest.mark.parametrize("rounds", [fourteen_files, sixty_rounds])
async def test_every_prompt_of_a_long_turn_fits_as_the_server_counts_it(
    open_workspace: OpenWorkspace, model_home: Path, rounds: Callable[[], list[list[Step]]]
) -> None:
    script = rounds()
    server = Embedded(models_dir=model_home / "models")
    provider = Counted([*script, [TextDelta("All is done.")]], server)
    settings = Settings(compression=Compression(summaries="never"))
    conversation = await (await open_workspace(provider, settings)).begin()
    conversation.on_overflow = "compress"
    files: dict[str, str] = {}

    async def toolkit(_session: HeldSession, _goals: ConversationGoals) -> ToolKit:
        policy = Policy(settings.tools, model_home, Grants(None, model_home))
        tools = (FileTool("write_file", files), FileTool("read_file", files))
        return ToolKit(tools, policy, Redactor(), None, "")

    conversation.tools.make_toolkit = toolkit
    try:
        events = [event async for event in conversation.send("Write all parts.")]
    finally:
        await conversation.close()
        await server.close()
    assert isinstance(events[-1], TurnFinished), events[-1]
    assert len(provider.read) == len(script) + 1
    assert max(provider.read) <= LIMIT
    assert conversation.state.header.metadata.compression_count >= 2
