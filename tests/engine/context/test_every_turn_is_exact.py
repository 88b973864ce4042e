"""Twenty turns with tools, a compression in the middle of one, undo, going back and another model:
in each of them, and after each step between them, the number shown is the server's own."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from itertools import takewhile
from pathlib import Path

import pytest

from ollm_tui.core.compression_events import ContextCompressed
from ollm_tui.core.events import AnyTurnEvent, TextArrived, ToolCallRequested, TurnFinished
from ollm_tui.core.provider import (
    Capabilities,
    ChatRequest,
    Completed,
    Provider,
    Selection,
    StreamEvent,
    TextDelta,
    ToolCallArrived,
)
from ollm_tui.core.session.context_marks import ContextChange
from ollm_tui.core.session.message import ToolCallPart, Usage
from ollm_tui.core.tool_events import ReplyFinished
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.engine.conversation.conversation_goals import ConversationGoals
from ollm_tui.engine.conversation.held_session import HeldSession
from ollm_tui.engine.project.workspace import Workspace
from ollm_tui.engine.tools.conversation_tools import ToolKit
from ollm_tui.engine.tools.policy import Policy
from ollm_tui.providers.embedded import Embedded
from ollm_tui.providers.llama_cpp.gguf import read_vocabulary
from ollm_tui.providers.llama_cpp.model_catalogue import SMOLLM2
from ollm_tui.providers.ollama import Ollama
from ollm_tui.providers.ollama_wire import request_body
from ollm_tui.services.redaction.redactor import Redactor
from ollm_tui.services.safety.grants import Grants
from ollm_tui.services.sessions.recording import Recording
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.settings.schema import Compression, ModelSettings, Settings
from ollm_tui.storage.store_layout import StoreLayout
from tests.conftest import MODELS
from tests.engine.tools.test_tools_in_a_turn import Echo
from tests.stand_ins.http_server import Reply, Request
from tests.stand_ins.ollama_server import MODEL, OllamaServer

WINDOW = 4096
TOOL = "echo"
TWIN = "twin"
OFF_BY, OFF_BY_SHARE = 8, 0.05
"""What a number with ≈ may be off by: measured, 6 of 91 after the first turn, then 4 %."""
TURNS = 20
ROUNDS = {1: 1, 2: 2, 6: 6, 11: 1, 17: 2}
"""How often a tool is called in a turn."""
QUESTIONS = (
    "Hello!",
    "Was ist die Hauptstadt von Österreich?",
    "def f(x):\n    return x ** 2\n\nWhat does it do?",
    "1, 2, 3, 4: what comes next?",
    "こんにちは。お元気ですか。",
)
ANSWERS = (
    "The capital of Austria is Vienna.",
    "It squares its argument:\n\n```python\nf(3) == 9\n```",
    "Fünf, dann sechs, dann sieben. " * 6,
    "元気です。",
)
OUTPUT = "The quick brown fox jumps over the lazy dog. "


class ScriptedEmbedded(Embedded):
    """The embedded server counts every prompt; only the words of the answers are from a script.

    A question that ends with `!N` is answered with N rounds of tools first.
    """

    def __init__(self, models: Path) -> None:
        super().__init__(models_dir=models)
        self.read: list[int] = []

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        read = await self.count_tokens(request)
        assert read is not None
        self.read.append(read)
        said = [(message.role, message.text) for message in request.messages]
        words, calls = answer(said, len(self.read))
        yield TextDelta(words)
        for number, args in enumerate(calls):
            yield ToolCallArrived(ToolCallPart(f"c{number}", TOOL, args))
        yield Completed(finish="stop", usage=Usage(input_tokens=read, output_tokens=9))

    async def capabilities(self, model: str) -> Capabilities:
        return Capabilities(tools=True, counting=True, max_window=8192, resizable=True)


def answer(said: Sequence[tuple[str, str]], number: int) -> tuple[str, list[dict[str, str]]]:
    """The words of an answer, and the arguments of the calls in it."""
    since = [*takewhile(lambda each: each[0] != "user", reversed(said))]
    _, _, rounds = said[-len(since) - 1][1].rpartition("!")
    done = sum(role == "tool" for role, _ in since)
    if rounds.isdigit() and done < int(rounds):
        return f"Looking, {number}.", [{"text": f"{number} {OUTPUT}"}]
    return ANSWERS[number % len(ANSWERS)], []


class Only:
    """Selects the one provider a test has."""

    def __init__(self, provider: Provider, model: str) -> None:
        self.provider = provider
        self.model = model

    def names(self) -> list[str]:
        return [self.provider.name]

    async def get(self, name: str) -> Provider:
        return self.provider

    async def select(self, provider: str | None, model: str | None) -> Selection:
        return Selection(self.provider, model or self.model)

    async def close(self) -> None:
        await self.provider.close()


def workspace_of(home: Path, provider: Provider, model: str) -> Workspace:
    settings = Settings(
        models={name: ModelSettings(window=WINDOW) for name in (model, TWIN)},
        compression=Compression(strategy="truncate"),
    )
    library = SessionLibrary.at(StoreLayout(home / "sessions"))
    recording = Recording(library.store, library.index)
    return Workspace(settings, recording, library, Only(provider, model), home)


class Watched:
    """A conversation in which every number that is shown is compared with the server's."""

    def __init__(
        self,
        conversation: Conversation,
        read: list[int],
        truth: Callable[[ChatRequest], Awaitable[int | None]],
        *,
        counts: bool,
    ) -> None:
        """`counts` tells whether the server counts prompts that it is not asked to answer."""
        self.conversation = conversation
        self.counts = counts
        self._context = conversation._context  # pyright: ignore[reportPrivateUsage] what would be sent
        self._read = read
        self._truth = truth
        self.rounds: list[bool] = []
        """For each round, whether its number was shown without ≈ when it was sent."""
        self.compressed = 0

    async def step(self, turn: int, workspace: Workspace, model: str) -> None:
        """What the user does before a turn, then the turn."""
        await between(turn, workspace, self, model)
        rounds = f" !{ROUNDS[turn]}" if turn in ROUNDS else ""
        await self.play(self.conversation.send(QUESTIONS[turn % len(QUESTIONS)] + rounds))

    async def play(self, turn: AsyncGenerator[AnyTurnEvent, None]) -> None:
        """Run a turn: what is shown when an answer begins is what the server reads then."""
        rounds = len(self._read)
        last: AnyTurnEvent | None = None
        async for event in turn:
            view, last = self.conversation.context(), event
            if isinstance(event, TextArrived | ToolCallRequested) and len(self._read) > rounds:
                rounds = len(self._read)
                sent = self._context.count()
                self.rounds.append(sent.source != "estimated")
                if self.rounds[-1]:
                    assert view.count.tokens - view.writing == self._read[-1]
            elif isinstance(event, ContextCompressed):
                self.compressed += 1
                await self.holds(f"after compression {self.compressed}")
            elif isinstance(event, ReplyFinished):
                sent = self._context.count()
                assert sent.tokens == self._read[-1], "what was sent is measured now"
        assert isinstance(last, TurnFinished), last
        await self.holds("after the turn")

    async def holds(self, when: str, *, is_exact: bool = False) -> None:
        """The number shown without ≈ is what the server counts, one with ≈ is near it, and the
        rows of the breakdown add up to it."""
        conversation = self.conversation
        shown, truth = conversation.context().count, await self._truth(self._context.request())
        if shown.source != "estimated":
            assert shown.tokens == truth, when
        await conversation.recount()
        shown = conversation.context().count
        assert truth is not None
        off = max(OFF_BY, truth * OFF_BY_SHARE) if shown.source == "estimated" else 0
        assert abs(shown.tokens - truth) <= off, f"{when}, counted"
        tokens = [item.tokens.tokens for item in conversation.context().items]
        assert sum(tokens) == shown.tokens and min(tokens) >= 0, when
        assert shown.source != "estimated" or not is_exact, when


