"""The choice of a model: what the providers offer, which model answers, and in what window."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from typing import Literal, NamedTuple

from ollm_tui.core.errors import OllmError, ProviderError, UsageError
from ollm_tui.core.provider import Capabilities, ModelInfo, Provider, ProviderSource
from ollm_tui.core.session.session import Session
from ollm_tui.settings.schema import ModelSettings, Settings

AUTOMATIC_WINDOW = 8192
"""Tokens of an automatic window where memory is unknown: this many fit nearly everywhere."""
SMALLEST_WINDOW, LARGEST_WINDOW = 2048, 32_768
"""Bounds of an automatic window, in tokens: longer prompts take minutes to read on a CPU."""
MEMORY_SHARE = 8
"""An automatic window may take an eighth of the memory; the model itself needs the most."""

BUILT_IN = "embedded"
"""The provider that is part of the program: it is there at once, others have to be found."""
OFFER_SECONDS = 4.0
"""How long a provider may take to list its models."""


class ModelChoice(NamedTuple):
    """The model that answers, and the parameters of every request to it in a session."""

    provider: Provider
    model: str
    window: int | None = None
    max_output: int | None = None
    temperature: float | None = None
    thinking: bool | None = None
    largest_window: int | None = None
    """The longest window the model was made for, where its server says so."""
    counting: bool = False
    """Whether the provider counts prompts exactly."""
    tools: bool | None = False
    """Whether the model can use tools; None where its server does not say."""
    images: bool | None = None
    """Whether the model can look at pictures; None where its server does not say."""


class ProviderOffer(NamedTuple):
    """The models of one provider, or the error it gave instead."""

    name: str
    models: tuple[ModelInfo, ...] = ()
    error: str = ""
    hint: str = ""


class ModelChooser:
    """Chooses a provider, a model and a window as the settings and the user ask."""

    def __init__(
        self,
        settings: Settings,
        providers: ProviderSource,
        *,
        offer_seconds: float = OFFER_SECONDS,
    ) -> None:
        self._settings = settings
        self._providers = providers
        self._offer_seconds = offer_seconds
        self._offered: dict[str, ProviderOffer] = {}

    @property
    def names(self) -> list[str]:
        """The names of all providers, the built-in one first."""
        return sorted(self._providers.names(), key=lambda name: name != BUILT_IN)

    @property
    def known_models(self) -> list[str]:
        """The models offered so far and those in the settings; no provider is asked."""
        offered = [info.name for offer in self._offered.values() for info in offer.models]
        return list(dict.fromkeys((*offered, *self._settings.models)))

    async def choose(
        self, provider: str | None, model: str | None, window: int | None = None
    ) -> ModelChoice:
        """The model to use, the default one for None; `window` is what the session had with it.
        UsageError or ProviderError if there is none."""
        chosen, name = await self._providers.select(provider, model)
        wishes = self._settings.models.get(name, ModelSettings())
        able = await _capabilities(chosen, name)
        return ModelChoice(
            provider=chosen,
            model=name,
            window=self._window(wishes, able, window),
            max_output=wishes.max_output,
            temperature=wishes.temperature,
            thinking=wishes.thinking,
            largest_window=able.max_window if able else None,
            counting=able.counting if able else False,
            tools=able.tools if able else False,
            images=able.images if able else None,
        )

    async def choose_again(
        self, header: Session, provider: str | None, model: str | None
    ) -> ModelChoice:
        """The model to resume a session with: the one asked for, else the session's own, else
        any that is there. UsageError or ProviderError if there is none."""
        if provider or model:
            return await self.choose(provider or header.provider, model)
        try:
            return await self.choose(header.provider, header.model, header.window)
        except (ProviderError, UsageError):  # gone, or not running: the session opens anyway
            return await self.choose(None, None)

    async def offers(self) -> AsyncGenerator[ProviderOffer, None]:
        """The offer of every provider as it comes in; all are asked at once. A provider that
        fails or takes too long gives an offer with its error."""
        asked = [asyncio.create_task(self._offer(name)) for name in self.names]
        try:
            for answered in asyncio.as_completed(asked):
                offer = await answered
                self._offered[offer.name] = offer
                yield offer
        finally:
            for task in asked:
                task.cancel()

    async def capabilities(self, provider: str, model: str) -> Capabilities:
        """What a model can do on a provider. UsageError or ProviderError."""
        return await (await self._providers.get(provider)).capabilities(model)

    async def _offer(self, name: str) -> ProviderOffer:
        try:
            async with asyncio.timeout(self._offer_seconds):
                provider = await self._providers.get(name)
                return ProviderOffer(name, await provider.list_models())
        except TimeoutError:
            waited = f"no answer within {self._offer_seconds:g} seconds"
            return ProviderOffer(name, error=waited, hint="try again in a moment")
        except OllmError as error:
            return ProviderOffer(name, error=error.message, hint=error.hint)

    def _window(
        self, wishes: ModelSettings, able: Capabilities | None, before: int | None
    ) -> int | None:
        wanted = wishes.window or self._settings.context.window
        if wanted == "auto" and before:
            return before  # whatever the server has loaded since: another one reloads the model
        if able is None:
            return wanted if isinstance(wanted, int) else None
        return choose_window(wanted, able, machine_memory())


def choose_window(
    wanted: int | Literal["auto"] | None, capabilities: Capabilities, memory: int | None = None
) -> int | None:
    """The window to send with every request of a session; None where the server has its own.

    `wanted` is only limited by what the model was made for; without it, the window of a loaded
    model is taken, because another one would reload it. `memory` is in bytes.
    """
    largest = capabilities.max_window
    if isinstance(wanted, int):
        return min(wanted, largest) if largest else wanted
    if capabilities.window:
        return capabilities.window
    if not largest:
        return None
    return min(largest, _fitting(capabilities.window_bytes_per_token, memory))


def machine_memory() -> int | None:
    """The memory of this machine in bytes, where the system says so."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def _fitting(bytes_per_token: int | None, memory: int | None) -> int:
    """The largest power of two whose cache fits into its share of the memory, within bounds."""
    if not bytes_per_token or not memory:
        return AUTOMATIC_WINDOW
    room = memory // MEMORY_SHARE // bytes_per_token
    window = 1 << max(0, room.bit_length() - 1)
    return min(max(window, SMALLEST_WINDOW), LARGEST_WINDOW)


async def _capabilities(provider: Provider, model: str) -> Capabilities | None:
    """What a model can do; None if its provider fails to say."""
    try:
        return await provider.capabilities(model)
    except ProviderError:
        return None
