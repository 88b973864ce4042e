"""Joins the parts of the program; the only module that names concrete providers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from ollm_tui.core.errors import AuthFailed, ModelMissing, ProviderError, Unavailable, UsageError
from ollm_tui.core.model_card import FindCard, ModelCard, ModelCards
from ollm_tui.core.provider import MayBeAbsent, Missed, Provider, Selection
from ollm_tui.engine.project.workspace import Workspace
from ollm_tui.engine.tools.tool_setup import ToolSetup
from ollm_tui.services.safety.credentials import find_key
from ollm_tui.services.safety.encryption import cipher_for
from ollm_tui.services.safety.project_trust import Trust
from ollm_tui.services.sessions.prompt_memory import PromptMemory
from ollm_tui.services.sessions.recording import Recording
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.services.tokens.counter import TokenCounters
from ollm_tui.settings.loaded import Loaded
from ollm_tui.settings.resources import price_table
from ollm_tui.settings.schema import BUILT_IN_PROVIDERS, ProviderSettings, Settings
from ollm_tui.storage.store_layout import StoreLayout

if TYPE_CHECKING:
    from ollm_tui.engine.jobs.session_jobs import SessionJobs
    from ollm_tui.services.extensions.extension_host import ExtensionHost
    from ollm_tui.services.hooks import Hooks
    from ollm_tui.services.jobs.job_registry import JobRegistry
    from ollm_tui.services.mcp.mcp_servers import McpServers

OLLAMA_ANSWERS_WITHIN_SECONDS = 5.0
"""How long to wait for Ollama before the embedded provider is chosen. Where none is running, its
port refuses at once; one that is there may be slow on a busy machine."""
OLLAMA_URL = "http://127.0.0.1:11434"
OPENAI_URL = "https://api.openai.com/v1"
OPENAI_HOSTS = ("api.openai.com", "eu.api.openai.com")
USUAL_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("ANTHROPIC_API_KEY",),
    "openai": ("OPENAI_API_KEY",),
    "azure": ("AZURE_OPENAI_API_KEY",),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
}
"""Where the vendors' own programs look for a key; it is sent to the vendor's own address only."""
AZURE_VERSION = "2025-04-01-preview"
"""The version of Azure's API where none is set; the first one with Responses."""
MCP_FILE = ".mcp.json"
"""Where a project names its MCP servers."""
SCRIPT_VARIABLE = "OLLM_TEST_SCRIPT"
"""The environment variable with a script file; if set, the scripted provider is the default."""


def open_workspace(
    loaded: Loaded,
    environ: Mapping[str, str],
    ask: Callable[[str], str] | None = None,
    open_jobs: Callable[[], SessionJobs] | None = None,
    *,
    writes: bool = True,
) -> Workspace:
    """Open everything a front end needs; `ask` asks the user for a passphrase if it is needed.

    The model gets tools only with `open_jobs`, as what it runs becomes a job. Without `writes`
    sessions can be read and followed, and nothing else.
    """
    settings, places = loaded.settings, loaded.locations
    cipher = cipher_for(settings, places.home, environ, ask)
    library = SessionLibrary.at(
        StoreLayout(places.sessions(settings)),
        cipher,
        keeps_outputs=settings.retention.store_tool_outputs,
        most_megabytes=settings.sessions.max_megabytes,
        memory=places.home,
        writes=writes,
    )
    recording = Recording(library.store, library.index, autosave=settings.sessions.auto_save)
    providers = open_providers(loaded, environ)
    is_ephemeral = settings.retention.mode == "ephemeral"
    counters = TokenCounters(None if is_ephemeral else places.home)
    trust = Trust(places.home, writes=not is_ephemeral)
    hooks = open_hooks(loaded, environ, trust) if settings.hooks else None
    workspace = Workspace(
        settings,
        recording,
        library,
        providers,
        places.project,
        counters,
        trust,
        hooks,
        places.home,
    )
    if writes and not is_ephemeral:
        _begin_sync(workspace, settings, environ)
    if open_jobs:
        workspace.tool_setup = ToolSetup(
            settings=settings,
            project=places.project,
            home=None if is_ephemeral else places.home,
            layout=StoreLayout(places.sessions(settings)),
            cipher=cipher,
            environ=environ,
            open_jobs=open_jobs,
            files=lambda: workspace.project.files,
        )
        workspace.additions.mcp = open_mcp(loaded, environ, trust)
        workspace.additions.environ = environ
        workspace.additions.extensions = providers.extensions
        if host := providers.extensions:
            workspace.events.subscribe(host.hear)
    return workspace


