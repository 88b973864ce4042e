"""Who can answer and who does: what the providers offer, and the window a model gets."""

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
"""Local models take memory for their window; this much fits nearly everywhere."""
SMALLEST_WINDOW, LARGEST_WINDOW = 2048, 32_768
"""What is chosen unasked stays within these: longer prompts take minutes to read on a CPU."""
MEMORY_SHARE = 8
"""The window may take one part in so many of the memory; the model needs the most of it."""


def choose_window(
    wanted: int | Literal["auto"] | None, capabilities: Capabilities, memory: int | None = None
) -> int | None:
    """The window to send with every request of a session; None where the server has its own.

    What the user asked for is only ever limited by what the model was made for. What is
    loaded stays: another window would reload the model.
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
    """The largest power of two whose cache takes its share of the memory at most."""
    if not bytes_per_token or not memory:
        return AUTOMATIC_WINDOW
    room = memory // MEMORY_SHARE // bytes_per_token
    window = 1 << max(0, room.bit_length() - 1)
    return min(max(window, SMALLEST_WINDOW), LARGEST_WINDOW)


BUILT_IN = "embedded"
"""Part of the program, so it is there at once, while others have to be looked for."""
OFFER_SECONDS = 4.0
"""How long a provider may take to say what it has; the others are not held up by it."""


class ModelChoice(NamedTuple):
    """Who answers, and how requests to it look; equal for all requests of a session."""

    provider: Provider
    model: str
    window: int | None = None
    max_output: int | None = None
    temperature: float | None = None
    thinking: bool | None = None
    largest_window: int | None = None
    """What the model was made for, where its server says so."""
    counting: bool = False
    """Whether the provider counts prompts exactly."""
    tools: bool | None = False
    """Whether the model can use tools; None where its server does not say."""
    images: bool | None = None
    """Whether the model can look at pictures; None where its server does not say."""


class ProviderOffer(NamedTuple):
    """The models of one provider, or why it cannot say which it has."""

    name: str
    models: tuple[ModelInfo, ...] = ()
    error: str = ""
    hint: str = ""


class ModelChooser:
    """Finds a provider, a model and a window, as the settings and the user want them."""

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
        """Every provider there is, the one that is part of the program first."""
        return sorted(self._providers.names(), key=lambda name: name != BUILT_IN)

    @property
    def known_models(self) -> list[str]:
        """The models that were offered so far, and those the settings speak of: nobody is asked."""
        offered = [info.name for offer in self._offered.values() for info in offer.models]
        return list(dict.fromkeys((*offered, *self._settings.models)))

    async def choose(
        self, provider: str | None, model: str | None, window: int | None = None
    ) -> ModelChoice:
        """Who answers; `window` is the one the session has had so far with the same model."""
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
        """Who goes on with a session: as asked for, who did before, or else whoever is there."""
        if provider or model:
            return await self.choose(provider or header.provider, model)
        try:
            return await self.choose(header.provider, header.model, header.window)
        except (ProviderError, UsageError):
            return await self.choose(None, None)

    async def offers(self) -> AsyncGenerator[ProviderOffer, None]:
        """What every provider has, as they answer; all are asked at once, failures are values."""
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
            return before  # whatever the server has loaded since then: changing it reloads models
        if able is None:
            return wanted if isinstance(wanted, int) else None
        return choose_window(wanted, able, machine_memory())


async def _capabilities(provider: Provider, model: str) -> Capabilities | None:
    """What a model can do; None if its server cannot be asked now."""
    try:
        return await provider.capabilities(model)
    except ProviderError:
        return None