def equip(conversation: Conversation, home: Path) -> None:
    """Give the model a tool with a long output."""

    async def toolkit(_session: HeldSession, _goals: ConversationGoals) -> ToolKit:
        policy = Policy(Settings().tools, home, Grants(None, home))
        return ToolKit((Echo(TOOL, times=45),), policy, Redactor([]), None, "")

    conversation.tools.make_toolkit = toolkit
    conversation.tools.can_ask = True
    conversation.on_overflow = "compress"


@pytest.mark.model
async def test_twenty_of_twenty_turns_are_exact_on_the_embedded_server(model_home: Path) -> None:
    models = model_home / "models"
    models.unlink()
    models.mkdir()
    for name in (SMOLLM2.file_name, f"{TWIN}.gguf"):
        (models / name).symlink_to(MODELS / SMOLLM2.file_name)
    provider = ScriptedEmbedded(models)
    workspace = workspace_of(model_home, provider, SMOLLM2.name)
    conversation = await workspace.begin()
    equip(conversation, model_home)
    watched = Watched(conversation, provider.read, provider.count_tokens, counts=True)
    for turn in range(TURNS):
        await watched.step(turn, workspace, SMOLLM2.name)
        await watched.holds(f"turn {turn}", is_exact=True)
    assert watched.compressed and all(watched.rounds)
    await conversation.close()
    await workspace.close()


