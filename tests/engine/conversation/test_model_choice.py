"""What the providers of a workspace offer: all asked at once, failures are values."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from ollm_tui.core.errors import Unavailable, UsageError
from ollm_tui.core.provider import ModelInfo, Provider, Selection
from ollm_tui.engine.conversation.model_choice import ModelChooser, ProviderOffer
from ollm_tui.engine.project.workspace import Workspace
from ollm_tui.providers.scripted import MODEL, Scripted
from ollm_tui.services.sessions.recording import Recording
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.settings.schema import ModelSettings, Settings
from ollm_tui.storage.store_layout import StoreLayout


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
            raise UsageError(f"no provider {name!r}")
        return self.providers[name]

    async def select(self, provider: str | None, model: str | None) -> Selection:
        return Selection(await self.get(provider or "one"), model or MODEL)

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
    assert {offer.name: offer async for offer in workspace.models.offers()} == {
        "one": ProviderOffer("one", models),
        "down": ProviderOffer("down", error="nobody answers", hint="start it"),
        "two": ProviderOffer("two", models),
        "keyless": ProviderOffer("keyless", error="keyless has no key", hint="set one"),
    }


async def test_capabilities_are_those_of_the_named_provider(workspace: Workspace) -> None:
    assert (await workspace.models.capabilities("two", MODEL)).window == 8192
    with pytest.raises(UsageError):
        await workspace.models.capabilities("nobody", MODEL)


async def test_who_answers_first_is_told_first_and_a_silent_server_holds_up_nobody() -> None:
    providers = Several(Silent(name="silent"), Scripted(name="quick"))
    chooser = ModelChooser(Settings(), providers, offer_seconds=0.05)
    *early, late = [offer async for offer in chooser.offers()]
    assert {offer.name for offer in early} == {"quick", "keyless"}
    assert late == ProviderOffer(
        "silent", error="no answer within 0.05 seconds", hint="try again in a moment"
    )


async def test_nobody_is_asked_any_more_once_the_list_is_closed() -> None:
    silent = Silent(name="silent")
    chooser = ModelChooser(Settings(), Several(silent, Scripted(name="quick")))
    before = asyncio.all_tasks()
    offers = chooser.offers()
    await anext(offers)
    await offers.aclose()
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == before


async def test_the_provider_that_is_part_of_the_program_is_listed_first() -> None:
    providers = Several(Scripted(name="ollama"), Scripted(name="embedded"))
    assert ModelChooser(Settings(), providers).names == ["embedded", "ollama", "keyless"]


async def test_known_models_are_those_offered_so_far_and_those_of_the_settings() -> None:
    settings = Settings(models={"mine": ModelSettings(window=2048)})
    chooser = ModelChooser(settings, Several(Scripted(name="one")))
    assert chooser.known_models == ["mine"]
    assert [offer.name async for offer in chooser.offers()]
    assert chooser.known_models == [MODEL, "mine"]
