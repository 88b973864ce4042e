"""Counting prompts: parts that add up, estimates until something is measured, no work twice."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_tui.core.errors import Unavailable
from ollm_tui.core.provider import ChatRequest, Image, PromptMessage, ToolSpec
from ollm_tui.core.session.message import ToolCallPart
from ollm_tui.providers.scripted import Scripted
from ollm_tui.services.tokens.counter import TokenCounter, TokenCounters
from ollm_tui.services.tokens.learnt import Learnt, ModelMemory
from ollm_tui.services.tokens.prompt_count import (
    OTHER_IMAGE_TOKENS,
    Count,
    Parts,
    Piece,
    PromptCount,
    shared_out,
)
from ollm_tui.services.tokens.vocabulary_encoding import VocabularyEncoding
from tests.approximately import approx
from tests.conftest import REPOSITORY
from tests.services.tokens.counting import SYSTEM, Loaded, counter_with, piece
from tests.services.tokens.samples import SAMPLES

ENGLISH, MORE_ENGLISH = SAMPLES["english"]
CHINESE = SAMPLES["chinese"][0]
TOOLS = (ToolSpec("read_file", "Read a file.", {"type": "object", "properties": {}}),)


def conversation(length: int) -> list[Piece]:
    roles = ("user", "assistant")
    return [SYSTEM, *(piece(f"m{n}", f"{ENGLISH} {n}", roles[n % 2]) for n in range(length))]


async def test_a_count_is_there_at_once_and_better_after_settling(
    generic: VocabularyEncoding,
) -> None:
    counter = counter_with(generic)
    prompt = [SYSTEM, piece("a", ENGLISH)]
    at_once = counter.count(prompt)
    assert at_once.source == "estimated"
    assert str(at_once.total).startswith("≈")
    settled = await counter.settle(prompt)
    assert generic.count(ENGLISH) < settled.tokens <= at_once.tokens * 1.1


async def test_every_message_is_in_the_part_it_belongs_to(generic: VocabularyEncoding) -> None:
    call = ToolCallPart(call_id="1", name="read_file", args={"path": "notes.txt"})
    prompt = [
        SYSTEM,
        Piece.of("c", PromptMessage(role="user", text=ENGLISH), "checkpoints"),
        piece("u", "Read my notes."),
        Piece.of("a", PromptMessage(role="assistant", tool_calls=(call,))),
        Piece.of("t", PromptMessage(role="tool", text=MORE_ENGLISH, tool_name="read_file")),
        Piece.of("p", PromptMessage(role="user", text="pinned"), "system"),
    ]
    counter = counter_with(generic)
    with_tools = await counter.settle(prompt, TOOLS)
    without = counter.count(prompt)
    assert with_tools.parts.system > without.parts.system
    assert with_tools.parts.conversation == without.parts.conversation
    assert without.parts.checkpoints == counter.message(prompt[1]).tokens
    assert without.parts.user == counter.message(prompt[2]).tokens
    assert without.parts.assistant == counter.message(prompt[3]).tokens > 8
    assert without.parts.tools == counter.message(prompt[4]).tokens
    assert without.tokens == sum(counter.message(p).tokens for p in prompt) + 4


async def test_an_image_costs_what_the_provider_usually_takes(generic: VocabularyEncoding) -> None:
    image = Image("image/png", "aGVsbG8=" * 1000)
    with_image = Piece.of("i", PromptMessage(role="user", text="Look.", images=(image,)))
    counter = counter_with(generic)
    plain = counter.message(piece("x", "Look.")).tokens
    assert counter.message(with_image).tokens == plain + OTHER_IMAGE_TOKENS


@pytest.mark.parametrize("kind", ["english", "chinese", "json"])
async def test_after_a_measurement_the_prompt_has_just_that_length(
    generic: VocabularyEncoding, kind: str
) -> None:
    counter = counter_with(generic)
    prompt = [SYSTEM, piece("a", SAMPLES[kind][0])]
    await counter.settle(prompt, TOOLS)
    tokens = round(counter.count(prompt, TOOLS).tokens * 0.8)
    assert await counter.measured(prompt, TOOLS, tokens)
    count = counter.count(prompt, TOOLS)
    assert count.total == Count(tokens, "measured")
    assert str(count.total) == f"{tokens:,}"
    assert counter.count(prompt).source == "estimated"
    assert counter.count([*prompt, piece("b", "more")], TOOLS).source == "estimated"


async def test_the_next_prompt_is_the_measured_one_and_an_estimate_of_the_new(
    generic: VocabularyEncoding,
) -> None:
    counter = counter_with(generic)
    prompt = [SYSTEM, piece("a", ENGLISH * 5)]
    plain = (await counter.settle(prompt)).tokens
    measured = round(plain * 1.5)
    await counter.measured(prompt, (), measured)
    new = piece("b", MORE_ENGLISH * 5)
    longer = await counter.settle([*prompt, new])
    assert longer.tokens == measured + counter.message(new).tokens
    assert counter.message(new).tokens == approx(measured / plain * plain, rel=0.15)


async def test_without_a_message_the_prompt_is_shorter_by_what_the_message_took(
    generic: VocabularyEncoding,
) -> None:
    counter = counter_with(generic)
    prompt = conversation(6)
    await counter.settle(prompt)
    await counter.measured(prompt, (), 900)
    left_out = counter.message(prompt[3]).tokens
    assert counter.count([*prompt[:3], *prompt[4:]]).tokens == 900 - left_out


async def test_what_was_read_only_in_part_teaches_nothing(generic: VocabularyEncoding) -> None:
    counter = counter_with(generic)
    prompt = conversation(20)
    before = await counter.settle(prompt)
    assert not await counter.measured(prompt, (), before.tokens // 2)
    assert counter.count(prompt) == before


async def test_a_server_that_counts_nothing_teaches_nothing_and_raises_no_alarm(
    generic: VocabularyEncoding,
) -> None:
    counter = counter_with(generic)
    prompt = conversation(3)
    before = await counter.settle(prompt)
    assert await counter.measured(prompt, (), 0)
    assert counter.count(prompt) == before


async def test_a_wide_estimate_is_not_taken_for_a_prompt_that_was_cut(
    generic: VocabularyEncoding,
) -> None:
    counter = counter_with(generic)
    prompt = [SYSTEM, piece("a", CHINESE * 4)]
    estimated = (await counter.settle(prompt)).tokens
    read = generic.count(CHINESE * 4) + 30
    assert read < estimated / 2
    assert await counter.measured(prompt, (), read)
    assert counter.count(prompt).tokens == read


async def test_what_a_provider_reports_corrects_estimates_without_any_vocabulary(
    generic: VocabularyEncoding,
) -> None:
    loaded = Loaded(generic)
    counter = TokenCounter(Scripted(), "m", loaded, ModelMemory(None))
    prompt = [piece("a", CHINESE * 4)]
    assert counter.count(prompt).tokens > generic.count(CHINESE * 4) * 2
    await counter.measured(prompt, (), generic.count(CHINESE * 4) + 8, has_room=True)
    new = piece("b", SAMPLES["chinese"][1] * 4)
    expected = generic.count(SAMPLES["chinese"][1] * 4)
    assert counter.message(new).tokens == approx(expected, rel=0.25)
    assert counter.text_tokens(new.message.text) == approx(expected, rel=0.25)
    # What comes next may be in another language: then the estimate is too low, its bound is not.
    other = [*prompt, piece("c", ENGLISH * 4)]
    count = counter.count(other)
    truth = generic.count(CHINESE * 4 + ENGLISH * 4) + 12
    assert count.tokens < truth <= counter.at_most(count, other, ())
    assert loaded.tokenizer.characters == 0


async def test_a_prompt_that_may_have_been_cut_is_judged_by_the_vocabulary(
    generic: VocabularyEncoding,
) -> None:
    for kind, (text, _) in SAMPLES.items():
        counter = counter_with(generic)
        prompt = [piece("a", text * 4)]
        whole = generic.count(text * 4) + 8
        assert not await counter.measured(prompt, (), whole // 2), kind
        assert await counter.measured(prompt, (), whole), kind


@pytest.mark.parametrize("kind", SAMPLES)
async def test_with_room_a_report_is_believed_in_every_language(
    generic: VocabularyEncoding, kind: str
) -> None:
    loaded = Loaded(generic)
    counter = TokenCounter(Scripted(), "m", loaded, ModelMemory(None))
    prompt = [piece("a", SAMPLES[kind][0] * 4)]
    whole = generic.count(SAMPLES[kind][0] * 4) + 8
    assert await counter.measured(prompt, (), whole, has_room=True)
    assert loaded.tokenizer.characters == 0
    assert counter.count(prompt).total == Count(whole, "measured")


async def test_what_was_measured_teaches_again_when_it_is_counted(own: VocabularyEncoding) -> None:
    counter = counter_with(own, own=True)
    prompt = [SYSTEM, piece("a", ENGLISH)]
    truth = own.count(SYSTEM.message.text + ENGLISH) + 20
    await counter.measured(prompt, (), truth, has_room=True)
    assert counter.message(prompt[1]).source == "estimated"
    assert (await counter.settle(prompt)).total == Count(truth, "measured")
    message = counter.message(prompt[1])
    assert message.source == "exact"
    assert message.tokens == own.count(ENGLISH) + own.count("user") + counter.around_message


async def test_what_was_learnt_serves_the_next_conversation_after_a_restart(
    generic: VocabularyEncoding, memory_home: Path
) -> None:
    first = counter_with(generic, memory_home)
    prompt = [SYSTEM, piece("a", CHINESE * 4)]
    await first.settle(prompt)
    read = generic.count(CHINESE * 4) * 2
    await first.measured(prompt, (), read)
    later = counter_with(generic, memory_home)
    other = [SYSTEM, piece("b", SAMPLES["chinese"][1] * 4)]
    expected = generic.count(SAMPLES["chinese"][1] * 4) * 2
    assert (await later.settle(other)).tokens == approx(expected, rel=0.2)


async def test_short_first_prompts_teach_what_the_template_adds(
    generic: VocabularyEncoding,
) -> None:
    memory = ModelMemory(None)
    for greeting in ("Hello!", "Good morning."):
        counter = TokenCounter(Scripted(), "m", Loaded(generic), memory)
        prompt = [piece("a", greeting)]
        await counter.settle(prompt)
        await counter.measured(prompt, (), generic.count(greeting) + 40)
    fresh = TokenCounter(Scripted(), "m", Loaded(generic), memory)
    assert fresh.count([]).tokens == approx(35, abs=5)
    long = [piece("b", ENGLISH * 10)]
    # A large addition by the template must not look like a vocabulary that needs ten times more.
    assert (await fresh.settle(long)).tokens < generic.count(ENGLISH * 10) * 1.4 + 40


async def test_one_measurement_of_a_short_text_does_not_rule_long_ones(
    generic: VocabularyEncoding,
) -> None:
    counter = counter_with(generic)
    prompt = [SYSTEM, piece("a", "Hi")]
    await counter.settle(prompt)
    await counter.measured(prompt, (), 300)
    long = [*prompt, piece("b", ENGLISH * 10)]
    assert (await counter.settle(long)).tokens < 300 + generic.count(ENGLISH * 10) * 1.4


async def test_the_own_vocabulary_and_two_measurements_make_the_count_exact(
    own: VocabularyEncoding,
) -> None:
    counter = counter_with(own, own=True)

    def truth(prompt: list[Piece]) -> int:
        text = sum(own.count(p.message.text) + own.count(p.message.role) for p in prompt)
        return text + 6 * len(prompt) + 11

    prompt = [SYSTEM]
    sources: list[str] = []
    for number in range(4):
        role = ("user", "assistant")[number % 2]
        prompt.append(piece(f"m{number}", f"{number} {ENGLISH}", role))
        count = await counter.settle(prompt)
        sources.append(count.source)
        if number > 1:
            assert count.tokens == truth(prompt)
        await counter.measured(prompt, (), truth(prompt))
    assert sources == ["estimated", "estimated", "estimated", "exact"]
    assert counter.message(prompt[1]).source == "exact"


class Down(Scripted):
    """Cannot be asked to count."""

    async def count_tokens(self, request: ChatRequest) -> int | None:
        raise Unavailable("nobody there")


async def test_the_server_is_asked_before_sending_where_it_counts(
    generic: VocabularyEncoding,
) -> None:
    prompt = [SYSTEM, piece("a", ENGLISH * 4)]
    request = ChatRequest(model="m", messages=tuple(p.message for p in prompt))
    counted = await Scripted().count_tokens(request)
    assert counted is not None
    counter = TokenCounter(Scripted(), "m", Loaded(generic), ModelMemory(None))
    assert (await counter.check(request, prompt)).total == Count(counted, "exact")
    down = TokenCounter(Down(), "m", Loaded(generic), ModelMemory(None))
    assert (await down.check(request, prompt)).source == "estimated"


async def test_ten_thousand_messages_are_counted_once_each(generic: VocabularyEncoding) -> None:
    loaded = Loaded(generic)
    counter = TokenCounter(Scripted(), "m", loaded, ModelMemory(None))
    prompt = [piece(f"m{n}", f"Message number {n} says hello.") for n in range(10_000)]
    count = await counter.settle(prompt)
    seen = loaded.tokenizer.characters
    for number in range(10):
        new = piece(f"new {number}", "One more.")
        longer = counter.extended(count, new)
        assert longer is not None
        prompt.append(new)
        count = await counter.settle(prompt)
        assert count.tokens == approx(longer.tokens, abs=20)
    counter.count(prompt[:2])
    assert counter.extended(count, prompt[0]) is None, "another one was counted since"
    assert loaded.tokenizer.characters - seen < 10 * 100


async def test_a_message_that_grew_is_counted_again(generic: VocabularyEncoding) -> None:
    counter = counter_with(generic)
    short = await counter.settle([piece("a", "Hello")])
    long = await counter.settle([piece("a", "Hello, this has become longer.")])
    assert long.tokens > short.tokens + 3


@pytest.mark.parametrize("kind", ["english", "german", "code"])
async def test_a_growing_reply_needs_no_tokenizer_and_ends_near_its_count(
    generic: VocabularyEncoding, kind: str
) -> None:
    loaded = Loaded(generic)
    counter = TokenCounter(Scripted(), "m", loaded, ModelMemory(None))
    prompt = [SYSTEM, piece("a", SAMPLES[kind][0] * 3)]
    start = await counter.settle(prompt)
    await counter.measured(prompt, (), start.tokens)
    start = counter.count(prompt)
    words = re.findall(r"\s*\S+", SAMPLES[kind][1] * 100)
    growing, before, live = counter.growing(start, prompt[-1]), loaded.tokenizer.characters, start
    for word in words:
        assert (live := growing.add(word)).tokens >= start.tokens
    assert loaded.tokenizer.characters == before
    assert live.parts.user == start.parts.user
    assert live.source == "estimated"
    whole = await counter.settle([*prompt, piece("r", "".join(words), "assistant")])
    assert live.tokens == approx(whole.tokens, rel=0.2)


def test_before_the_vocabulary_is_there_a_growing_reply_is_estimated() -> None:
    counter = TokenCounters(None).counter(Scripted(), "m")
    growing = counter.growing(PromptCount(Parts(user=10)), piece("a", "Hi"))
    assert growing.add("Hello there").parts.assistant > 4
    assert growing.add(", and more").parts.assistant > 8


async def test_several_askers_wait_for_one_vocabulary() -> None:
    counters = TokenCounters(None)
    prompt = [piece("a", ENGLISH)]
    one, other = (counters.counter(Scripted(), name) for name in ("one", "other"))
    counts = await asyncio.gather(one.settle(prompt), other.settle(prompt))
    assert counts[0] == counts[1]


async def test_two_who_settle_the_same_prompt_at_once_get_the_same(
    generic: VocabularyEncoding,
) -> None:
    prompt = conversation(3)
    counter = counter_with(generic, own=True)
    counts = await asyncio.gather(counter.settle(prompt), counter.settle(prompt))
    assert counts[0] == counts[1] == await counter_with(generic, own=True).settle(prompt)


def test_the_library_is_not_loaded_before_something_is_settled() -> None:
    code = (
        "from ollm_tui.engine.context.budget import Budget\n"
        "from ollm_tui.services.tokens.counter import TokenCounters\n"
        "import sys; print('tiktoken' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=REPOSITORY
    )
    assert done.stdout.strip() == "False"


@given(total=st.integers(0, 10**6), weights=st.lists(st.floats(0, 1e6), min_size=1, max_size=30))
def test_shares_add_up_and_are_never_negative(total: int, weights: list[float]) -> None:
    shares = shared_out(total, weights)
    assert len(shares) == len(weights)
    assert sum(shares) == total
    assert min(shares) >= 0


def test_a_new_conversation_never_has_fewer_tokens_than_its_messages(home: Path) -> None:
    ModelMemory(home).keep("scripted/m", Learnt(request=-40))
    counter = TokenCounters(home).counter(Scripted(), "m")
    assert counter.count([]).tokens == 0


class Meddling(Scripted):
    """Has something happen in another thread while a message is looked at for the first time."""

    meanwhile: Callable[[], object] | None = None

    @property
    def name(self) -> str:
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile:
            other = Thread(target=meanwhile)
            other.start()
            other.join()
        return "meddling"


def test_what_a_thread_counts_in_the_same_moment_is_not_counted_twice(
    generic: VocabularyEncoding,
) -> None:
    provider, prompt = Meddling(), [SYSTEM, piece("a", ENGLISH)]
    counter = TokenCounter(provider, "a model", Loaded(generic), ModelMemory(None))
    provider.meanwhile = lambda: asyncio.run(counter.measured(prompt, (), 1234, has_room=True))
    counter.count(prompt)
    assert provider.meanwhile is None
    assert counter.count(prompt) == PromptCount(counter.count(prompt).parts, "measured")
    assert counter.count(prompt).tokens == 1234


async def test_one_odd_prompt_after_a_stopped_reply_teaches_nothing_wrong(
    own: VocabularyEncoding,
) -> None:
    def read(prompt: list[Piece]) -> int:
        texts = (own.count(each.message.text) + own.count(each.message.role) for each in prompt)
        return sum(tokens + 4 for tokens in texts) + 3

    counter, prompt = counter_with(own, own=True), conversation(2)
    await counter.settle(prompt)
    await counter.measured(prompt, (), read(prompt))
    for turn in range(3):
        prompt = conversation(2 * turn + 4)
        await counter.measured(prompt, (), read(prompt))
    around = counter.around_message
    # The server closes a reply that was stopped in another way than one that is whole.
    prompt = conversation(10)
    odd = read(prompt) - 7
    await counter.measured(prompt, (), odd)
    assert counter.around_message == around
    longer = conversation(12)
    assert (await counter.settle(longer)).tokens == read(longer) - 7
