"""Joins the parts of the program; the only module that names concrete providers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ollm_tui.core.errors import ModelMissing, ProviderError, Unavailable, UsageError
from ollm_tui.core.provider import MayBeAbsent, Provider
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
from ollm_tui.settings.schema import ProviderSettings, Settings
from ollm_tui.storage.store_layout import StoreLayout

if TYPE_CHECKING:
    from ollm_tui.engine.jobs.session_jobs import SessionJobs
    from ollm_tui.services.hooks import Hooks
    from ollm_tui.services.jobs.job_registry import JobRegistry

OLLAMA_ANSWERS_WITHIN_SECONDS = 0.3
"""How long to wait for Ollama before the embedded provider is chosen."""
OLLAMA_URL = "http://127.0.0.1:11434"
OPENAI_URL = "https://api.openai.com/v1"
SCRIPT_VARIABLE = "OLLM_TEST_SCRIPT"
"""The environment variable with a script file; if set, the scripted provider is the default."""


def open_workspace(
    loaded: Loaded,
    environ: Mapping[str, str],
    ask: Callable[[str], str] | None = None,
    open_jobs: Callable[[], SessionJobs] | None = None,
) -> Workspace:
    """Open everything a front end needs; `ask` asks the user for a passphrase if it is needed.

    The model gets tools only with `open_jobs`, as what it runs becomes a job.
    """
    settings, places = loaded.settings, loaded.locations
    cipher = cipher_for(settings, places.home, environ, ask)
    library = SessionLibrary.at(StoreLayout(places.sessions(settings)), cipher)
    recording = Recording(
        library.store,
        library.index,
        autosave=settings.sessions.auto_save,
        keeps_outputs=settings.retention.store_tool_outputs,
    )
    providers = open_providers(loaded, environ)
    is_ephemeral = settings.retention.mode == "ephemeral"
    counters = TokenCounters(None if is_ephemeral else places.home)
    trust = Trust(places.home, writes=not is_ephemeral)
    hooks = open_hooks(loaded, environ, trust) if settings.hooks else None
    workspace = Workspace(
        settings, recording, library, providers, places.project, counters, trust, hooks
    )
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
    return workspace


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
    return Providers(loaded.settings, environ, loaded.locations.home / "models")


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

    def __init__(self, settings: Settings, environ: Mapping[str, str], models_dir: Path) -> None:
        self._settings = settings
        self._environ = environ
        self._models_dir = models_dir
        self._made: dict[str, Provider] = {}

    def names(self) -> list[str]:
        """Return the names of all providers, in the order they are tried."""
        names = dict.fromkeys((*self._settings.providers, "ollama", "embedded"))
        if SCRIPT_VARIABLE in self._environ:
            names = {"scripted": None, **names}
        return list(names)

    async def get(self, name: str) -> Provider:
        """Return a provider. UsageError if the name is unknown, ProviderError if it is unusable."""
        if name not in self.names():
            known = ", ".join(self.names())
            raise UsageError(f"there is no provider {name!r}", f"there are: {known}")
        if name not in self._made:
            # In a thread, because its key may come from a command or from a keyring that asks.
            self._made[name] = await asyncio.to_thread(self._make, name)
        return self._made[name]

    async def select(self, provider: str | None, model: str | None) -> tuple[Provider, str]:
        """Choose the provider and model: as asked for, as configured, or Ollama if it answers, else
        embedded. ModelMissing if no provider has the model."""
        name = provider or _unless_auto(self._settings.provider)
        # The configured model belongs to the configured provider, not to one named instead of it.
        chosen_model = model or (None if provider else _unless_auto(self._settings.model))
        chosen = await self.get(name) if name else await self._first_available()
        if chosen_model is None:
            return chosen, await chosen.default_model()
        if name is None and not await _has(chosen, chosen_model):
            chosen = await self._first_with(chosen_model, chosen)
        return chosen, chosen_model

    async def close(self) -> None:
        """Close every provider that was made."""
        for provider in self._made.values():
            await provider.close()
        self._made.clear()

    async def _first_available(self) -> Provider:
        first = self.names()[0]
        if first != "ollama":
            return await self.get(first)
        ollama = await self.get("ollama")
        try:
            if not isinstance(ollama, MayBeAbsent) or await ollama.answers_within(
                OLLAMA_ANSWERS_WITHIN_SECONDS
            ):
                await ollama.default_model()
                return ollama
        except ProviderError:
            pass  # it is there, but without a model
        return await self.get("embedded")

    async def _first_with(self, model: str, other_than: Provider) -> Provider:
        """Return the first other provider that has a model. ModelMissing if none has."""
        for name in self.names():
            try:
                candidate = await self.get(name)
            except ProviderError:
                continue  # without its key it has nothing
            if candidate is not other_than and await _has(candidate, model):
                return candidate
        raise ModelMissing(f"no provider has a model {model!r}", "ollm models list")

    def _make(self, name: str) -> Provider:
        settings = self._settings.providers.get(name, ProviderSettings())
        plan = _Plan(name, settings, self._environ, self._models_dir)
        kind = "scripted" if name == "scripted" else settings.kind_for(name)
        if kind not in _MAKERS:
            known = ", ".join(kind for kind in _MAKERS if kind != "scripted")
            raise Unavailable(
                f"provider {name} is of kind {kind}, which this version cannot talk to",
                f"it can talk to: {known}",
            )
        return _MAKERS[kind](plan)


def _unless_auto(name: str) -> str | None:
    return None if name == "auto" else name


async def _has(provider: Provider, model: str) -> bool:
    try:
        return any(info.name == model for info in await provider.list_models())
    except ProviderError:
        return False


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


def _embedded(plan: _Plan) -> Provider:
    from ollm_tui.providers.embedded import Embedded

    return Embedded(
        name=plan.name,
        models_dir=plan.models_dir,
        inactivity_seconds=plan.settings.timeout_seconds,
    )


def _ollama(plan: _Plan) -> Provider:
    from ollm_tui.providers.ollama import Ollama

    return Ollama(
        name=plan.name,
        base_url=plan.settings.base_url or plan.environ.get("OLLAMA_HOST") or OLLAMA_URL,
        inactivity_seconds=plan.settings.timeout_seconds,
        headers=plan.settings.headers,
        api_key=plan.key,
    )


def _openai(plan: _Plan) -> Provider:
    from ollm_tui.providers.openai_chat import OpenAICompatible

    base_url = plan.settings.base_url
    if base_url is None and plan.name != "openai":
        raise Unavailable(
            f"provider {plan.name} has no baseUrl",
            "add it to your settings; ollm config path says where they are",
        )
    return OpenAICompatible(
        name=plan.name,
        base_url=base_url or OPENAI_URL,
        api_key=plan.key,
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
    "scripted": _scripted,
}