def _begin_sync(workspace: Workspace, settings: Settings, environ: Mapping[str, str]) -> None:
    """Sync by itself, where a remote is set."""
    if not settings.sync.remote or not settings.sync.automatic:
        return
    from ollm_tui.services.sync.background_sync import BackgroundSync

    workspace.sync = BackgroundSync(environ)
    workspace.events.subscribe(workspace.sync.hear)
    workspace.sync.begin()


def open_extensions(settings: Settings, environ: Mapping[str, str]) -> ExtensionHost | None:
    """Make the host of extensions, which are loaded when needed; None where none is installed."""
    from importlib.metadata import entry_points

    if not entry_points(group="ollm.extensions"):
        return None
    from ollm_tui.services.extensions.extension_host import ExtensionHost
    from ollm_tui.services.redaction.redactor import Redactor

    return ExtensionHost(settings.extensions, redact=Redactor.knowing(environ).redact)


def open_mcp(loaded: Loaded, environ: Mapping[str, str], trust: Trust) -> McpServers | None:
    """Make the MCP servers of settings and project; none is started yet. None if there are
    none."""
    folder = loaded.locations.project
    if not loaded.settings.mcp and not (folder / MCP_FILE).exists():
        return None
    from ollm_tui.services.mcp.mcp_servers import McpServers
    from ollm_tui.services.redaction.redactor import Redactor
    from ollm_tui.services.safety.environment import cleaned, usable_settings

    redactor = Redactor.knowing(environ)
    environment = cleaned(environ, usable_settings(loaded), redactor=redactor)
    entries, variables = loaded.settings.mcp, environment.variables
    return McpServers(entries, variables, environ, folder, trust, redact=redactor.redact)


def open_hooks(loaded: Loaded, environ: Mapping[str, str], trust: Trust) -> Hooks:
    """Make the user's hooks, with a cleaned environment; secrets in their output are redacted."""
    from ollm_tui.services.hooks import Hooks
    from ollm_tui.services.redaction.redactor import Redactor
    from ollm_tui.services.safety.environment import cleaned, usable_settings

    redactor = Redactor.knowing(environ)
    environment = cleaned(environ, usable_settings(loaded), redactor=redactor)
    folder = loaded.locations.project
    return Hooks(loaded.settings.hooks, environment, folder, trust, redact=redactor.redact)


def open_prompt_memory(loaded: Loaded, *, ephemeral: bool = False) -> PromptMemory:
    """Open the earlier prompts and drafts; kept in memory if nothing may be stored unencrypted."""
    retention = loaded.settings.retention
    in_memory = ephemeral or retention.mode == "ephemeral" or retention.encrypt_at_rest
    return PromptMemory(None if in_memory else loaded.locations.home, loaded.locations.project)


def open_providers(loaded: Loaded, environ: Mapping[str, str]) -> Providers:
    """Open only the providers, for commands that need no store."""
    providers = Providers(loaded.settings, environ, loaded.locations.home / "models")
    providers.extensions = open_extensions(loaded.settings, environ)
    return providers


def open_jobs(
    loaded: Loaded, environ: Mapping[str, str], grants: Collection[str] = ()
) -> JobRegistry:
    """Open the registry of shells and jobs, with a cleaned environment and redacted records."""
    from ollm_tui.services.jobs.job_registry import JobRegistry
    from ollm_tui.services.redaction.redactor import Redactor
    from ollm_tui.services.safety.environment import cleaned, usable_settings

    redactor = Redactor.knowing(environ)
    environment = cleaned(environ, usable_settings(loaded), grants, redactor)
    return JobRegistry(environment.variables, jobs_folder(loaded), redact=redactor.redact)


def open_session_jobs(
    loaded: Loaded, environ: Mapping[str, str], *, ephemeral: bool = False
) -> SessionJobs:
    """Open the jobs for a front end, where the user may grant variables that are withheld."""
    from ollm_tui.engine.jobs.session_jobs import SessionJobs
    from ollm_tui.services.jobs.job_registry import JobRegistry
    from ollm_tui.services.redaction.redactor import Redactor
    from ollm_tui.services.safety.environment import cleaned, usable_settings

    redactor = Redactor.knowing(environ)
    environment = cleaned(environ, usable_settings(loaded), redactor=redactor)
    folder = None if ephemeral else jobs_folder(loaded)
    jobs = JobRegistry(environment.variables, folder, redact=redactor.redact)
    withheld = {name: environ[name] for name in environment.withheld}
    return SessionJobs(jobs, loaded.locations.project, withheld, redactor)


