"""The process that counts: started when needed, again if it dies, ended at rest and at the end."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ollm_tui.core.provider import Vocabulary
from ollm_tui.providers.scripted import Scripted
from ollm_tui.services.tokens.careful_estimate import careful_estimate
from ollm_tui.services.tokens.counter import TokenCounter
from ollm_tui.services.tokens.counting_process import ATTEMPTS, CountingFailed, CountingProcess
from ollm_tui.services.tokens.learnt import ModelMemory
from ollm_tui.services.tokens.tokenizer import Tokenizers
from ollm_tui.services.tokens.vocabulary_encoding import VocabularyEncoding
from tests.conftest import REPOSITORY
from tests.services.tokens.counting import piece
from tests.services.tokens.samples import SAMPLES

SMALL = Vocabulary("gpt-2", ["<s>", "a", "b", "ab"], (3, 1, 1, 1))
ENGLISH = SAMPLES["english"][0]


@pytest.fixture
def process() -> Iterator[CountingProcess]:
    made = CountingProcess()
    yield made
    made.end()


def wait_for_the_end_of(pid: int) -> None:
    """Wait for a process, also one that is no child of ours."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    select.select([descriptor], [], [])
    os.close(descriptor)


def killed(process: CountingProcess) -> None:
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)


def test_it_counts_as_the_vocabulary_does(
    process: CountingProcess, generic: VocabularyEncoding
) -> None:
    assert process.pid is None
    texts = [text for pair in SAMPLES.values() for text in pair]
    assert process.count("o200k_base", texts) == [generic.count(text) for text in texts]
    assert process.knows("o200k_base")
    assert not process.knows("cl100k_base")


def test_a_model_s_own_vocabulary_is_learnt_before_it_is_counted_with(
    process: CountingProcess,
) -> None:
    assert process.count("small", ["ab"]) is None
    assert process.learn("small", SMALL)
    assert process.count("small", ["ab", "aab<s>", ""]) == [1, 3, 0]
    assert not process.learn("odd", Vocabulary("no such splitting", ["a"], (1,)))
    assert not process.knows("odd")


def test_a_dead_process_is_started_again(process: CountingProcess) -> None:
    assert process.count("o200k_base", ["hello world"]) == [2]
    killed(process)
    assert process.count("o200k_base", ["hello world"]) == [2]


def test_a_process_that_is_ended_while_it_is_asked_is_started_again(
    process: CountingProcess,
) -> None:
    assert process.count("o200k_base", [""]) == [0]
    assert process.pid is not None
    os.kill(process.pid, signal.SIGSTOP)  # it will never answer by itself
    counts: list[list[int] | None] = []
    asker = threading.Thread(
        target=lambda: counts.append(process.count("o200k_base", ["hello world"]))
    )
    asker.start()
    process.end()
    asker.join()
    assert counts == [[2]]


class Telling(Scripted):
    async def vocabulary(self, model: str) -> Vocabulary | None:
        return SMALL


async def test_the_vocabulary_of_a_model_is_loaded_again_after_a_death(
    process: CountingProcess,
) -> None:
    own = await Tokenizers(process).of(Telling(), "m")
    assert await own.count(["aab"]) == [2]
    killed(process)
    assert await own.count(["aab"]) == [2]
    assert own.own and own.is_at_hand


async def test_a_process_that_always_dies_is_given_up_and_the_estimate_stays(
    tmp_path: Path,
) -> None:
    starts = tmp_path / "starts"
    dying = (sys.executable, "-c", f"open({str(starts)!r}, 'a').write('started ')")
    process = CountingProcess(dying)
    counter = TokenCounter(Scripted(), "m", Tokenizers(process), ModelMemory(None))
    prompt = [piece("a", ENGLISH)]
    estimated = counter.count(prompt)
    assert await counter.settle(prompt) == estimated
    assert await counter.settle(prompt) == estimated
    assert estimated.tokens > careful_estimate(ENGLISH)
    assert starts.read_text().split() == ["started"] * ATTEMPTS
    with pytest.raises(CountingFailed):
        process.count("o200k_base", [""])


def test_after_some_rest_it_ends_and_the_next_count_starts_another() -> None:
    process = CountingProcess(rest_seconds=0.5)
    assert process.count("o200k_base", ["hello world"]) == [2]
    pid = process.pid
    if pid is not None:  # it may be gone already
        wait_for_the_end_of(pid)
    assert process.count("o200k_base", ["hello world"]) == [2]
    process.end()


PARENT = """
import sys, time
from ollm_tui.services.tokens.counting_process import CountingProcess

process = CountingProcess.shared()
process.count("o200k_base", ["hello"])
print(process.pid, flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("how", ["ends", "is killed"])
def test_it_is_gone_when_the_program(how: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    with subprocess.Popen(
        [sys.executable, "-c", PARENT],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as parent:
        assert parent.stdin is not None and parent.stdout is not None
        child = int(parent.stdout.readline())
        if how == "ends":
            parent.stdin.close()
        else:
            parent.kill()
        wait_for_the_end_of(child)


NO_NETWORK = """
import sys

events = []
sys.addaudithook(lambda event, _: events.append(event))
from ollm_tui.services.tokens.vocabulary_encoding import SHIPPED, VocabularyEncoding

for name in SHIPPED:
    assert VocabularyEncoding.shipped(name).count("hello world") == 2
print(sorted({event for event in events if event.startswith(("socket.", "urllib", "http"))}))
print("tiktoken" in sys.modules, "requests" in sys.modules)
"""


def test_nothing_is_fetched_from_the_network() -> None:
    done = subprocess.run(
        [sys.executable, "-c", NO_NETWORK],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == ["[]", "True False"]


async def test_the_event_loop_goes_on_while_a_vocabulary_is_loaded(
    process: CountingProcess,
) -> None:
    tokenizer = await Tokenizers(process).of(Scripted(), "m")
    counting = asyncio.create_task(tokenizer.count([ENGLISH]))
    turns = 0
    while not counting.done():
        await asyncio.sleep(0)
        turns += 1
    assert await counting is not None
    assert turns > 10
