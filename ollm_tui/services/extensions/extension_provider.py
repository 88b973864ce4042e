"""A model server that an extension brings, as the engine knows servers."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
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
    """Asks a server of an extension piece by piece, each in a thread that is abandoned when it
    hangs."""

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
        answer = await self._call(lambda: iter(self._provider.answer(request.model, messages)))
        while (piece := await self._call(next, answer, None)) is not None:
            if not isinstance(piece, str):
                raise self._failed(f"it yielded {type(piece).__name__}, not a text")
            yield TextDelta(piece)
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
        names = await self._call(self._provider.models, seconds=self._host.limit_seconds)
        try:
            known = msgspec.convert(names, tuple[str, ...])
        except msgspec.ValidationError:
            raise self._failed("its models are not a list of names") from None
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

    async def _call(
        self, call: Callable[..., Any], *arguments: object, seconds: float | None = None
    ) -> Any:
        """Call the extension. Unavailable if that fails."""
        seconds = seconds or self._inactivity_seconds
        try:
            return await self._host.call(self._extension, call, *arguments, seconds=seconds)
        except ExtensionFailed as error:
            raise self._failed(str(error)) from error

    def _failed(self, why: str) -> Unavailable:
        self._host.switch_off(self._extension, why)
        return Unavailable(f"extension {self._extension} failed: {why}", "choose another model: F7")


def added_providers(host: ExtensionHost) -> Sequence[AddedProvider]:
    """All servers that extensions bring now."""
    return [AddedProvider(host, name, each) for name, each in host.providers()]