def jobs_folder(loaded: Loaded) -> Path | None:
    """Return the folder of the job records; None if nothing may be stored unencrypted."""
    retention = loaded.settings.retention
    if retention.mode == "ephemeral" or retention.encrypt_at_rest:
        return None
    return StoreLayout(loaded.locations.sessions(loaded.settings)).jobs


class Providers:
    """The providers of the settings and the built-in ones, each made when it is first needed."""

    def __init__(
        self,
        settings: Settings,
        environ: Mapping[str, str],
        models_dir: Path,
        *,
        ollama_seconds: float = OLLAMA_ANSWERS_WITHIN_SECONDS,
    ) -> None:
        self._settings = settings
        self._ollama_seconds = ollama_seconds
        self._environ = environ
        self._models_dir = models_dir
        self._made: dict[str, Provider] = {}
        self._regions: dict[str, str] = {}
        """Regions that were chosen since the program began, by provider."""
        self.extensions: ExtensionHost | None = None
        """Extensions, which may bring further providers; these are used only when named."""

    def names(self) -> list[str]:
        """Return the names of all providers, in the order they are tried."""
        return [*self._own_names(), *self._added()]

    def _added(self) -> dict[str, Provider]:
        """The providers of extensions that are loaded by now, without names that are taken."""
        if self.extensions is None or not self.extensions.has_started:
            return {}
        from ollm_tui.services.extensions.extension_provider import added_providers

        own = self._own_names()
        return {
            each.name: each for each in added_providers(self.extensions) if each.name not in own
        }

    def _own_names(self) -> list[str]:
        names = dict.fromkeys((*self._settings.providers, *BUILT_IN_PROVIDERS))
        if SCRIPT_VARIABLE in self._environ:
            names = {"scripted": None, **names}
        return list(names)

    async def get(self, name: str) -> Provider:
        """Return a provider. UsageError if the name is unknown, ProviderError if it is unusable."""
        if name not in self.names() and self.extensions:
            await self.extensions.until_started()
        if added := self._added().get(name):
            return added
        if name not in self.names():
            known = ", ".join(self.names())
            raise UsageError(f"no provider {name!r}", f"available: {known}")
        if name not in self._made:
            # In a thread, because its key may come from a command or from a keyring that asks.
            self._made[name] = await asyncio.to_thread(self._make, name)
        return self._made[name]

    async def use_region(self, name: str, region: str) -> None:
        """Have a provider of Bedrock answer in another region. UsageError for any other one."""
        settings = self._settings.providers.get(name, ProviderSettings())
        if name not in self.names() or settings.kind_for(name) != "bedrock":
            raise UsageError(f"{name!r} has no region", "only bedrock providers have one")
        self._regions[name] = region
        if made := self._made.pop(name, None):
            await made.close()

    async def select(self, provider: str | None, model: str | None) -> Selection:
        """Choose the provider and model: as asked for, as configured, or Ollama if it answers, else
        embedded. A hosted provider is chosen only by its name. ModelMissing if no other one has the
        model."""
        name = provider or _unless_auto(self._settings.provider)
        # The configured model belongs to the configured provider, not to one named instead of it.
        chosen_model = model or (None if provider else _unless_auto(self._settings.model))
        chosen, missed = (await self.get(name), None) if name else await self._first_available()
        if chosen_model is None:
            return Selection(chosen, await chosen.default_model(), missed)
        if name is None and not await _has(chosen, chosen_model):
            chosen = await self._first_with(chosen_model, chosen)
        return Selection(chosen, chosen_model)

    async def close(self) -> None:
        """Close every provider that was made."""
        for provider in self._made.values():
            await provider.close()
        self._made.clear()

    async def _first_available(self) -> tuple[Provider, Missed | None]:
        """Return the first provider that can be used here, and which one was missed."""
        first = next(name for name in self._own_names() if self._is_here(name))
        if first != "ollama":
            return await self.get(first), None
        ollama = await self.get(first)
        try:
            why = await self._absence(ollama)
            if why is None:
                await ollama.default_model()
                return ollama, None
        except ProviderError as error:  # it is there, but without a model of its own
            why = error.message
        return await self.get("embedded"), Missed(first, why)

    async def _absence(self, ollama: Provider) -> str | None:
        """Return why Ollama does not answer, in words that may be empty; None if it does."""
        if not isinstance(ollama, MayBeAbsent):
            return None
        presence = await ollama.presence(self._ollama_seconds)
        if presence == "late":
            return f"Ollama did not answer within {self._ollama_seconds:g} s"
        return None if presence == "there" else ""

    async def _first_with(self, model: str, other_than: Provider) -> Provider:
        """Return the first other provider that has a model. ModelMissing if none has, or only one
        that would send away what is said."""
        for name in sorted(self._own_names(), key=self._is_here, reverse=True):
            try:
                candidate = await self.get(name)
            except ProviderError:
                continue  # without its key it has nothing
            if candidate is other_than or not await _has(candidate, model):
                continue
            if not self._is_here(name):
                away = f"{model!r} is only on {name}, which is not on this machine"
                raise ModelMissing(
                    away, f"name the provider: --provider {name}, or /model {name}/{model}"
                )
            return candidate
        raise ModelMissing(f"no provider has a model {model!r}", "ollm models list")

    def _is_here(self, name: str) -> bool:
        """Return whether a provider may be chosen by itself."""
        settings = self._settings.providers.get(name)
        return settings is None or settings.stays_here(name)

    def _make(self, name: str) -> Provider:
        settings = self._settings.providers.get(name, ProviderSettings())
        if region := self._regions.get(name):
            settings = msgspec.structs.replace(settings, region=region)
        plan = _Plan(name, settings, self._environ, self._models_dir)
        kind = "scripted" if name == "scripted" else settings.kind_for(name)
        return _MAKERS[kind](plan)


