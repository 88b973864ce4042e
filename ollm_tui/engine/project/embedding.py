"""Texts as vectors, made by the provider that the settings name."""

from __future__ import annotations

from collections.abc import Sequence

from ollm_tui.core.errors import UsageError
from ollm_tui.core.provider import CanEmbed, ProviderSource


class Embedding:
    """Asks one model of one provider: `ollama/nomic-embed-text`, or of whoever answers."""

    def __init__(self, providers: ProviderSource, name: str) -> None:
        self._providers = providers
        self._name = name

    async def __call__(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """A vector for each text. UsageError where the provider makes none, or a ProviderError."""
        server, _, model = self._name.partition("/")
        if model and server in self._providers.names():
            provider = await self._providers.get(server)
        else:
            (provider, _), model = await self._providers.select(None, None), self._name
        if not isinstance(provider, CanEmbed):
            hint = "search.embeddingModel is a provider and a model: ollama/nomic-embed-text"
            raise UsageError(f"provider {provider.name} makes no embeddings", hint)
        return await provider.embed(model, texts)
