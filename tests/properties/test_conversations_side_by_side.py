"""Four conversations at once, in any order of events: each is as it would have been alone."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ollm_tui.core.events import Queued, ReasoningArrived, TextArrived
from ollm_tui.core.provider import ChatRequest, Completed, TextDelta
from ollm_tui.core.tool import Decision
from ollm_tui.core.tool_events import ApprovalRequested
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.engine.tools.conversation_tools import ToolKit
from ollm_tui.engine.turn.engine_line import EngineLine, EngineLines
from ollm_tui.providers.scripted import Step
from ollm_tui.services.redaction.redactor import Redactor
from tests.conftest import LONG
from tests.properties.conversations import Conversations
from tests.tui.tool_desk import FakePolicy, calls, runner

DONE = Completed(finish="stop")
HOW_MANY = 4
Ending = Literal["finish", "cancel", "yes", "no", "compress"]
"""How a turn ends; `compress` is no turn, but a compression between two."""
Lives = list[list[Ending]]

lives: st.SearchStrategy[Lives] = st.lists(
    st.lists(
        st.sampled_from(("finish", "finish", "cancel", "yes", "no", "compress")),
        min_size=1,
        max_size=4,
    ),
    min_size=HOW_MANY,
    max_size=HOW_MANY,
)
orders = st.lists(st.integers(0, HOW_MANY - 1), max_size=16)


class OneLine(EngineLines):
    """All conversations ask the same server."""

    def _line(self, provider: str) -> EngineLine:
        return super()._line("the engine")


class Said(NamedTuple):
    """A message as two records are compared: ids and times differ."""

    role: str
    text: str
    status: str
    calls: int


class Life:
    """One conversation, which lives through its turns; each ends when its gate is opened."""

    def __init__(self, made: Conversations, number: int, steps: Sequence[Ending]) -> None:
        self._number = number
        self._steps = steps
        self.gates = [asyncio.Event() for _ in steps]
        self._turn = 0
        self._begun = asyncio.Event()
        self._is_in_line = False
        self._is_over = False
        self._asked = ""
        self.texts: list[str] = []
        self.ids = set[str]()
        self.conversation, _ = made.open(self._answer, tools=True)
        toolkit = ToolKit((runner(),), cast(Any, FakePolicy()), Redactor(), None, "")

        async def make(*_: object) -> ToolKit:
            return toolkit

        self.conversation.tools.make_toolkit = make
        self.conversation.tools.can_ask = True

    def _answer(self, request: ChatRequest) -> Sequence[Step]:
        ends, name = self._steps[self._turn], f"{self._number}.{self._turn}"
        if ends in ("yes", "no") and request.messages[-1].role == "user":
            return calls(("exec", {"code": f"echo {name}"}), words=f"a{name}")
        over = asyncio.Event() if ends == "cancel" else self.gates[self._turn]
        return [TextDelta(f"a{name} begun"), over, TextDelta(" over"), DONE]

    @property
    def rests(self) -> bool:
        """Whether nothing goes on before a gate is opened, or another conversation is done."""
        at_gate = self._begun.is_set() and not self.gates[self._turn].is_set()
        return self._is_over or self._is_in_line or at_gate

    async def live(self) -> None:
        for turn_number, ends in enumerate(self._steps):
            self._turn = turn_number
            if ends == "compress":
                self._begun.set()
                await self.gates[self._turn].wait()
                async for _ in self.conversation.compression.run(strategy="truncate"):
                    pass
                continue
            self._begun.clear()
            turn = asyncio.create_task(self._consume(f"q{self._number}.{self._turn}"))
            await self._begun.wait()
            await self.gates[self._turn].wait()
            if ends == "cancel":
                self.conversation.cancel()
            elif ends != "finish":
                answer: Literal["yes", "no"] = "yes" if ends == "yes" else "no"
                self.conversation.tools.answer(self._asked, Decision(answer))
            await turn
        self._is_over = True

    async def _consume(self, words: str) -> None:
        async for event in self.conversation.send(words):
            if isinstance(event, Queued):
                self._is_in_line = event.place > 0
            if isinstance(event, TextArrived | ReasoningArrived):
                self.texts.append(event.text)
                self.ids.add(event.message_id)
            if isinstance(event, ApprovalRequested):
                self._asked = event.call.call_id
                self._begun.set()
            elif isinstance(event, TextArrived) and "begun" in event.text:
                self._begun.set()
        self._begun.set()

    def record(self) -> tuple[list[Said], int]:
        conversation: Conversation = self.conversation
        said = [
            Said(each.role, each.text, each.status, len(each.tool_calls))
            for each in conversation.state.messages()
        ]
        return said, len(conversation.state.header.metadata.compression_history)


async def together(made: Conversations, wanted: Lives, order: list[int], slots: int) -> list[Life]:
    """Let all of them live at once; gates are opened, and conversations looked at, in an order."""
    lines = OneLine(lambda _: slots)
    here = [Life(made, number, steps) for number, steps in enumerate(wanted)]
    for life in here:
        life.conversation.use_lines(lines)
    living = [asyncio.create_task(life.live()) for life in here]
    opened = [0] * HOW_MANY
    for number in order:
        lines.put_first(here[number].conversation.session_id)
        if opened[number] < len(wanted[number]):
            here[number].gates[opened[number]].set()
            opened[number] += 1
        while not all(life.rests for life in here):
            await asyncio.sleep(0.001)
    for life in here:
        for gate in life.gates:
            gate.set()
    await asyncio.gather(*living)
    return here


async def alone(made: Conversations, wanted: Lives) -> list[Life]:
    """Let one live after the other, on a server of its own."""
    there = [Life(made, number, steps) for number, steps in enumerate(wanted)]
    for life in there:
        living = asyncio.create_task(life.live())
        for gate in life.gates:
            gate.set()
        await living
    return there


@pytest.fixture(scope="module")
def conversations(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Conversations]:
    made = Conversations(tmp_path_factory.mktemp("store"))
    yield made
    made.close()


@settings(max_examples=100 if LONG else 30)
@given(wanted=lives, order=orders, slots=st.sampled_from((1, 2, HOW_MANY)))
def test_each_record_is_the_one_it_would_have_had_alone(
    conversations: Conversations, wanted: Lives, order: list[int], slots: int
) -> None:
    here = conversations.run(together(conversations, wanted, order, slots))
    there = conversations.run(alone(conversations, wanted))
    assert [life.record() for life in here] == [life.record() for life in there]
    for number, life in enumerate(here):
        assert all(message_id in life.conversation.state for message_id in life.ids)
        assert all(f"a{number}." in text or text == " over" for text in life.texts)