def _unless_auto(name: str) -> str | None:
    return None if name == "auto" else name


async def _has(provider: Provider, model: str) -> bool:
    try:
        return any(info.is_called(model) for info in await provider.list_models())
    except ProviderError:
        return False


def _card(kind: str, model: str) -> ModelCard | None:
    return model_cards().find(kind, model)


@cache
def model_cards() -> ModelCards:
    """Read the table of prices and windows that comes with the program."""
    return msgspec.json.decode(price_table().read_bytes(), type=ModelCards)


# httpx takes 130 ms to load: each maker imports its own provider, when it is needed.


class _Plan(NamedTuple):
    """What a maker needs to make a provider."""

    name: str
    settings: ProviderSettings
    environ: Mapping[str, str]
    models_dir: Path

    @property
    def key(self) -> str | None:
        """The key of the provider; looked up only by makers that need one."""
        return find_key(self.name, self.settings, self.environ)

    def hosted_key(self, kind: str) -> str | None:
        """The key of a vendor's server: as set, else from the variable that the vendor's own
        programs read. AuthFailed if there is none; another address may need none."""
        key = self.key
        if key or (self.settings.base_url and kind != "azure"):
            return key
        usual = USUAL_VARIABLES[kind]
        found = next((self.environ[name] for name in usual if self.environ.get(name)), None)
        if not found:
            raise AuthFailed(f"{self.name} needs a key", f"set the environment variable {usual[0]}")
        return found

    def card(self, kind: str) -> FindCard:
        """What is known of the models of a kind; the table is read when it is first asked."""
        return partial(_card, kind)


def _embedded(plan: _Plan) -> Provider:
    from ollm_tui.providers.embedded import Embedded
    from ollm_tui.providers.llama_cpp.shared_server import DESCRIPTOR_VARIABLE, SharedSlot

    shared = plan.environ.get(DESCRIPTOR_VARIABLE) if plan.name == "embedded" else None
    return Embedded(
        name=plan.name,
        models_dir=plan.models_dir,
        inactivity_seconds=plan.settings.timeout_seconds,
        shared=SharedSlot(int(shared)) if shared else None,
    )


def _ollama(plan: _Plan) -> Provider:
    from ollm_tui.providers.ollama import Ollama

    return Ollama(
        name=plan.name,
        base_url=plan.settings.base_url or plan.environ.get("OLLAMA_HOST") or OLLAMA_URL,
        inactivity_seconds=plan.settings.timeout_seconds,
        headers=plan.settings.headers,
        api_key=plan.key,
        keep_alive=plan.settings.keep_alive,
    )


