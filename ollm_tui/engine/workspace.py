"""The one object a front end gets: conversations, sessions and settings of one project."""

from __future__ import annotations

import logging
from datetime import timedelta
from pathlib import Path

from ollm_tui.core import clock
from ollm_tui.core.errors import ProviderError, UsageError
from ollm_tui.core.events import StoreEvent
from ollm_tui.core.provider import Provider, ProviderSource
from ollm_tui.core.session import Session, SessionSummary, new_session_id
from ollm_tui.engine.conversation import Conversation, ModelChoice
from ollm_tui.engine.system_prompt import DEFAULT_PROMPT
from ollm_tui.engine.window import choose_window
from ollm_tui.services.recording import Recording
from ollm_tui.services.retention import enforce_retention
from ollm_tui.services.session_library import SessionLibrary
from ollm_tui.services.topic import Topic
from ollm_tui.settings.schema import ModelSettings, Settings

log = logging.getLogger(__name__)


class Workspace:
    """Opens conversations and knows all sessions. Close it last."""

    def __init__(
        self,
        settings: Settings,
        recording: Recording,
        library: SessionLibrary,
        providers: ProviderSource,
        project: Path,
    ) -> None:
        self.settings = settings
        self._recording = recording
        self._library = library
        self._providers = providers
        self._project = project

    @property
    def saving(self) -> Topic[StoreEvent]:
        """What happens to records on their way to disk."""
        return self._recording.topic

    async def begin(
        self,
        *,
        provider: str | None = None,
        model: str | None = None,
        ephemeral: bool = False,
    ) -> Conversation:
        """A new conversation; nothing is on disk before its first message."""
        choice = await self._choose(provider, model)
        moment = clock.now()
        session = Session(
            session_id=new_session_id(),
            start_time=moment,
            last_activity=moment,
            model=choice.model,
            provider=choice.provider.name,
            project=str(self._project),
            window=choice.window,
            system_prompt=DEFAULT_PROMPT,
        )
        in_memory = ephemeral or self.settings.retention.mode == "ephemeral"
        recorder = self._recording.create(session, ephemeral=in_memory)
        return Conversation(recorder, choice, self.saving, begun=False)

    async def resume(
        self, session_id: str, *, provider: str | None = None, model: str | None = None
    ) -> tuple[Conversation, tuple[str, ...]]:
        """Continue a session; also says what of it could not be read.

        Without a wish the session's own model answers, or another if its provider is gone.
        """
        recorder, loaded = await self._recording.open(session_id)
        header = recorder.state.header
        try:
            choice = await self._choose_again(header, provider, model)
        except BaseException:
            await recorder.close()
            raise
        conversation = Conversation(recorder, choice, self.saving, begun=True)
        await conversation.mark_interrupted()
        now = {"model": choice.model, "provider": choice.provider.name, "window": choice.window}
        if now != {name: getattr(header, name) for name in now}:
            await conversation.change(**now)
        for problem in loaded.problems:
            log.warning("damaged: %s", problem, extra={"session": session_id})
        return conversation, loaded.problems

    async def sessions(self) -> list[SessionSummary]:
        """Every session, the latest first."""
        return await self._recording.in_thread(self._library.catalogue.summaries)

    async def find(self, prefix: str) -> str:
        """The full id of the one session that starts like this."""
        return await self._recording.in_thread(self._library.catalogue.resolve, prefix)

    async def latest(self) -> str | None:
        """The session that was active last."""
        return await self._recording.in_thread(self._library.catalogue.latest)

    async def enforce_retention(self, spare: frozenset[str]) -> list[SessionSummary]:
        """Move what is over the limits to the trash; says what was moved."""
        seconds = self.settings.retention.max_age_seconds

        def enforce() -> list[SessionSummary]:
            return enforce_retention(
                self._library,
                keep=self.settings.sessions.max_sessions,
                max_age=timedelta(seconds=seconds) if seconds else None,
                spare=spare,
            )

        return await self._recording.in_thread(enforce)

    async def close(self) -> None:
        """Close the providers and the store; conversations are closed before."""
        await self._providers.close()
        await self._recording.close()

    async def _choose_again(
        self, header: Session, provider: str | None, model: str | None
    ) -> ModelChoice:
        if provider or model:
            return await self._choose(provider or header.provider, model)
        try:
            return await self._choose(header.provider, header.model, header.window)
        except (ProviderError, UsageError):
            return await self._choose(None, None)

    async def _choose(
        self, provider: str | None, model: str | None, window: int | None = None
    ) -> ModelChoice:
        """Who answers; `window` is the one the session has had so far with the same model."""
        chosen, name = await self._providers.select(provider, model)
        wishes = self.settings.models.get(name, ModelSettings())
        return ModelChoice(
            provider=chosen,
            model=name,
            window=await self._window(chosen, name, wishes, window),
            max_output=wishes.max_output,
            temperature=wishes.temperature,
            thinking=wishes.thinking,
        )

    async def _window(
        self, provider: Provider, model: str, wishes: ModelSettings, before: int | None
    ) -> int | None:
        wanted = wishes.window or self.settings.context.window
        if wanted == "auto" and before:
            return before  # whatever the server has loaded since then: changing it reloads models
        try:
            capabilities = await provider.capabilities(model)
        except ProviderError:
            return wanted if isinstance(wanted, int) else None
        return choose_window(wanted, capabilities)
