"""The server that turns texts into vectors: a process of its own, beside the one that chats."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ollm_tui.core.errors import Unavailable
from ollm_tui.providers.llama_cpp.model_files import ModelFile
from ollm_tui.providers.llama_cpp.server_process import ServerProcess, ServerSlot, ServerTarget

if TYPE_CHECKING:
    from ollm_tui.providers.openai_chat import OpenAICompatible

WINDOW = 512
LONGEST = 1_000
"""Characters of a text that are read: about 250 tokens, and never more than the window."""
SHORTER = 480
"""Characters that fit into the window whatever they are."""


class VectorServer:
    """Starts the server when it is needed; it ends with the program."""

    def __init__(self, command: Sequence[str], inactivity_seconds: float) -> None:
        self._slot = ServerSlot(command)
        self._inactivity_seconds = inactivity_seconds
        self._client: OpenAICompatible | None = None
        self._client_key = ""

    async def embed(self, file: ModelFile, texts: Sequence[str]) -> tuple[tuple[float, ...], ...]:
        """Return a vector for each text; only its beginning is read. ProviderError."""
        target = ServerTarget(name=file.name, path=file.path, window=WINDOW, makes_vectors=True)
        cut = [_cut(text) for text in texts]
        async with self._slot.use(target) as server:
            client = await self._client_of(server)
            try:
                return await client.embed(file.name, cut)
            except Unavailable as error:
                if await server.has_ended():
                    raise server.ended("while it read a text") from error
                raise

    async def close(self) -> None:
        """Close the connection and end the server."""
        client, self._client = self._client, None
        try:
            if client is not None:
                await client.close()
        finally:
            await self._slot.close()

    async def _client_of(self, server: ServerProcess) -> OpenAICompatible:
        """Return the client of a server; every server has a key of its own."""
        if self._client is None or self._client_key != server.key:
            made = await asyncio.to_thread(_client, server, self._inactivity_seconds)
            old, self._client, self._client_key = self._client, made, server.key
            if old is not None:
                await old.close()
        return self._client


def _client(server: ServerProcess, inactivity_seconds: float) -> OpenAICompatible:
    # Imported late: httpx takes 130 ms to load.
    from ollm_tui.providers.openai_chat import OpenAICompatible

    return OpenAICompatible(
        name=server.target.name,
        base_url=f"http://127.0.0.1:{server.port}/v1",
        api_key=server.key,
        inactivity_seconds=inactivity_seconds,
        keepalive=False,
    )


def _cut(text: str) -> str:
    """Return as much of a text as fits into the window: a rare character is a token by itself."""
    words = " ".join(text.split())[:LONGEST]
    plain = sum(letter.isascii() and (letter.isalpha() or letter == " ") for letter in words)
    return words if plain >= 0.8 * len(words) else words[:SHORTER]
