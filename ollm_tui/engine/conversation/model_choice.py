"""The choice of a model: what the providers offer, which model answers, and in what window."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Literal, NamedTuple

from msgspec.structs import replace

from ollm_tui.core.errors import OllmError, ProviderError, UsageError
from ollm_tui.core.model_card import ModelCard
from ollm_tui.core.provider import (
    Capabilities,
    ChangesRegions,
    MayBeAbsent,
    Missed,
    ModelInfo,
    Provider,
    ProviderSource,
    SendsAway,
    Thinking,
    same_model,
)
from ollm_tui.core.session.message import Usage
from ollm_tui.core.session.session import Session
from ollm_tui.engine.conversation.model_store import ModelStore
from ollm_tui.engine.conversation.regions import is_region
from ollm_tui.settings.schema import ModelSettings, Settings

AUTOMATIC_WINDOW = 8192
"""Tokens of an automatic window where memory is unknown: this many fit nearly everywhere."""
SMALLEST_WINDOW, LARGEST_WINDOW = 8192, 32_768
"""Bounds of an automatic window, in tokens: in less than 8k the context would be compressed at
once, and longer prompts than 32k take minutes to read on a CPU."""
MEMORY_SHARE = 4
"""An automatic window may take a quarter of the free memory; the model itself needs the most."""

MEMORY_FACTS = Path("/proc/meminfo")

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
    thinking: Thinking | None = None
    largest_window: int | None = None
    """The longest window the model was made for, where its server says so."""
    window_bytes_per_token: int | None = None
    """Memory of this machine that each token of the window takes, where that is known."""
    resizable: bool = False
    """Whether the window can be changed by asking for another one."""
    counting: bool = False
    """Whether the provider counts prompts exactly."""
    continues: bool = False
    """Whether the model goes on with an answer that ends the prompt."""
    tools: bool | None = False
    """Whether the model can use tools; None where its server does not say."""
    images: bool | None = None
    """Whether the model can look at pictures; None where its server does not say."""
    remote_host: str | None = None
    """The machine that gets what is said; None if it is this one."""
    missed: Missed | None = None
    """The provider that would have been chosen, had it been there."""
    card: ModelCard | None = None
    """What is known of the model without asking, with its prices."""
    unused: str = ""
    """The one hosted provider that is set up and was not named, so that it is not used."""

    def priced(self, usage: Usage | None) -> Usage | None:
        """What an answer took, with its cost; what this machine answers is free."""
        own = self.card and self.card.input is not None
        if usage is None or (self.remote_host is None and not own):
            return usage
        rates = self.card.rates(usage.input_tokens) if self.card else None
        return replace(usage, cost=rates.cost(usage) if rates else "unknown")

    @property
    def reason(self) -> str:
        """Why this model answers and not another, in words; empty if there is nothing to say."""
        answers = f"using {self.model} on {self.provider.name}"
        if self.unused:
            use = f"set provider: {self.unused}, or F7"
            return f"{answers}; {self.unused} is not on this machine ({use})"
        return f"{self.missed.why}; {answers}" if self.missed and self.missed.why else ""


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
        self.store = ModelStore(settings, providers)
        """The models on this machine: to fetch, delete and unload them."""

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
        chosen, name, missed = await self._providers.select(provider, model)
        wishes = self._wishes(name)
        able = await _capabilities(chosen, name)
        return ModelChoice(
            provider=chosen,
            model=name,
            window=self._window(wishes, able, window),
            max_output=wishes.max_output,
            temperature=wishes.temperature,
            thinking=wishes.thinking,
            largest_window=able.max_window if able else None,
            window_bytes_per_token=able.window_bytes_per_token if able else None,
            resizable=able.resizable if able else False,
            counting=able.counting if able else False,
            continues=able.continues if able else False,
            tools=able.tools if able else False,
            images=able.images if able else None,
            remote_host=await _remote_host(chosen, name),
            missed=missed,
            card=_own_prices(wishes) or (able.card if able else None),
            unused="" if provider or model else self._unused(),
        )

    @property
    def regional(self) -> dict[str, str | None]:
        """The providers with a region, and the one that the settings say."""
        named = self._settings.providers.items()
        return {name: each.region for name, each in named if each.kind_for(name) == "bedrock"}

    async def use_region(self, provider: str, region: str) -> None:
        """Have a provider answer in another region from now on. UsageError if it has none."""
        if not is_region(region):
            raise UsageError(f"{region!r} is not a region", "for example eu-central-1")
        if isinstance(self._providers, ChangesRegions):
            await self._providers.use_region(provider, region)

    async def named(self, words: str, current: Provider | None) -> tuple[str | None, str]:
        """The provider and the model that words mean: PROVIDER/MODEL, or a model of the provider
        that answers now; the provider is None where it has to be found."""
        name, _, model = words.partition("/")
        if model and name in self._providers.names():
            return name, model
        try:
            offered = await current.list_models() if current else ()
        except ProviderError:  # its models are not known now, but others' may be
            offered = ()
        is_offered = any(info.is_called(words) for info in offered)
        return current.name if current and is_offered else None, words

    async def destination(self, provider: str | None, model: str | None) -> str | None:
        """The machine that would get what is said; None if it is this one. UsageError or
        ProviderError if that cannot be told, since nobody has the model now."""
        try:
            return (await self.choose(provider, model)).remote_host
        except OllmError:  # without its key, say; with it, it would be sent all the same
            named = self._settings.providers.get(provider or "")
            if named is None:
                raise
            return named.host or provider

    async def came_back(self, provider: str) -> str | None:
        """The model a provider would answer with that was missed before; None while it is not
        there."""
        try:
            server = await self._providers.get(provider)
            if (
                isinstance(server, MayBeAbsent)
                and await server.presence(self._offer_seconds) != "there"
            ):
                return None
            return await server.default_model()
        except OllmError:
            return None

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
        able = await (await self._providers.get(provider)).capabilities(model)
        return replace(able, card=_own_prices(self._wishes(model)) or able.card)

    async def _offer(self, name: str) -> ProviderOffer:
        try:
            async with asyncio.timeout(self._offer_seconds):
                provider = await self._providers.get(name)
                models = await provider.list_models()
            return ProviderOffer(name, tuple(map(self._with_own_prices, models)))
        except TimeoutError:
            waited = f"no answer within {self._offer_seconds:g} seconds"
            return ProviderOffer(name, error=waited, hint="try again in a moment")
        except OllmError as error:
            return ProviderOffer(name, error=error.message, hint=error.hint)

    def _with_own_prices(self, info: ModelInfo) -> ModelInfo:
        own = _own_prices(self._wishes(info.name))
        return replace(info, card=own) if own else info

    def _unused(self) -> str:
        """The only provider of the settings, if it is a hosted one that they do not choose."""
        named = self._settings.providers
        if self._settings.provider != "auto" or len(named) != 1:
            return ""
        [(name, settings)] = named.items()
        return "" if settings.stays_here(name) else name

    def _wishes(self, model: str) -> ModelSettings:
        """What the settings say about a model, under any of its names."""
        named = self._settings.models
        found = named.get(model) or next(
            (each for name, each in named.items() if same_model(name, model)), None
        )
        return found or ModelSettings()

    def _window(
        self, wishes: ModelSettings, able: Capabilities | None, before: int | None
    ) -> int | None:
        wanted = wishes.window or self._settings.context.window
        if wanted == "auto" and before:
            return before  # whatever the server has loaded since: another one reloads the model
        if able is None:
            return wanted if isinstance(wanted, int) else None
        return choose_window(wanted, able, free_memory())


def choose_window(
    wanted: int | Literal["auto"] | None, capabilities: Capabilities, memory: int | None = None
) -> int | None:
    """The window to send with every request of a session; None where the server has its own.

    `wanted` is only limited by what the model was made for. Without it, the window is the largest
    that the model and the memory allow; one that is loaded already stays if it is larger, because
    another one would reload it, or if it cannot be changed. `memory` is what is free, in bytes.
    """
    largest, loaded = capabilities.max_window, capabilities.window
    if isinstance(wanted, int):
        return min(wanted, largest) if largest else wanted
    if not largest or (loaded and not capabilities.resizable):
        return loaded
    return max(loaded or 0, min(largest, _fitting(capabilities.window_bytes_per_token, memory)))


def free_memory() -> int | None:
    """The memory of this machine that programs may still take, in bytes, where that is known."""
    try:
        for line in MEMORY_FACTS.read_text().splitlines():
            name, _, value = line.partition(":")
            if name == "MemAvailable":
                return int(value.split()[0]) * 1024
    except (OSError, ValueError, IndexError):
        pass  # not Linux
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, OSError, ValueError):
        return None


def _fitting(bytes_per_token: int | None, memory: int | None) -> int:
    """The largest power of two whose cache fits into its share of the memory, within bounds."""
    if not bytes_per_token or not memory:
        return AUTOMATIC_WINDOW
    room = memory // MEMORY_SHARE // bytes_per_token
    window = 1 << max(0, room.bit_length() - 1)
    return min(max(window, SMALLEST_WINDOW), LARGEST_WINDOW)


def _own_prices(wishes: ModelSettings) -> ModelCard | None:
    """The prices that the user has set; None without both."""
    if wishes.input_price is None or wishes.output_price is None:
        return None
    return ModelCard(
        input=wishes.input_price,
        output=wishes.output_price,
        cached=wishes.cached_price,
        cache_write=wishes.cache_write_price,
    )


async def _remote_host(provider: Provider, model: str) -> str | None:
    """The machine that gets what is said to a model; None if it is this one."""
    if not isinstance(provider, SendsAway):
        return None
    try:
        return await provider.remote_host(model)
    except ProviderError:  # it cannot be asked anything now, let alone be sent something
        return None


async def _capabilities(provider: Provider, model: str) -> Capabilities | None:
    """What a model can do; None if its provider fails to say."""
    try:
        return await provider.capabilities(model)
    except ProviderError:
        return None