@pytest.mark.model
async def test_what_is_shown_without_a_mark_is_exact_in_twenty_turns_on_ollama(home: Path) -> None:
    vocabulary = read_vocabulary(MODELS / SMOLLM2.file_name)
    async with OllamaServer(vocabulary=vocabulary) as server:
        server.models[TWIN] = server.models[MODEL] | {"name": TWIN, "model": TWIN}
        read = list[int]()

        async def answered(request: Request, reply: Reply) -> None:
            body = request.json
            read.append(server.tokens(body))
            said = [(message["role"], message["content"]) for message in body["messages"]]
            words, calls = answer(said, len(read))
            asked = [{"function": {"name": TOOL, "arguments": args}} for args in calls]
            server.script.append([{"content": words}, {"tool_calls": asked}])
            await server.answer(request, reply)

        async def truth(request: ChatRequest) -> int:
            return server.tokens(request_body(request))

        server.chat = answered
        provider = Ollama(name="ollama", base_url=server.url, retry_seconds=0)
        workspace = workspace_of(home, provider, MODEL)
        conversation = await workspace.begin()
        equip(conversation, home)
        watched = Watched(conversation, read, truth, counts=False)
        for turn in range(TURNS):
            await watched.step(turn, workspace, MODEL)
        assert watched.compressed
        await conversation.close()
        await workspace.close()


async def between(turn: int, workspace: Workspace, watched: Watched, model: str) -> None:
    """What the user does before a turn."""
    conversation = watched.conversation
    branch = conversation.state.branch()
    match turn:
        case 3:
            await conversation.snapshots.take("here")
        case 5:
            await conversation.change_context(ContextChange("pin", (branch[1].id,)))
        case 8:
            await conversation.compression.undo()
            await watched.holds("undone compression", is_exact=watched.counts)
            taken = next(each for each in await conversation.snapshots.list() if each.name)
            await conversation.snapshots.restore(await conversation.snapshots.get(taken.id))
        case 9:
            await conversation.snapshots.go_back(branch[1].id)
        case 10:
            await conversation.snapshots.undo_restore()
        case 12:
            await workspace.switch_model(conversation, None, TWIN)
        case 14:
            await workspace.switch_model(conversation, None, model)
        case 15:
            async for _ in conversation.compression.run(strategy="truncate"):
                pass
            await watched.holds("compressed")
            await conversation.compression.undo()
        case 16:
            last = next(message for message in branch[::-1] if message.role == "user")
            await watched.play(conversation.edit(last.id, "Something else, please."))
        case 18:
            await watched.play(conversation.regenerate())
        case 19:
            await conversation.change_context(ContextChange("fold-above", (branch[4].id,)))
        case _:
            return
    await watched.holds(f"before turn {turn}")
