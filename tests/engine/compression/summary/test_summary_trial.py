"""The trial of a model: who is tried, what it must keep, and that it is remembered."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar

import pytest

from ollm_tui.core.compression_events import ContextCompressed, SummaryReading
from ollm_tui.core.errors import Unavailable
from ollm_tui.core.provider import ChatRequest, TextDelta
from ollm_tui.core.session.message import Message, Role, Text
from ollm_tui.core.session.record import MessageAdded
from ollm_tui.engine.compression.summary.summariser import FACTS_ALONE, UNFIT, Summariser
from ollm_tui.engine.compression.summary.summary_trial import SummaryTrial
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.engine.conversation.model_choice import ModelChoice
from ollm_tui.engine.project.workspace import Workspace
from ollm_tui.providers.embedded import Embedded
from ollm_tui.providers.llama_cpp.model_catalogue import SMOLLM2
from ollm_tui.providers.scripted import Scripted, Step
from ollm_tui.services.sessions.recording import Recording
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.services.tokens.careful_estimate import careful_estimate
from ollm_tui.services.tokens.counter import TokenCounters
from ollm_tui.settings.schema import Compression, Settings
from ollm_tui.storage.store_layout import StoreLayout
from tests.engine.conftest import OnlyProvider

T = TypeVar("T")
Summaries = Literal["auto", "always", "never"]
AT = "2026-03-01T10:00:00.000Z"
WINDOW = 4096
KEEPS = (
    "Marta needs the numbers on Thursday. invoice_total was rounded twice in billing/rates.py and "
    "is rounded once now; the test server listens on 9180. The report for March is missing."
)
STALE = KEEPS.replace("9180", "8473").replace(" on Thursday", "")
SUMMARY = "They looked at the logs of the upload and found that the disk of the server was full."


class Small(Scripted):
    """A model of two billion parameters that summarises the trial in its own way."""

    def __init__(self, of_trial: Sequence[Step]) -> None:
        self.trials = self.summaries = 0
        self._of_trial = of_trial
        super().__init__(self._turn, window=WINDOW)

    def _turn(self, request: ChatRequest) -> Sequence[Step]:
        # The second attempt reads only a part of it.
        if any(word in request.messages[-1].text for word in ("Marta", "invoice", "March")):
            self.trials += 1
            return self._of_trial
        self.summaries += 1
        return [TextDelta(SUMMARY)]


async def collected(events: AsyncGenerator[T, None]) -> list[T]:
    async with aclosing(events):
        return [event async for event in events]


class Done(NamedTuple):
    """What came of a compression, and what the model was seen to read for it."""

    summary: str
    note: str
    reading: list[SummaryReading]


async def compressed(
    home: Path, provider: Scripted, summaries: Summaries = "auto", model: str = "tiny:2b"
) -> Done:
    """Compress a conversation with a model of that name, in a program of its own."""
    library = SessionLibrary.at(StoreLayout(home / "sessions"))
    settings = Settings(compression=Compression(summaries=summaries, enabled=False))
    recording, source = Recording(library.store, library.index), OnlyProvider(provider)
    counters = TokenCounters(home)
    workspace = Workspace(settings, recording, library, source, home, counters=counters)
    conversation = await workspace.begin()
    await conversation.use(conversation.choice._replace(model=model))
    for number in range(8):
        await add(conversation, "user", "And then?")
        text = f"{number}. The upload ended: the disk of the server is full. " * 30
        await add(conversation, "assistant", text)
    events = await collected(conversation.compression.run())
    await conversation.close()
    await workspace.close()
    done = events[-1]
    assert isinstance(done, ContextCompressed), done
    reading = [event for event in events if isinstance(event, SummaryReading)]
    return Done(done.compression.created[-1].summary, done.compression.note, reading)


async def add(conversation: Conversation, role: Role, text: str) -> None:
    number, head = len(conversation.state), conversation.state.header.head
    said = Message(f"m{number}", role, (Text(text),), AT, parent_id=head)
    await conversation.record(MessageAdded(at=AT, message=said))


async def test_a_model_that_passes_is_tried_once_and_writes_from_then_on(home: Path) -> None:
    provider = Small([TextDelta(KEEPS)])
    done = await compressed(home, provider)
    assert done.summary == SUMMARY and provider.trials == 1
    assert [event.trial for event in done.reading] == [True, False], "it is seen to be a trial"
    done = await compressed(home, provider)
    assert done.summary == SUMMARY and provider.trials == 1, "the next program knows it"
    assert not any(event.trial for event in done.reading)


@pytest.mark.parametrize("said", [STALE, "They talked about an export and a server.", " "])
async def test_a_model_that_loses_facts_is_not_asked_again(home: Path, said: str) -> None:
    provider = Small([TextDelta(said)])
    first = await compressed(home, provider)
    tried = provider.trials
    again = await compressed(home, provider)
    for done in (first, again):
        assert not done.summary and done.note == f"{UNFIT}: {FACTS_ALONE}"
    assert provider.summaries == 0 and provider.trials == tried


async def test_what_is_learnt_of_a_model_is_not_said_of_another(home: Path) -> None:
    provider = Small([TextDelta(STALE)])
    await compressed(home, provider)
    tried = provider.trials
    await compressed(home, provider, model="other:2b")
    assert provider.trials > tried


@pytest.mark.parametrize(("summaries", "written"), [("always", True), ("never", False)])
async def test_summaries_can_be_forced_and_forbidden_without_a_trial(
    home: Path, summaries: Summaries, written: bool
) -> None:
    provider = Small([TextDelta(STALE)])
    done = await compressed(home, provider, summaries)
    assert bool(done.summary) == written and provider.trials == 0


@pytest.mark.parametrize(("model", "written"), [("big:70b", True), ("tiny:135m", False)])
async def test_the_size_in_a_name_may_spare_the_trial(
    home: Path, model: str, written: bool
) -> None:
    provider = Small([TextDelta(STALE)])
    done = await compressed(home, provider, model=model)
    assert bool(done.summary) == written and provider.trials == 0


async def test_a_server_that_is_gone_says_nothing_about_its_model(home: Path) -> None:
    done = await compressed(home, Small([Unavailable("the server is gone", "")]))
    assert not done.summary and "the server is gone" in done.note
    back = Small([TextDelta(KEEPS)])
    assert (await compressed(home, back)).summary == SUMMARY and back.trials == 1


@pytest.mark.model
@pytest.mark.long
async def test_the_demonstration_model_fails(model_home: Path) -> None:
    provider = Embedded(models_dir=model_home / "models")
    remembered: list[bool] = []

    async def remember(passed: bool) -> None:
        remembered.append(passed)

    choice = ModelChoice(provider, SMOLLM2.name, window=WINDOW)
    summariser = Summariser(choice, lambda text: round(careful_estimate(text)), 3400)
    try:
        trial = SummaryTrial(summariser, remember)
        await collected(trial.steps())
    finally:
        await provider.close()
    assert not trial.passed and remembered == [False]
