"""The models that are stored on this machine: fetched, copied, deleted, and taken out of memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import NamedTuple

from ollm_tui.core.errors import OllmError, UsageError
from ollm_tui.core.provider import (
    CanCopy,
    CanPull,
    HasSearchModels,
    ModelInfo,
    Preparing,
    Provider,
    ProviderSource,
    RunningModel,
    StoresModels,
)
from ollm_tui.settings.schema import BUILT_IN_PROVIDERS, ProviderSettings, Settings


class Shelf(NamedTuple):
    """The models that one provider stores, or the error it gave instead."""

    provider: str
    models: tuple[ModelInfo, ...] = ()
    running: tuple[RunningModel, ...] = ()
    error: str = ""
    hint: str = ""


class ModelStore:
    """What Ollama and the embedded provider store; other providers have nothing here."""

    def __init__(self, settings: Settings, providers: ProviderSource) -> None:
        self._settings = settings
        self._providers = providers

    @property
    def names(self) -> list[str]:
        """The providers that store models."""
        named = self._settings.providers
        kinds = {
            name: named.get(name, ProviderSettings()).kind_for(name)
            for name in self._providers.names()
        }
        return [name for name, kind in kinds.items() if kind in BUILT_IN_PROVIDERS]

    async def shelves(self) -> AsyncGenerator[Shelf, None]:
        """Yield what each provider stores, as they answer; all are asked at once."""
        asked = [asyncio.create_task(self._shelf(name)) for name in self.names]
        try:
            for answered in asyncio.as_completed(asked):
                yield await answered
        finally:
            for task in asked:
                task.cancel()

    async def source_of(self, model: str) -> str:
        """Return the provider that a model is fetched with: the embedded one if it knows it."""
        embedded = await self._providers.get("embedded")
        known = [info.name for info in await stored_models(embedded)]
        return "embedded" if model in known else "ollama"

    async def pull(self, provider: str, model: str) -> AsyncGenerator[Preparing, None]:
        """Fetch a model and yield the progress. ProviderError, UsageError."""
        source = await self._providers.get(provider)
        if not isinstance(source, CanPull):
            raise UsageError(f"{provider} cannot pull models", "use embedded or ollama")
        async with aclosing(source.pull(model)) as steps:
            async for step in steps:
                yield step

    async def copy(self, provider: str, model: str, name: str) -> None:
        """Give a model a second name. ProviderError, UsageError where that is not possible."""
        source = await self._providers.get(provider)
        if not isinstance(source, CanCopy):
            raise UsageError(f"cannot copy models of {provider}", "only those of Ollama")
        await source.copy(model, name)

    async def delete(self, provider: str, model: str) -> None:
        """Delete a model for good. ProviderError, UsageError."""
        await (await self._storing(provider)).delete(model)

    async def unload(self, provider: str, model: str) -> None:
        """Take a model out of memory. ProviderError, UsageError."""
        await (await self._storing(provider)).unload(model)

    async def _storing(self, name: str) -> StoresModels:
        provider = await self._providers.get(name)
        if not isinstance(provider, StoresModels):
            raise UsageError(f"{name} stores no models here", "use embedded or ollama")
        return provider

    async def _shelf(self, name: str) -> Shelf:
        try:
            provider = await self._providers.get(name)
            models = await stored_models(provider)
            running = await provider.running() if isinstance(provider, StoresModels) else ()
        except OllmError as error:
            return Shelf(name, error=error.message, hint=error.hint)
        return Shelf(name, models, running)


async def stored_models(provider: Provider) -> tuple[ModelInfo, ...]:
    """Return all models of a provider, those for searches last. ProviderError."""
    models = await provider.list_models()
    if not isinstance(provider, HasSearchModels):
        return models
    others = await provider.search_models()
    return (*models, *(each for each in others if each not in models))
