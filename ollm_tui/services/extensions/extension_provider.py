"""A model server that an extension brings, as the engine knows servers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from typing import Any

import msgspec

from ollm_tui.core.errors import ModelMissing, Unavailable
from ollm_tui.core.intake import clean
from ollm_tui.core.provider import (
    Capabilities,
    ChatRequest,
    Completed,
    ModelInfo,
    StreamEvent,
    TextDelta,
)
from ollm_tui.extension_api import ExtensionProvider
from ollm_tui.services.extensions.extension_host import ExtensionFailed, ExtensionHost

INACTIVITY_SECONDS = 120.0
"""How long a server of an extension may yield nothing."""


class AddedProvider:
    """Asks a server of an extension, each time in a thread that is abandoned when it hangs."""

    def __init__(
        self,
        host: ExtensionHost,
        extension: str,
        provider: ExtensionProvider,
        inactivity_seconds: float = INACTIVITY_SECONDS,
    ) -> None:
        self._host = host
        self._extension = extension
        self._provider = provider
        self._inactivity_seconds = inactivity_seconds

    @property
    def name(self) -> str:
        """The name of this provider."""
        return self._provider.name

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """Yield the answer as it is written. Unavailable if the extension fails."""
        messages = [{"role": each.role, "text": each.text} for each in request.messages]
        pieces = _Pieces(lambda: self._provider.answer(request.model, messages))
        try:
            while True:
                async with asyncio.timeout(self._inactivity_seconds):
                    piece = await pieces.next()
                if piece is None:
                    break
                yield TextDelta(clean(piece))
        except TimeoutError:
            raise self._failed(f"it yielded nothing for {self._inactivity_seconds:g} s") from None
        except PieceFailed as error:
            raise self._failed(str(error)) from error
        finally:
            pieces.abandon()
        yield Completed(finish="stop", model=request.model)

    async def count_tokens(self, request: ChatRequest) -> int | None:
        """There is no exact way."""
        return None

    async def capabilities(self, model: str) -> Capabilities:
        """Text only; the window is the one the extension names."""
        window = self._provider.window
        return Capabilities(tools=False, thinking=False, images=False, window=window)

    async def list_models(self) -> tuple[ModelInfo, ...]:
        """Return the models. Unavailable if the extension fails."""
        try:
            names: object = await self._host.call(self._extension, self._provider.models)
        except ExtensionFailed as error:
            raise Unavailable(f"{self.name}: {error}", "the extension is switched off") from error
        try:
            known = msgspec.convert(names, tuple[str, ...])
        except msgspec.ValidationError:
            raise self._failed("its models are no list of names") from None
        host = clean(self._provider.sends_to) or None
        return tuple(ModelInfo(name=clean(each), remote_host=host) for each in known)

    async def default_model(self) -> str:
        """Return the first model. ModelMissing if there is none."""
        models = await self.list_models()
        if not models:
            raise ModelMissing(f"{self.name} has no model", "choose another provider")
        return models[0].name

    async def remote_host(self, model: str) -> str | None:
        """Return the machine that gets what is said; None if it is this one."""
        return clean(self._provider.sends_to) or None

    async def close(self) -> None:
        """There is nothing to close."""

    def _failed(self, why: str) -> Unavailable:
        self._host.switch_off(self._extension, why)
        return Unavailable(
            f"the extension {self._extension} failed: {why}", "choose another model: F7"
        )


class PieceFailed(Exception):
    """Raised when a server of an extension raised, or yielded what is no text."""


class _Pieces:
    """What an iterable yields in a thread of its own, one piece at a time."""

    def __init__(self, start: Callable[[], Iterable[str]]) -> None:
        self._loop = asyncio.get_running_loop()
        self._arrived = asyncio.Queue[str | None | PieceFailed]()
        self._is_abandoned = False
        threading.Thread(target=self._run, args=(start,), daemon=True).start()

    async def next(self) -> str | None:
        """Wait for the next piece; None after the last. PieceFailed."""
        piece = await self._arrived.get()
        if isinstance(piece, PieceFailed):
            raise piece
        return piece

    def abandon(self) -> None:
        """Take no more pieces; the thread ends with the next one it has."""
        self._is_abandoned = True

    def _run(self, start: Callable[[], Iterable[Any]]) -> None:
        try:
            for piece in start():
                if self._is_abandoned:
                    return
                if not isinstance(piece, str):
                    raise TypeError(f"it yielded {type(piece).__name__}, not a text")
                self._put(piece)
            self._put(None)
        except BaseException as error:
            self._put(PieceFailed(f"{type(error).__name__}: {error}"))

    def _put(self, piece: str | PieceFailed | None) -> None:
        try:
            self._loop.call_soon_threadsafe(self._arrived.put_nowait, piece)
        except RuntimeError:
            pass  # the program has ended meanwhile


def added_providers(host: ExtensionHost) -> Sequence[AddedProvider]:
    """All servers that extensions bring now."""
    return [AddedProvider(host, name, each) for name, each in host.providers()]
