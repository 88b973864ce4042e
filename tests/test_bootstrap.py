"""Who answers: as asked for, as configured, Ollama if it is there, else the embedded model."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import pytest

from ollm_tui.bootstrap import Providers, open_session_jobs, open_workspace
from ollm_tui.core.errors import AuthFailed, ModelMissing, Unavailable, UsageError
from ollm_tui.core.provider import Missed
from ollm_tui.engine.conversation.model_choice import ModelChooser
from ollm_tui.providers.llama_cpp.model_catalogue import DEFAULT_MODEL
from ollm_tui.settings.loaded import Loaded
from ollm_tui.settings.locations import Locations
from ollm_tui.settings.schema import ModelSettings, ProviderSettings, Settings
from tests.stand_ins.http_server import HttpServer
from tests.stand_ins.ollama_server import MODEL, OllamaServer
from tests.stand_ins.ollama_server import THINKER as DEFAULT
from tests.stand_ins.openai_server import answering, by_path

CLOUD_MODEL = "gpt-oss:120b-cloud"
NOBODY = "http://127.0.0.1:1"
Open = Callable[..., Providers]


@pytest.fixture
async def open_providers(home: Path) -> AsyncGenerator[Open, None]:
    """Providers of these settings; closed at the end."""
    opened: list[Providers] = []

    def open_them(ollama: str = NOBODY, **settings: object) -> Providers:
        environ = {"OLLAMA_HOST": ollama, "PATH": "/usr/bin:/bin"}
        wanted = Settings(**settings)  # pyright: ignore[reportArgumentType] whatever a test sets
        opened.append(Providers(wanted, environ, home / "models"))
        return opened[-1]

    yield open_them
    for providers in opened:
        await providers.close()


async def selected(
    providers: Providers, provider: str | None = None, model: str | None = None
) -> tuple[str, str]:
    chosen, name, _ = await providers.select(provider, model)
    return chosen.name, name


async def test_ollama_answers_if_it_is_there_and_has_a_model(open_providers: Open) -> None:
    async with OllamaServer() as server:
        assert await selected(open_providers(server.url)) == ("ollama", DEFAULT)
        server.models.clear()
        assert await selected(open_providers(server.url)) == ("embedded", DEFAULT_MODEL)


async def test_without_ollama_the_embedded_model_answers(open_providers: Open) -> None:
    assert await selected(open_providers()) == ("embedded", DEFAULT_MODEL)


async def test_an_absent_ollama_is_nothing_to_talk_about(open_providers: Open) -> None:
    chosen = await open_providers().select(None, None)
    assert chosen.missed == Missed("ollama", "")


async def test_a_name_without_a_tag_means_the_latest(open_providers: Open) -> None:
    async with OllamaServer() as server:
        providers = open_providers(server.url)
        assert await selected(providers, model="llama3.2") == ("ollama", "llama3.2")
        with pytest.raises(ModelMissing):
            await selected(providers, model="qwen3")  # only its 8b is there


async def test_a_cloud_model_is_used_only_if_it_is_asked_for(open_providers: Open) -> None:
    async with OllamaServer() as server:
        server.add_cloud_model(CLOUD_MODEL)
        server.loaded[CLOUD_MODEL] = 4096
        providers = open_providers(server.url)
        assert await selected(providers) == ("ollama", DEFAULT)
        assert await selected(providers, model=CLOUD_MODEL) == ("ollama", CLOUD_MODEL)
        chooser = ModelChooser(Settings(), providers)
        assert (await chooser.choose(None, CLOUD_MODEL)).remote_host == "ollama.com"
        assert (await chooser.choose(None, None)).remote_host is None
        del server.models[MODEL], server.models[DEFAULT]
        chosen = await open_providers(server.url).select(None, None)
        assert chosen.provider.name == "embedded"
        assert chosen.missed == Missed("ollama", "Ollama has only cloud models")


async def test_a_slow_ollama_is_waited_for(open_providers: Open) -> None:
    async with OllamaServer() as server:
        server.delay_seconds = 0.4  # more than a busy machine was once given
        assert await selected(open_providers(server.url)) == ("ollama", DEFAULT)


async def test_an_ollama_that_does_not_answer_is_named_and_found_again(home: Path) -> None:
    async with OllamaServer() as server:
        server.awake.clear()
        environ = {"OLLAMA_HOST": server.url}
        providers = Providers(Settings(), environ, home / "models", ollama_seconds=0.1)
        chooser = ModelChooser(Settings(), providers, offer_seconds=0.1)
        choice = await chooser.choose(None, None)
        assert choice.reason == (
            f"Ollama did not answer within 0.1 s; using {DEFAULT_MODEL} on embedded"
        )
        assert await chooser.came_back("ollama") is None
        server.awake.set()
        patient = ModelChooser(Settings(), providers)
        assert await patient.came_back("ollama") == DEFAULT
        await providers.close()


async def test_settings_of_a_model_count_under_each_of_its_names(open_providers: Open) -> None:
    async with OllamaServer() as server:
        settings = Settings(models={"llama3.2": ModelSettings(window=2048)})
        chooser = ModelChooser(settings, open_providers(server.url))
        for name in ("llama3.2", "llama3.2:latest"):
            assert (await chooser.choose("ollama", name)).window == 2048


async def test_what_would_be_sent_where_is_known_without_a_key(open_providers: Open) -> None:
    locked = ProviderSettings(base_url="https://api.example.com/v1", key_env="NO_SUCH_VARIABLE")
    settings = Settings(providers={"locked": locked})
    chooser = ModelChooser(settings, open_providers(providers=settings.providers))
    assert await chooser.destination("locked", "m") == "api.example.com"
    assert await chooser.destination("embedded", None) is None
    with pytest.raises(ModelMissing, match="no-such-model"):
        await chooser.destination(None, "no-such-model")


async def test_an_absent_ollama_is_asked_once(open_providers: Open) -> None:
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal calls
        calls += 1
        writer.close()

    calls = 0
    async with await asyncio.start_server(hang_up, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        providers = open_providers(f"http://127.0.0.1:{port}")
        assert await selected(providers) == ("embedded", DEFAULT_MODEL)
    assert calls == 1


async def test_what_is_configured_comes_before_ollama(open_providers: Open) -> None:
    models = by_path({"/v1/models": answering({"data": [{"id": "m-1"}]})})
    async with OllamaServer() as ollama, HttpServer(models) as work:
        settings = {"work": ProviderSettings(base_url=f"{work.url}/v1")}
        providers = open_providers(ollama.url, providers=settings)
        assert await selected(providers) == ("work", "m-1")
        assert await selected(open_providers(ollama.url, provider="ollama", model=MODEL)) == (
            "ollama",
            MODEL,
        )
        assert await selected(providers, "ollama") == ("ollama", DEFAULT)


HOSTED = {"cloud": ProviderSettings(base_url="https://api.example.com/v1")}


async def test_a_hosted_provider_never_answers_by_itself(open_providers: Open) -> None:
    for settings in (HOSTED, {"anthropic": ProviderSettings()}):
        async with OllamaServer() as ollama:
            here = open_providers(ollama.url, providers=settings)
            assert await selected(here) == ("ollama", DEFAULT)
        assert await selected(open_providers(providers=settings)) == ("embedded", DEFAULT_MODEL)
    named = open_providers(providers=HOSTED, provider="cloud", model="m")
    assert await selected(named) == ("cloud", "m")
    assert await selected(open_providers(providers=HOSTED), "cloud", "m") == ("cloud", "m")


async def test_a_hosted_provider_that_is_all_there_is_set_up_says_how_to_use_it(
    open_providers: Open,
) -> None:
    settings = Settings(providers=HOSTED)
    chooser = ModelChooser(settings, open_providers(providers=HOSTED))
    assert (await chooser.choose(None, None)).reason == (
        f"using {DEFAULT_MODEL} on embedded; cloud is not on this machine "
        "(set provider: cloud, or F7)"
    )
    assert not (await chooser.choose("embedded", None)).reason
    both = Settings(providers={**HOSTED, "ollama": ProviderSettings()})
    assert not (await ModelChooser(both, open_providers()).choose(None, None)).reason


async def test_a_model_that_only_a_hosted_provider_has_needs_its_name_too(home: Path) -> None:
    models = by_path({"/v1/models": answering({"data": [{"id": "m-1"}]})})
    async with HttpServer(models) as server:
        # A name for this machine that no rule knows: to the program it is another one.
        away = server.url.replace("127.0.0.1", "0x7f000001")
        settings = Settings(providers={"away": ProviderSettings(base_url=f"{away}/v1")})
        providers = Providers(settings, {"OLLAMA_HOST": NOBODY}, home / "models")
        with pytest.raises(ModelMissing, match="'m-1' is only on away") as caught:
            await providers.select(None, "m-1")
        assert caught.value.hint == "name the provider: --provider away, or /model away/m-1"
        chooser = ModelChooser(settings, providers)
        assert await chooser.named("away/m-1", None) == ("away", "m-1")
        assert await chooser.named("m-1", await providers.get("away")) == ("away", "m-1")
        assert await chooser.named("org/m-1", None) == (None, "org/m-1")
        await providers.close()


async def test_a_model_alone_finds_its_provider_past_those_that_cannot_be_used(
    open_providers: Open,
) -> None:
    async with OllamaServer() as ollama:
        settings = {
            "ollama": ProviderSettings(),
            "locked": ProviderSettings(base_url=NOBODY, key_env="NO_SUCH_VARIABLE"),
            "later": ProviderSettings(kind="anthropic"),
        }
        providers = open_providers(ollama.url, providers=settings)
        assert await selected(providers, model=DEFAULT_MODEL) == ("embedded", DEFAULT_MODEL)
        with pytest.raises(ModelMissing):
            await selected(providers, model="no-such-model")


async def test_a_provider_that_cannot_be_used_says_why(open_providers: Open) -> None:
    settings = {
        "locked": ProviderSettings(base_url=NOBODY, key_env="NO_SUCH_VARIABLE"),
        "later": ProviderSettings(kind="anthropic"),
        "nowhere": ProviderSettings(kind="openai"),
    }
    providers = open_providers(providers=settings)
    for name, error in (("locked", AuthFailed), ("later", AuthFailed), ("nowhere", Unavailable)):
        with pytest.raises(error) as caught:
            await providers.get(name)
        assert caught.value.hint
    with pytest.raises(UsageError):
        await providers.get("unknown")


async def test_a_slow_key_command_holds_nothing_up(open_providers: Open) -> None:
    command = "sh -c 'read line < wait; echo some-key'"
    slow = ProviderSettings(base_url=NOBODY, key_command=command)
    os.mkfifo("wait")
    providers = open_providers(providers={"slow": slow})
    getting = asyncio.create_task(providers.get("slow"))
    # Only a loop that goes on can give the command what it waits for.
    await asyncio.to_thread(Path("wait").write_text, "go\n")
    assert (await getting).name == "slow"


async def test_the_prompt_and_the_tools_share_one_list_of_the_projects_files(home: Path) -> None:
    loaded = Loaded(Settings(), (), {}, Locations(home, home.parent, home.parent / "project"))
    workspace = open_workspace(loaded, {}, open_jobs=lambda: open_session_jobs(loaded, {}))
    assert workspace.tool_setup and workspace.tool_setup.files
    assert workspace.tool_setup.files() is workspace.project.files
    await workspace.close()