def _anthropic(plan: _Plan) -> Provider:
    from ollm_tui.providers.anthropic import ANTHROPIC_URL, Anthropic

    return Anthropic(
        name=plan.name,
        base_url=plan.settings.base_url or ANTHROPIC_URL,
        api_key=plan.hosted_key("anthropic"),
        inactivity_seconds=plan.settings.timeout_seconds,
        headers=plan.settings.headers,
        caches=plan.settings.prompt_cache,
        card=plan.card("anthropic"),
    )


def _gemini(plan: _Plan) -> Provider:
    from ollm_tui.providers.gemini import GEMINI_URL, Gemini

    return Gemini(
        name=plan.name,
        base_url=plan.settings.base_url or GEMINI_URL,
        api_key=plan.hosted_key("gemini"),
        store=plan.settings.store,
        inactivity_seconds=plan.settings.timeout_seconds,
        headers=plan.settings.headers,
        card=plan.card("gemini"),
    )


def _bedrock(plan: _Plan) -> Provider:
    from ollm_tui.providers.aws_credentials import AwsAccount
    from ollm_tui.providers.bedrock import Bedrock

    account = AwsAccount(plan.name, plan.environ, plan.settings.profile)
    region = plan.settings.region or account.region()
    if region is None:
        raise Unavailable(
            f"{plan.name} needs a region",
            f"choose one with /region, or set providers.{plan.name}.region, such as us-east-1",
        )
    return Bedrock(
        name=plan.name,
        region=region,
        account=account,
        base_url=plan.settings.base_url,
        api_key=plan.key,
        inactivity_seconds=plan.settings.timeout_seconds,
        headers=plan.settings.headers,
        caches=plan.settings.prompt_cache,
        card=plan.card("bedrock"),
    )


def _responses(plan: _Plan, base_url: str, api_version: str | None = None) -> Provider:
    from ollm_tui.providers.openai_responses import OpenAIResponses

    return OpenAIResponses(
        name=plan.name,
        base_url=base_url,
        api_key=plan.hosted_key("azure" if api_version else "openai"),
        api_version=api_version,
        store=plan.settings.store,
        inactivity_seconds=plan.settings.timeout_seconds,
        headers=plan.settings.headers,
        card=plan.card("openai"),
    )


def _azure(plan: _Plan) -> Provider:
    settings = plan.settings
    if settings.base_url is None:
        raise Unavailable(
            f"provider {plan.name} has no baseUrl", "use https://NAME.openai.azure.com"
        )
    address = settings.base_url.rstrip("/").removesuffix("/openai") + "/openai"
    version = settings.api_version or AZURE_VERSION
    if settings.api == "chat":
        from ollm_tui.providers.openai_chat import OpenAICompatible

        return OpenAICompatible(
            name=plan.name,
            base_url=address,
            api_key=None,
            inactivity_seconds=settings.timeout_seconds,
            headers={"api-key": plan.hosted_key("azure") or "", **settings.headers},
            azure_version=version,
        )
    return _responses(plan, address, version)


def _openai(plan: _Plan) -> Provider:
    from ollm_tui.providers.openai_chat import OpenAICompatible

    base_url = plan.settings.base_url
    if base_url is None and plan.name != "openai":
        raise Unavailable(
            f"provider {plan.name} has no baseUrl",
            "add it to your settings (ollm config path shows where)",
        )
    is_official = base_url is None or plan.settings.host in OPENAI_HOSTS
    if plan.settings.api == "responses" or (plan.settings.api == "auto" and is_official):
        return _responses(plan, base_url or OPENAI_URL)
    return OpenAICompatible(
        name=plan.name,
        base_url=base_url or OPENAI_URL,
        api_key=plan.hosted_key("openai"),
        inactivity_seconds=plan.settings.timeout_seconds,
        headers=plan.settings.headers,
    )


def _scripted(plan: _Plan) -> Provider:
    from ollm_tui.providers.scripted import Scripted

    return Scripted.from_file(Path(plan.environ[SCRIPT_VARIABLE]), name=plan.name)


_MAKERS: Mapping[str, Callable[[_Plan], Provider]] = {
    "embedded": _embedded,
    "ollama": _ollama,
    "openai": _openai,
    "azure": _azure,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "bedrock": _bedrock,
    "scripted": _scripted,
}
