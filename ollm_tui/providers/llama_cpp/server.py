"""The child process that runs llama.cpp: `python -m ollm_tui.providers.llama_cpp.server`.

It reads one JSON line with the order on stdin and answers with one JSON line: the port, or what
went wrong. It ends when its stdin is closed.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import Protocol, cast
from urllib.parse import urlsplit

import msgspec

NICENESS = 5
"""The server must not slow down the rest of the machine."""
LEAST = 19
"""The niceness of work that nobody waits for."""
SLEEP_IDLE_SECONDS = 300
"""After this time without a request the model is unloaded; the next one loads it again."""
BATCH_TOKENS = 128
"""Small, because only between two batches the server notices that the client is gone."""
PROMPT_CACHE_MEGABYTES = 256
"""With the server's default of 8 GB, memory would grow with every conversation."""
ERRORS_ONLY = 1
"""The quietest log level that still says why a model cannot be loaded."""

_PR_SET_PDEATHSIG = 1


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What the parent asks for. It comes on stdin, because any user can see the arguments of a
    process and one field is the key."""

    parent: int
    path: str
    name: str
    window: int
    key: str
    makes_vectors: bool = False
    """Whether it turns texts into vectors, with the least claim on the processor."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The port of a server that is ready, or why it did not start."""

    port: int | None = None
    engine_missing: bool = False
    error: str = ""


class _ModelSource(Protocol):
    path: str


class _Threads(Protocol):
    n_threads: int


class _Parameters(Protocol):
    """The part of xllamacpp's CommonParams that is used here; the package has no types."""

    model: _ModelSource
    model_alias: set[str]
    n_ctx: int
    n_parallel: int
    n_batch: int
    n_ubatch: int
    embedding: bool
    cpuparams: _Threads
    cpuparams_batch: _Threads
    hostnames: list[str]
    port: int
    api_keys: list[str]
    cors_origins: str
    cors_credentials: bool
    ui: bool
    verbosity: int
    sleep_idle_seconds: int
    cache_ram_mib: int
    fit_params: bool
    prefill_assistant: bool


class _Server(Protocol):
    @property
    def listening_address(self) -> str: ...


class _Engine(Protocol):
    """The two names of xllamacpp that are used here."""

    CommonParams: Callable[[], _Parameters]
    Server: Callable[[_Parameters], _Server]


def main() -> None:
    """Serve until the parent closes stdin or ends."""
    _ask_for_death_with_parent()
    line = sys.stdin.buffer.readline()
    if not line:
        return
    order = msgspec.json.decode(line, type=Order)
    # The parent may have ended before the child asked to end with it.
    if os.getppid() != order.parent:
        return
    threading.Thread(target=_exit_at_end_of_input, daemon=True).start()
    stdout = _keep_stdout_for_the_answer()
    os.nice(LEAST if order.makes_vectors else NICENESS)
    try:
        server = _serve(order)
    except ImportError as error:
        answer = Answer(engine_missing=True, error=str(error))
    except (RuntimeError, MemoryError) as error:
        answer = Answer(error=str(error) or "not enough memory")
    else:
        answer = Answer(port=urlsplit(server.listening_address).port)
    os.write(stdout, msgspec.json.encode(answer) + b"\n")
    if answer.port is not None:
        threading.Event().wait()


def _serve(order: Order) -> _Server:
    # Imported late, so that the parent can be told if the engine is not installed.
    engine = cast(_Engine, importlib.import_module("xllamacpp"))
    return engine.Server(_parameters(engine.CommonParams(), order))


def _parameters(parameters: _Parameters, order: Order) -> _Parameters:
    parameters.model.path = order.path
    parameters.model_alias = {order.name}
    parameters.n_ctx = order.window
    # Fitting may choose another window than requested, and takes half of the start-up time.
    parameters.fit_params = False
    parameters.n_parallel = 1
    parameters.n_batch = parameters.n_ubatch = BATCH_TOKENS
    # Writing tokens is faster with one thread on a busy machine; reading the prompt uses all.
    parameters.cpuparams.n_threads = 1
    parameters.cpuparams_batch.n_threads = _cores()
    if order.makes_vectors:
        # A whole text has to fit into a batch; one thread, since there is time.
        parameters.embedding = True
        parameters.n_batch = parameters.n_ubatch = order.window
        parameters.cpuparams_batch.n_threads = 1
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0  # any free port; the answer says which
    parameters.api_keys = [order.key]
    # By default the server accepts every origin: any web page could talk to it.
    parameters.cors_origins = "http://127.0.0.1"
    parameters.cors_credentials = False
    parameters.ui = False
    parameters.verbosity = ERRORS_ONLY
    parameters.sleep_idle_seconds = SLEEP_IDLE_SECONDS
    parameters.cache_ram_mib = PROMPT_CACHE_MEGABYTES
    # A prompt that ends with a reply is counted as it will stand before the next message, not as
    # a reply to be continued.
    parameters.prefill_assistant = False
    return parameters


def _cores() -> int:
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _ask_for_death_with_parent() -> None:
    """Let Linux kill this process with its parent; elsewhere the end of stdin has to do."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _exit_at_end_of_input() -> None:
    # The raw descriptor: a buffered reader would hold a lock that the exit waits for.
    while os.read(0, 1024):
        pass
    os._exit(0)


def _keep_stdout_for_the_answer() -> int:
    """Return a private descriptor for the answer; what libraries print goes to stderr."""
    stdout = os.dup(1)
    os.dup2(2, 1)
    return stdout


if __name__ == "__main__":
    main()
