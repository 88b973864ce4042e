"""Properties 14 to 17 of the seeds: what is a loop, and that a loop stops the turn."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ollm_tui.core.events import AnyTurnEvent, TurnCancelled, TurnFailed
from ollm_tui.core.loop import LoopFound
from ollm_tui.core.provider import ChatRequest, TextDelta, ToolCallArrived, ToolSpec
from ollm_tui.core.session.message import ToolCallPart
from ollm_tui.core.tool import Action, Tell, ToolOutcome
from ollm_tui.core.tool_events import LoopAnswered, LoopPaused
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.engine.conversation.conversation_goals import ConversationGoals
from ollm_tui.engine.conversation.held_session import HeldSession
from ollm_tui.engine.loops.detector import LoopDetector
from ollm_tui.engine.tools.conversation_tools import ToolKit
from ollm_tui.engine.tools.policy import Policy
from ollm_tui.providers.scripted import Step
from ollm_tui.services.redaction.redactor import Redactor
from ollm_tui.services.safety.grants import Grants
from ollm_tui.settings.schema import LoopDetection, Settings, Tools
from tests.conftest import promised
from tests.properties.conversations import Conversations

texts = st.text(max_size=60)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
arguments = st.dictionaries(texts, values, max_size=4)
names = st.text(min_size=1, max_size=20)
thresholds = st.integers(2, 12)
calls = st.tuples(names, arguments)


def detector(
    threshold: int = 3, most: int = 50, at_all: int = 500, *, strict: bool = False
) -> LoopDetector:
    return LoopDetector(
        LoopDetection(repeat_threshold=threshold, max_turns=most, max_rounds=at_all, strict=strict)
    )


def _is_told(found: LoopFound | None, kind: str, times: int) -> None:
    assert found
    assert (found.type, found.count) == (kind, times)
    assert found.evidence
    assert "\n" not in found.evidence


def turned(value: Any) -> Any:
    """The same arguments with the names of every object the other way round."""
    if isinstance(value, dict):
        return {key: turned(inner) for key, inner in reversed(list(value.items()))}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] any JSON
    if isinstance(value, list):
        return [turned(inner) for inner in value]  # pyright: ignore[reportUnknownVariableType] any JSON
    return value


@promised
@given(calls, calls, thresholds, st.booleans())
def test_property_14_the_same_call_in_a_row_is_a_loop_at_the_threshold(
    call: tuple[str, dict[str, Any]], before: tuple[str, dict[str, Any]], times: int, strict: bool
) -> None:
    """Feature: services-sessions, Property 14: Repeated tool call detection."""
    name, args = call
    watched = detector(times, strict=strict)
    if before[0] != name:
        assert watched.tool_called(*before) is None
    found = [watched.tool_called(name, turned(args) if n % 2 else args) for n in range(times)]
    assert found[:-1] == [None] * (times - 1)
    _is_told(found[-1], "repeated-tool", times)


@promised
@given(names, arguments, values, values, thresholds)
def test_property_14_a_call_that_differs_deep_inside_is_another_one(
    name: str, args: dict[str, Any], one: Any, other: Any, times: int
) -> None:
    """Feature: services-sessions, Property 14: Repeated tool call detection."""
    assume(repr(one) != repr(other) and one != other)
    watched = detector(times, strict=True)
    same, different = ({**args, "at": [{"deep": value}]} for value in (one, other))
    for given_args in (*[same] * (times - 1), different, *[same] * (times - 1)):
        assert watched.tool_called(name, given_args) is None


@promised
@given(calls, st.lists(texts, min_size=12, max_size=12), thresholds)
def test_property_14_in_strict_mode_whatever_the_results_are(
    call: tuple[str, dict[str, Any]], results: list[str], times: int
) -> None:
    """Feature: services-sessions, Property 14: Repeated tool call detection."""
    watched = detector(times, strict=True)
    for result in results[: times - 1]:
        assert watched.tool_called(*call) is None
        watched.tool_answered(call[0], result)
        if watched.paused:
            return
    _is_told(watched.tool_called(*call), "repeated-tool", times)


@promised
@given(calls, texts, st.booleans(), thresholds)
def test_property_14_with_the_same_result_it_is_one_in_every_mode(
    call: tuple[str, dict[str, Any]], result: str, is_error: bool, times: int
) -> None:
    """Feature: services-sessions, Property 14: Repeated tool call detection."""
    watched = detector(times)
    for _ in range(2 * max(times, 31)):
        watched.tool_called(*call)
        watched.tool_answered(call[0], result, is_error=is_error)
    assert watched.paused
    assert watched.paused.type == "repeated-tool"


@promised
@given(texts, thresholds, st.booleans())
def test_property_15_the_same_output_in_a_row_is_a_loop_at_the_threshold(
    text: str, times: int, strict: bool
) -> None:
    """Feature: services-sessions, Property 15: Repeated output detection."""
    watched = detector(times, strict=strict)
    found = [watched.output(text) for _ in range(times)]
    assert found[:-1] == [None] * (times - 1)
    _is_told(found[-1], "repeated-output", times)


ALIKE = 0.9
LETTERS = "bcdfghjklmnpqrtvwx"
plain_words = st.lists(
    st.text(LETTERS, min_size=3, max_size=6), min_size=15, max_size=20, unique=True
)


@st.composite
def similar_replies(draw: st.DrawFn) -> list[str]:
    """Replies of which each has some letters of the one before changed: from none to a fifth."""
    replies = [" ".join(draw(plain_words))]
    for _ in range(draw(st.integers(2, 9))):
        letters = list(replies[-1])
        places = [place for place, letter in enumerate(letters) if letter != " "]
        share = draw(st.sampled_from((0.0, 0.04, 0.08, 0.1, 0.12, 0.2)))
        changed = draw(st.permutations(places))[: round(share * len(letters))]
        for place in changed:
            letters[place] = draw(st.sampled_from(LETTERS))
        replies.append("".join(letters))
    return replies


def similarity(one: str, other: str) -> float:
    """Twice the longest common subsequence over both lengths, from the table as it is taught."""
    row = [0] * (len(other) + 1)
    for letter in one:
        diagonal = 0
        for place, found in enumerate(other, start=1):
            above = row[place]
            row[place] = diagonal + 1 if letter == found else max(above, row[place - 1])
            diagonal = above
    return 2 * row[-1] / (len(one) + len(other))


@promised
@given(similar_replies(), st.integers(2, 5))
def test_property_15_almost_the_same_output_in_a_row_is_a_loop_at_the_threshold(
    replies: list[str], times: int
) -> None:
    """Feature: services-sessions, Property 15: Repeated output detection."""
    watched = detector(times)
    in_a_row = 1
    for before, reply in zip(["", *replies], replies, strict=False):
        in_a_row = in_a_row + 1 if before and similarity(before, reply) >= ALIKE else 1
        found = watched.output(reply)
        if in_a_row == times:
            _is_told(found, "repeated-output", times)
            return
        assert found is None


@promised
@given(st.integers(1, 300), st.booleans())
def test_property_16_more_rounds_than_the_limit_are_a_loop(most: int, strict: bool) -> None:
    """Feature: services-sessions, Property 16: Turn limit detection."""
    watched = detector(most=most, strict=strict)
    for _ in range(2):
        assert [watched.round() for _ in range(most)] == [None] * most
        _is_told(watched.round(), "turn-limit", most + 1)
        watched.user_spoke("Go on")
        assert watched.paused is None


@promised
@given(st.integers(1, 40), st.integers(1, 40), st.booleans())
def test_property_16_rounds_that_bring_something_new_count_only_in_strict_mode(
    most: int, beyond: int, strict: bool
) -> None:
    """Feature: services-sessions, Property 16: Turn limit detection."""
    watched = detector(most=most, at_all=most + beyond, strict=strict)
    allowed = most if strict else most + beyond
    for number in range(allowed):
        assert watched.round() is None
        assert watched.tool_called("read_file", {"path": f"file {number}"}, str(number)) is None
        assert watched.tool_answered(str(number), f"{chr(0x4E00 + number)} is new here") is None
    _is_told(watched.round(), "turn-limit", allowed + 1)


Kind = Literal["repeated-tool", "repeated-output", "turn-limit"]


class Looking:
    """A tool that finds something else each time, and takes note of what it was asked."""

    def __init__(self) -> None:
        self.spec = ToolSpec("look", "Looks.", {"type": "object"})
        self.seen: list[Mapping[str, Any]] = []

    async def plan(self, args: Mapping[str, Any]) -> Look:
        return Look(self, args)


class Look:
    """One look."""

    def __init__(self, tool: Looking, args: Mapping[str, Any]) -> None:
        self._tool = tool
        self._args = args
        self.action = Action("read", "look", str(args))

    async def run(self, tell: Tell) -> ToolOutcome:
        self._tool.seen.append(self._args)
        return ToolOutcome(f"There is {words_of(len(self._tool.seen))}.", summary="seen")


def words_of(number: int) -> str:
    """Words that have hardly a letter in common with those of other numbers."""
    return " ".join(LETTERS[(number * 7 + place) % len(LETTERS)] * 9 for place in range(4))


class Model:
    """Repeats a call, repeats what it says, or only goes on and on."""

    def __init__(self, kind: Kind, args: dict[str, Any], text: str) -> None:
        self.kind: Kind = kind
        self.args = args
        self.text = text
        self.rounds = 0

    def __call__(self, _: ChatRequest) -> list[Step]:
        self.rounds += 1
        args = self.args if self.kind == "repeated-tool" else {"at": words_of(self.rounds)}
        said = self.text if self.kind == "repeated-output" else words_of(self.rounds + 3)
        return [
            TextDelta(said),
            ToolCallArrived(ToolCallPart(f"c{self.rounds}", "look", args)),
        ]


@pytest.fixture(scope="module")
def conversations(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Conversations]:
    made = Conversations(tmp_path_factory.mktemp("store"))
    yield made
    made.close()


kinds: st.SearchStrategy[Kind] = st.sampled_from(("repeated-tool", "repeated-output", "turn-limit"))


@promised
@given(
    kind=kinds,
    limit=st.integers(2, 6),
    args=st.dictionaries(st.text("abc", min_size=1), st.integers() | texts, max_size=3),
    text=plain_words.map(" ".join),
    answer=st.sampled_from(("stop", "back", "once", "nobody is there")),
)
def test_property_17_a_loop_stops_the_turn_until_it_is_answered(
    conversations: Conversations,
    kind: Kind,
    limit: int,
    args: dict[str, Any],
    text: str,
    answer: str,
) -> None:
    """Feature: services-sessions, Property 17: Loop detection stops execution."""
    model, tool = Model(kind, args, text), Looking()
    conversations.run(_is_held_up(conversations, model, tool, limit, answer))


async def _is_held_up(
    conversations: Conversations, model: Model, tool: Looking, limit: int, answer: str
) -> None:
    repeats, most = (1000, limit) if model.kind == "turn-limit" else (limit, 1000)
    rules = LoopDetection(repeat_threshold=repeats, max_turns=most, strict=True, nudge=False)
    settings = Settings(loop_detection=rules)
    conversation, server = conversations.open(model, tools=True, window=100_000, settings=settings)
    _equip(conversation, tool, can_ask=answer != "nobody is there")
    work: list[tuple[int, int]] = []
    events: list[AnyTurnEvent] = []
    async for event in conversation.send("Have a look"):
        events.append(event)
        if isinstance(event, LoopPaused):
            work.append((len(server.requests), len(tool.seen)))
            # The first pause may be answered with going on; the second ends the turn.
            told: Any = answer if len(work) == 1 else "stop"
            asyncio.get_running_loop().call_soon(conversation.tools.answer_loop, told)
    done = len(server.requests), len(tool.seen)
    pauses = [event.found for event in events if isinstance(event, LoopPaused)]
    count = limit + 1 if model.kind == "turn-limit" else limit
    _is_told(pauses[0], model.kind, count)
    assert work[0] == _work_before(model.kind, limit)
    assert work[-1] == done, "something was done after the turn was stopped"
    assert len(pauses) == 1 + (answer == "once")
    if answer == "nobody is there":
        assert isinstance(events[-1], TurnFailed)
        assert events[-1].kind == "StoppedByLoop"
        assert pauses[0].evidence in events[-1].error
    else:
        assert isinstance(events[-1], TurnCancelled)
        assert work[-1] > work[0] or answer != "once"
        assert sum(isinstance(event, LoopAnswered) for event in events) == len(pauses)
    loops = conversation.state.header.metadata.loops
    assert [(loop.type, loop.count) for loop in loops] == [(p.type, p.count) for p in pauses]


def _work_before(kind: Kind, limit: int) -> tuple[int, int]:
    """The requests and calls that were carried out when the turn pauses."""
    # Too many rounds are noticed before the next one begins, a call and a reply once they come.
    return (limit, limit) if kind == "turn-limit" else (limit, limit - 1)


def _equip(conversation: Conversation, tool: Looking, *, can_ask: bool) -> None:
    async def toolkit(_session: HeldSession, _goals: ConversationGoals) -> ToolKit:
        policy = Policy(Tools(), Path.cwd(), Grants(None, Path.cwd()))
        return ToolKit((tool,), policy, Redactor(), None, "")

    conversation.tools.make_toolkit = toolkit
    conversation.tools.can_ask = can_ask
