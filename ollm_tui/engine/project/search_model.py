"""Chooses the model that turns texts into vectors for searches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ollm_tui.core.errors import OllmError, ProviderError, UsageError
from ollm_tui.core.provider import (
    CanEmbed,
    HasSearchModels,
    MayBeAbsent,
    ProviderSource,
    SendsAway,
)

AUTO = "auto"
BUILT_IN, SERVER = "embedded", "ollama"
PRESENT_SECONDS = 0.5
"""How long a server on this machine may take to say that it is there."""


class SearchModel(NamedTuple):
    """A model that makes vectors."""

    provider: CanEmbed
    name: str
    """The provider's name and the model's: vectors of different models cannot be compared."""
    model: str
    remote_host: str | None = None
    """The machine that gets what is said; None if it is this one."""

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return a vector for each text. ProviderError."""
        return await self.provider.embed(self.model, texts)


class SearchModels:
    """Finds the model that the settings name, or one that is on this machine."""

    def __init__(self, providers: ProviderSource, setting: str | None) -> None:
        self._providers = providers
        self._setting = setting

    async def find(self, *, asks_servers: bool) -> SearchModel | None:
        """Return the model; None if there is none.

        Without `asks_servers`, only files on this machine are looked for. UsageError if the
        settings name a provider that makes no vectors.
        """
        if self._setting is None:
            return None
        if self._setting != AUTO:
            return await self._named(self._setting)
        found = await self._installed(BUILT_IN)
        return found or (await self._installed(SERVER) if asks_servers else None)

    async def _installed(self, name: str) -> SearchModel | None:
        """Return a model that a provider on this machine has; None if there is none."""
        if name not in self._providers.names():
            return None
        try:
            provider = await self._providers.get(name)
            if not (isinstance(provider, CanEmbed) and isinstance(provider, HasSearchModels)):
                return None
            absent = isinstance(provider, MayBeAbsent) and (
                await provider.presence(PRESENT_SECONDS) != "there"
            )
            if absent:
                return None
            models = await provider.search_models()
        except OllmError:
            return None
        here = [each for each in models if each.installed and each.remote_host is None]
        if not here:
            return None
        return SearchModel(provider, f"{name}/{here[0].name}", here[0].name)

    async def _named(self, setting: str) -> SearchModel:
        server, _, model = setting.partition("/")
        if model and server in self._providers.names():
            provider = await self._providers.get(server)
        else:
            provider, model = (await self._providers.select(None, None)).provider, setting
        if not isinstance(provider, CanEmbed):
            hint = "set search.embeddingModel to auto or PROVIDER/MODEL, such as embedded/minilm"
            raise UsageError(f"provider {provider.name} has no embeddings", hint)
        host = None
        if isinstance(provider, SendsAway):
            try:
                host = await provider.remote_host(model)
            except ProviderError:
                host = provider.name  # unknown: it is asked about as if it were elsewhere
        return SearchModel(provider, f"{provider.name}/{model}", model, host)
