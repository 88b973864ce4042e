"""The first word of an answer, and what the engine adds to each word after it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import time
from collections.abc import AsyncGenerator
from pathlib import Path

from bench.measure import Outcome, Promise, interleaved, milliseconds
from bench.sample_sessions import sample_session
from bench.scratch_home import OLLM, REPOSITORY, environment, scratch_home
from ollm_tui.core.provider import ChatRequest, PromptMessage, TextDelta
from ollm_tui.engine.context.system_prompt import DEFAULT_PROMPT
from ollm_tui.engine.conversation.conversation import Conversation, ModelChoice
from ollm_tui.engine.conversation.model_choice import choose_window
from ollm_tui.providers.embedded import Embedded
from ollm_tui.providers.llama_cpp.model_catalogue import DEFAULT_MODEL
from ollm_tui.providers.scripted import Scripted
from ollm_tui.services.sessions.recording import Recording
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.store_layout import StoreLayout

MODELS = REPOSITORY / ".cache" / "models"
PROMPT = "Say hi"
ANSWERS, STREAMS = 5, 5
DELTAS = 50_000
FIRST = Promise("ollm -p to the first byte, wall", "starting its server and asking it", 1.5)
EACH = Promise(f"{DELTAS:,} words through the engine, CPU", "reading them off the wire", 3)
CHUNK = (
    b'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,'
    b'"model":"m","choices":[{"index":0,"delta":{"content":"word "},"finish_reason":null}]}'
)
PROMISES = (FIRST, EACH)


def main() -> list[Outcome]:
    """Measure with the embedded model, then with a scripted one."""
    if not any(MODELS.glob("*.gguf")):
        raise SystemExit(f"no model in {MODELS}: run `make model` first")
    with scratch_home() as home, asyncio.Runner() as runner:
        (home / "models").symlink_to(MODELS)
        return [_first_byte(home, runner), _each_word(home, runner)]


def _first_byte(home: Path, runner: asyncio.Runner) -> Outcome:
    runs = interleaved(
        {
            "server": lambda: runner.run(_ask_the_server(home / "models")),
            "ollm": lambda: _ask_ollm(environment(home)),
        },
        ANSWERS,
    )
    server, ollm = min(runs["server"]), min(runs["ollm"])
    print(f"first byte of ollm -p: {milliseconds(ollm)}; of the server: {milliseconds(server)}")
    return Outcome(FIRST, ollm / server)


async def _ask_the_server(models: Path) -> float:
    """The floor: all modules are loaded already, nothing is recorded."""
    start = time.perf_counter()
    provider = Embedded(models_dir=models)
    capabilities = await provider.capabilities(DEFAULT_MODEL)
    request = ChatRequest(
        model=DEFAULT_MODEL,
        messages=(
            PromptMessage(role="system", text=DEFAULT_PROMPT),
            PromptMessage(role="user", text=PROMPT),
        ),
        window=choose_window("auto", capabilities),
    )
    stream = provider.stream(request)
    try:
        async for event in stream:
            if isinstance(event, TextDelta):
                return time.perf_counter() - start
    finally:
        await stream.aclose()
        await provider.close()
    raise RuntimeError("the model said nothing")


def _ask_ollm(variables: dict[str, str]) -> float:
    start = time.perf_counter()
    command = (OLLM, "-p", PROMPT, "--provider", "embedded")
    with subprocess.Popen(command, env=variables, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        first = os.read(process.stdout.fileno(), 1)
        seconds = time.perf_counter() - start
        process.send_signal(signal.SIGINT)
        process.communicate()
    if not first:
        raise RuntimeError(f"ollm -p said nothing and ended with {process.returncode}")
    return seconds


def _each_word(home: Path, runner: asyncio.Runner) -> Outcome:
    library = SessionLibrary.at(StoreLayout(home / "sessions"))
    recording = Recording(library.store, library.index)
    # No word comes twice: an answer that repeats itself would be stopped.
    words = [TextDelta(f"{number * 7919 % 100_003:x} ") for number in range(DELTAS)]
    provider = Scripted(lambda _: words)
    runs = interleaved(
        {
            "wire": _read_off_the_wire,
            "engine": lambda: runner.run(_converse(provider, recording)),
        },
        STREAMS,
    )
    runner.run(recording.close())
    wire, engine = min(runs["wire"]), min(runs["engine"])
    print(f"a word, CPU: {wire / DELTAS * 1e6:.1f} µs wire, {engine / DELTAS * 1e6:.1f} µs engine")
    return Outcome(EACH, engine / wire)


def _read_off_the_wire() -> float:
    """The least any client has to do: a line of the stream, and its JSON."""
    data = (CHUNK + b"\n\n") * DELTAS
    start = time.process_time()
    words = [
        json.loads(line[6:])["choices"][0]["delta"]["content"]
        for line in data.split(b"\n")
        if line.startswith(b"data: ")
    ]
    seconds = time.process_time() - start
    assert len(words) == DELTAS
    return seconds


async def _converse(provider: Scripted, recording: Recording) -> float:
    """As a front end does it: on disk, in half-second pieces."""
    recorder = recording.create(sample_session(0))
    choice = ModelChoice(provider, "scripted")
    conversation = Conversation(recorder, choice, recording.topic, begun=False)
    seconds = await _cpu_of(conversation.send(PROMPT))
    await conversation.close()
    return seconds


async def _cpu_of(events: AsyncGenerator[object, None]) -> float:
    start = time.process_time()
    async for _ in events:
        pass
    return time.process_time() - start
