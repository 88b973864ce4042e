"""What the providers of a workspace offer: all asked at once, failures are values."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from ollm_tui.core.errors import Unavailable, UsageError
from ollm_tui.core.provider import ModelInfo, Provider
from ollm_tui.engine.model_choice import ModelChooser, ProviderOffer
from ollm_tui.engine.workspace import Workspace
from ollm_tui.providers.scripted import MODEL, Scripted
from ollm_tui.services.recording import Recording
from ollm_tui.services.session_library import SessionLibrary
from ollm_tui.settings.schema import Settings
from ollm_tui.storage.layout import StoreLayout


class Down(Scripted):
    """A server that is not there."""

    async def list_models(self) -> tuple[ModelInfo, ...]:
        raise Unavailable("nobody answers", "start it")


class Meeting(Scripted):
    """A server that answers only while another is being asked too."""

    def __init__(self, both: asyncio.Barrier, name: str) -> None:
        super().__init__(name=name)
        self.both = both

    async def list_models(self) -> tuple[ModelInfo, ...]:
        await self.both.wait()
        return await super().list_models()


class Silent(Scripted):
    """A server that takes the question and never answers."""

    async def list_models(self) -> tuple[ModelInfo, ...]:
        await asyncio.Event().wait()
        return ()


def three() -> tuple[Scripted, ...]:
    """Two that wait for each other, and one that is not there."""
    both = asyncio.Barrier(2)
    return Meeting(both, "one"), Down(name="down"), Meeting(both, "two")


class Several:
    """The providers of a test, by name."""

    def __init__(self, *made: Scripted) -> None:
        self.providers = {provider.name: provider for provider in made}

    def names(self) -> list[str]:
        return [*self.providers, "keyless"]

    async def get(self, name: str) -> Provider:
        if name == "keyless":
            raise Unavailable("keyless has no key", "set one")
        if name not in self.providers:
            raise UsageError(f"there is no provider {name!r}")
        return self.providers[name]

    async def select(self, provider: str | None, model: str | None) -> tuple[Provider, str]:
        return await self.get(provider or "one"), model or MODEL

    async def close(self) -> None:
        """Nothing to close."""


@pytest_asyncio.fixture
async def workspace(home: Path) -> AsyncIterator[Workspace]:
    library = SessionLibrary.at(StoreLayout(home / "sessions"))
    recording = Recording(library.store, library.index)
    opened = Workspace(Settings(), recording, library, Several(*three()), home)
    yield opened
    await opened.close()


async def test_every_provider_is_asked_at_once_and_failures_are_values(
    workspace: Workspace,
) -> None:
    models = (ModelInfo(name=MODEL, max_window=8192),)
    assert await workspace.offers() == [
        ProviderOffer("one", models),
        ProviderOffer("down", error="nobody answers", hint="start it"),
        ProviderOffer("two", models),
        ProviderOffer("keyless", error="keyless has no key", hint="set one"),
    ]


async def test_capabilities_are_those_of_the_named_provider(workspace: Workspace) -> None:
    assert (await workspace.capabilities("two", MODEL)).window == 8192
    with pytest.raises(UsageError):
        await workspace.capabilities("nobody", MODEL)


async def test_a_server_that_never_answers_does_not_hold_up_the_others() -> None:
    providers = Several(Silent(name="silent"), Scripted(name="quick"))
    silent, quick, _ = await ModelChooser(Settings(), providers, offer_seconds=0.05).offers()
    assert silent.error == "no answer within 0.05 seconds" and not silent.models
    assert [model.name for model in quick.models] == [MODEL]
