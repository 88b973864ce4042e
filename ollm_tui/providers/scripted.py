"""A provider that plays a script instead of asking a model, for tests and demonstrations."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ollm_tui.core.errors import UsageError
from ollm_tui.core.provider import (
    Capabilities,
    ChatRequest,
    CompactedPrompt,
    Completed,
    Finish,
    ModelInfo,
    Preparing,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
    ToolCallArrived,
)
from ollm_tui.core.session.message import ToolCallPart, Usage

MODEL = "scripted"
CHARACTERS_PER_TOKEN = 2
"""How JSON is counted: tools and their calls have no words to count."""


class Wait(msgspec.Struct, frozen=True):
    """A pause in the middle of an answer."""

    seconds: float


Step = StreamEvent | Wait | BaseException | asyncio.Event
"""A step of a turn; an exception is raised, and an asyncio.Event is waited for."""

Turn = Sequence[Step]
Script = Sequence[Turn] | Callable[[ChatRequest], Turn]


class _ScriptLine(msgspec.Struct, forbid_unknown_fields=True):
    """One step of a script file; one field is set, or `tool` with `args`."""

    text: str | None = None
    reasoning: str | None = None
    tool: str | None = None
    args: dict[str, Any] = {}
    wait: float | None = None
    preparing: str | None = None
    finish: Finish | None = None


class Scripted:
    """Plays one turn of a script per request; after the last it repeats the user's words.

    A callable instead of a list makes each turn from its request. `requests` holds all requests.
    With `compacts` it also compacts prompts, each to an item of one token; with `continues` it
    says that it goes on with answers.
    """

    def __init__(
        self,
        script: Script = (),
        *,
        name: str = "scripted",
        window: int = 8192,
        compacts: bool = False,
        continues: bool = False,
    ) -> None:
        self._compacts = compacts
        self._continues = continues
        self._name = name
        self._make_turn = script if callable(script) else None
        self._turns = iter(() if callable(script) else script)
        self._window = window
        self.requests: list[ChatRequest] = []

    @classmethod
    def from_file(cls, path: Path, *, name: str = "scripted") -> Scripted:
        """Read a script from JSON: a list of turns, each a list of steps such as {"text": "Hi"}.

        Steps: text, reasoning, tool (with args), wait (seconds), preparing, finish. UsageError if
        the file cannot be read.
        """
        try:
            turns = msgspec.json.decode(path.read_bytes(), type=list[list[_ScriptLine]])
        except (OSError, msgspec.DecodeError) as error:
            raise UsageError(
                f"the script {path} cannot be read: {error}",
                'it is a JSON list of turns, each a list of steps such as {"text": "Hi"}',
            ) from error
        return cls([_steps(turn, number) for number, turn in enumerate(turns)], name=name)

    @property
    def name(self) -> str:
        """The name of this provider in the settings."""
        return self._name

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """Play the next turn; Completed is added if the script leaves it out."""
        self.requests.append(request)
        words = 0
        for step in self._turn(request):
            if isinstance(step, Wait):
                await asyncio.sleep(step.seconds)
            elif isinstance(step, asyncio.Event):
                await step.wait()
            elif isinstance(step, BaseException):
                raise step
            else:
                words += len(step.text.split()) if isinstance(step, TextDelta) else 0
                yield step
                if isinstance(step, Completed):
                    return
        usage = Usage(input_tokens=_count(request), output_tokens=words)
        yield Completed(finish="stop", usage=usage, model=request.model)

    async def count_tokens(self, request: ChatRequest) -> int | None:
        """Count one token per word."""
        return _count(request)

    async def compact(self, request: ChatRequest) -> CompactedPrompt:
        """Return one item that says how many messages it stands for."""
        self.requests.append(request)
        items = ({"type": "compaction", "messages": len(request.messages)},)
        return CompactedPrompt(self._name, request.model, items, tokens=1)

    async def capabilities(self, model: str) -> Capabilities:
        """Return that the model can do everything a script may use."""
        return Capabilities(
            tools=True,
            counting=True,
            thinking=True,
            images=True,
            compaction=self._compacts,
            continues=self._continues,
            window=self._window,
            max_window=self._window,
        )

    async def list_models(self) -> tuple[ModelInfo, ...]:
        """Return the only model."""
        return (ModelInfo(name=MODEL, max_window=self._window),)

    async def default_model(self) -> str:
        """Return the only model."""
        return MODEL

    async def close(self) -> None:
        """Do nothing: there is no connection."""

    def _turn(self, request: ChatRequest) -> Turn:
        if self._make_turn is not None:
            return self._make_turn(request)
        turn = next(self._turns, None)
        return _echo(request) if turn is None else turn


def _echo(request: ChatRequest) -> Turn:
    said = [message.text for message in request.messages if message.role == "user"]
    return [TextDelta(said[-1])] if said and said[-1] else []


def _count(request: ChatRequest) -> int:
    said = sum(
        m.compacted.tokens if m.compacted else len(f"{m.text} {m.reasoning}".split())
        for m in request.messages
    )
    calls = (call for m in request.messages for call in m.tool_calls)
    written = (len(msgspec.json.encode(each)) for each in (*request.tools, *calls))
    return said + sum(written) // CHARACTERS_PER_TOKEN


def _steps(lines: list[_ScriptLine], turn: int) -> Turn:
    return [_step(line, f"call_{turn}_{number}") for number, line in enumerate(lines)]


def _step(line: _ScriptLine, call_id: str) -> Step:
    if line.tool is not None:
        return ToolCallArrived(ToolCallPart(call_id=call_id, name=line.tool, args=line.args))
    if line.reasoning is not None:
        return ReasoningDelta(line.reasoning)
    if line.wait is not None:
        return Wait(line.wait)
    if line.preparing is not None:
        return Preparing(line.preparing)
    if line.finish is not None:
        return Completed(finish=line.finish)
    return TextDelta(line.text or "")
