"""The embedded provider: models run on this machine by llama.cpp in a child process."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ollm_tui.core.errors import ModelMissing, Unavailable
from ollm_tui.core.provider import (
    Capabilities,
    ChatRequest,
    ModelInfo,
    Preparing,
    RunningModel,
    StreamEvent,
    Vocabulary,
)
from ollm_tui.providers.llama_cpp.gguf import read_header, read_vocabulary
from ollm_tui.providers.llama_cpp.model_catalogue import DEFAULT_MODEL
from ollm_tui.providers.llama_cpp.model_download import PIP_COMMAND
from ollm_tui.providers.llama_cpp.model_files import ModelFile, ModelFiles
from ollm_tui.providers.llama_cpp.server_process import (
    SERVER_COMMAND,
    RunningServer,
    ServerSlot,
    ServerTarget,
    Slot,
    no_engine,
)
from ollm_tui.providers.llama_cpp.vector_server import VectorServer

if TYPE_CHECKING:
    from ollm_tui.providers.openai_chat import OpenAICompatible

DEFAULT_WINDOW = 8192
"""In tokens; used if a request does not ask for a window."""
ENGINE = "xllamacpp"
"""The package that contains llama.cpp."""


MEMORY_SHARE = 2
"""One part in so many of the memory may be taken by a model that nobody has chosen."""


class Embedded:
    """A provider that needs no running server: it starts its own and ends it again."""

    def __init__(
        self,
        *,
        name: str = "embedded",
        models_dir: Path,
        inactivity_seconds: float = 120.0,
        pip_command: Sequence[str] = PIP_COMMAND,
        server_command: Sequence[str] = SERVER_COMMAND,
        shared: Slot | None = None,
    ) -> None:
        """`shared` is where a server is had from that several programs use."""
        self._name = name
        self._files = ModelFiles(models_dir, pip_command=pip_command)
        self._inactivity_seconds = inactivity_seconds
        self._slot: Slot = shared or ServerSlot(server_command)
        self._vectors = VectorServer(server_command, inactivity_seconds)
        self._client: OpenAICompatible | None = None
        self._client_key = ""
        self._fetching = asyncio.Lock()

    @property
    def name(self) -> str:
        """The name of this provider in the settings."""
        return self._name

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """Stream the answer; before it come events for what has to be fetched and started."""
        async with aclosing(self._fetch_if_missing(request.model)) as steps:
            async for step in steps:
                yield step
        file = self._files.find(request.model)
        target = self._target(file, request.window)
        await self._slot.look()
        if self._slot.is_used_by_others:
            yield Preparing("another tab is answering")
        elif not self._slot.serves(target):
            yield Preparing(f"starting {request.model}")
        async with self._serving(target) as server:
            answer = (await self._client_of(server)).stream(_with_defaults(request, file))
            try:
                async with aclosing(answer) as events:
                    async for event in events:
                        yield event
            except Unavailable as error:
                # A dead server looks like a broken connection; its own output says more.
                if await server.has_ended():
                    raise server.ended("in the middle of the answer") from error
                raise

    async def count_tokens(self, request: ChatRequest) -> int | None:
        """Count exactly. None if the model is not installed or the server is busy with another."""
        if not self._files.is_installed(request.model):
            return None
        await self._slot.look()
        # Any window of the running server will do: counting must not restart it.
        target = self._target(self._files.find(request.model), None)
        if not self._slot.serves(target):
            if self._slot.busy:
                return None
            target = self._target(self._files.find(request.model), request.window)
        async with self._serving(target) as server:
            return await (await self._client_of(server)).count_tokens(request)

    def tokenizes(self, model: str) -> bool:
        """Return whether the server of this model runs."""
        server = self._slot.server
        return server is not None and server.target.name == model

    async def token_counts(self, model: str, texts: Sequence[str]) -> tuple[int, ...] | None:
        """Count the tokens of each text with the running server; none is started for this."""
        server = self._slot.server
        if server is None or not self.tokenizes(model):
            return None
        async with self._serving(server.target) as serving:
            return await (await self._client_of(serving)).token_counts(texts)

    async def vocabulary(self, model: str) -> Vocabulary | None:
        """Read the vocabulary from the model file; no server is started."""
        if not self._files.is_installed(model):
            return None
        return await asyncio.to_thread(read_vocabulary, self._files.path(model))

    async def capabilities(self, model: str) -> Capabilities:
        """Return what the model can do; no server is started to find out."""
        server = self._slot.server
        if server is not None and self.tokenizes(model):
            loaded = await (await self._client_of(server)).capabilities(model)
            return msgspec.structs.replace(
                loaded,
                counting=True,
                continues=True,
                images=False,
                window_bytes_per_token=await self._window_bytes(model),
                resizable=True,
            )
        known = self._files.known(model)
        return Capabilities(
            tools=known.tools if known else None,
            counting=True,
            continues=True,
            thinking=False if known else None,
            images=False,
            max_window=known.max_window if known else self._files.find(model).max_window,
            window_bytes_per_token=await self._window_bytes(model),
            resizable=True,
        )

    async def _window_bytes(self, model: str) -> int | None:
        """Return the memory that each token of the window takes; None if the file is not here."""
        if not self._files.is_installed(model):
            return None
        try:
            header = await asyncio.to_thread(read_header, self._files.path(model))
        except Unavailable:
            return None
        return header.window_bytes_per_token

    async def list_models(self) -> tuple[ModelInfo, ...]:
        """Return the known models and the user's own files."""
        return await asyncio.to_thread(self._files.list_models)

    async def search_models(self) -> tuple[ModelInfo, ...]:
        """Return the models that make vectors for searches and cannot chat."""
        return await asyncio.to_thread(self._files.search_models)

    async def embed(self, model: str, texts: Sequence[str]) -> tuple[tuple[float, ...], ...]:
        """Return a vector for each text, made by a server of its own."""
        known = self._files.known(model)
        if known is None or not known.is_for_search:
            raise ModelMissing(f"{model} cannot embed text", "ollm models pull minilm")
        return await self._vectors.embed(self._files.find(model), texts)

    async def default_model(self) -> str:
        """Return the model that is used when none is chosen: the largest on disk that memory has
        room for, else the small one, which is fetched."""
        most = physical_memory() // MEMORY_SHARE
        there = [
            model
            for model in await self.list_models()
            if model.installed and model.chats and (model.size_bytes or 0) <= most
        ]
        best = max(there, key=lambda model: model.size_bytes or 0, default=None)
        return best.name if best else DEFAULT_MODEL

    async def pull(self, model: str) -> AsyncGenerator[Preparing, None]:
        """Download a known model, unless it is installed and undamaged."""
        known = self._files.known(model)
        size = f" ({known.megabytes} MB, once)" if known else ""
        # One at a time: a second request for the same model waits and then finds it installed.
        async with self._fetching, aclosing(self._files.pull(model)) as steps:
            async for step in steps:
                yield Preparing(f"pulling {model}{size}", step.fraction)

    async def running(self) -> tuple[RunningModel, ...]:
        """Return the model whose server runs, if there is one."""
        server = self._slot.server
        if server is None:
            return ()
        window = server.target.window
        return (RunningModel(server.target.name, window=window),)

    async def unload(self, model: str) -> None:
        """End the server of a model. Unavailable while it answers."""
        if not self.tokenizes(model):
            return
        if self._slot.busy:
            raise Unavailable(f"{model} is answering", "stop the answer first")
        await self._slot.close()

    async def delete(self, model: str) -> None:
        """Delete the file of a model, after its server has ended."""
        await self.unload(model)
        await asyncio.to_thread(self._files.delete, model)

    async def verify(self, model: str) -> None:
        """Read a model file and compare its hash. BadAnswer if it is damaged."""
        await self._files.verify(model)

    async def close(self) -> None:
        """Close the connection and end the server."""
        client, self._client = self._client, None
        try:
            if client is not None:
                await client.close()
        finally:
            await self._vectors.close()
            await self._slot.close()

    async def _fetch_if_missing(self, model: str) -> AsyncGenerator[Preparing, None]:
        """Fetch the model if it is the default one and missing; it is small, and others are only
        fetched on request."""
        if model != DEFAULT_MODEL or self._files.path(model).exists():
            return
        if find_spec(ENGINE) is None:
            raise no_engine()  # before a model of 98 MB is fetched in vain
        async with aclosing(self.pull(model)) as steps:
            async for step in steps:
                yield step

    def _target(self, file: ModelFile, window: int | None) -> ServerTarget:
        """Return the server to run; without a window, a running server of this model will do."""
        server = self._slot.server
        if window is None and server is not None and server.target.path == file.path:
            return server.target
        return ServerTarget(name=file.name, path=file.path, window=_window(window, file.max_window))

    @asynccontextmanager
    async def _serving(self, target: ServerTarget) -> AsyncGenerator[RunningServer, None]:
        """Use a server for `target`; the HTTP client is imported while the server starts."""
        loading = asyncio.create_task(asyncio.to_thread(_client_class))
        try:
            async with self._slot.use(target) as server:
                await loading
                yield server
        finally:
            loading.cancel()

    async def _client_of(self, server: RunningServer) -> OpenAICompatible:
        """Return the client of a server; every server has a key of its own."""
        client = self._client
        if client is not None and self._client_key == server.key:
            return client
        self._client_key = server.key
        self._client = _client_class()(
            name=self._name,
            base_url=f"http://127.0.0.1:{server.port}/v1",
            api_key=server.key,
            inactivity_seconds=self._inactivity_seconds,
            # llama.cpp closes the socket after a stream although it announces keep-alive.
            keepalive=False,
            # Without it the server does not notice a closed connection while it reads the prompt.
            extra_body={"return_progress": True},
        )
        old, client = client, self._client
        if old is not None:
            await old.close()
        return client


def _client_class() -> type[OpenAICompatible]:
    """Import the client late: httpx takes 130 ms to load, and meanwhile the server starts."""
    from ollm_tui.providers.openai_chat import OpenAICompatible

    return OpenAICompatible


def _window(requested: int | None, max_window: int | None) -> int:
    window = requested or DEFAULT_WINDOW
    return min(window, max_window) if max_window else window


def _with_defaults(request: ChatRequest, file: ModelFile) -> ChatRequest:
    """Fill in what the request leaves open with what suits this model."""
    return msgspec.structs.replace(
        request,
        temperature=file.temperature if request.temperature is None else request.temperature,
        max_output=file.max_output if request.max_output is None else request.max_output,
    )


def physical_memory() -> int:
    """Return the bytes of memory of this machine; 0 where nobody says."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 0
