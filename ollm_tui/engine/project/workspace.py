"""The workspace: the one object a front end gets, with the conversations, sessions, models and
settings of one project."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ollm_tui.core import clock
from ollm_tui.core.errors import SessionBusy, StoreError, UsageError
from ollm_tui.core.events import StoreEvent
from ollm_tui.core.intake import clean
from ollm_tui.core.provider import ProviderSource
from ollm_tui.core.session.continuation import continuation
from ollm_tui.core.session.message import Message
from ollm_tui.core.session.session import Session, SessionSummary, new_session_id
from ollm_tui.core.session.vote import Wins, wins_by_model
from ollm_tui.engine.context.budget import BudgetRules
from ollm_tui.engine.context.context_view import ContextView
from ollm_tui.engine.context.system_prompt import DEFAULT_PROMPT
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.engine.conversation.ephemeral_sessions import EphemeralSessions
from ollm_tui.engine.conversation.model_choice import ModelChoice, ModelChooser
from ollm_tui.engine.project.additions import Additions
from ollm_tui.engine.project.file_passages import FilePassages
from ollm_tui.engine.project.history_search import History
from ollm_tui.engine.project.outside_events import EventHooks, OutsideEvents
from ollm_tui.engine.project.pinned_task import PinnedTask
from ollm_tui.engine.project.project_context import ProjectContext
from ollm_tui.engine.project.search_model import SearchModels
from ollm_tui.engine.snapshots.points import Point, Points
from ollm_tui.engine.tools.tool_selection import ToolSelection
from ollm_tui.engine.turn.engine_line import EngineLines
from ollm_tui.services.safety.project_trust import Trust
from ollm_tui.services.sessions.following import Followed, follow
from ollm_tui.services.sessions.recording import Recorder, Recording
from ollm_tui.services.sessions.retention import enforce_retention
from ollm_tui.services.sessions.session_library import BY_HAND, SessionLibrary
from ollm_tui.services.snapshots.restore_points import Snapshots
from ollm_tui.services.tokens.counter import TokenCounters
from ollm_tui.services.topic import Topic
from ollm_tui.settings.schema import Settings

if TYPE_CHECKING:
    from ollm_tui.engine.tools.tool_setup import ToolSetup
    from ollm_tui.services.hooks import Hooks
    from ollm_tui.services.sync.background_sync import BackgroundSync

R = TypeVar("R")
log = logging.getLogger(__name__)

LONGEST_TITLE = 200
LONGEST_TAG = 40


class Workspace:
    """Opens conversations and manages all sessions. It is closed after its conversations."""

    sync: BackgroundSync | None = None
    """Syncs with the user's other machines, where that is set."""

    def __init__(
        self,
        settings: Settings,
        recording: Recording,
        library: SessionLibrary,
        providers: ProviderSource,
        project: Path,
        counters: TokenCounters | None = None,
        trust: Trust | None = None,
        hooks: Hooks | None = None,
        home: Path | None = None,
    ) -> None:
        self.settings = settings
        self._recording = recording
        self._library = library
        self._providers = providers
        self.models = ModelChooser(settings, providers)
        """Chooses models, and lists what providers offer."""
        self.lines = EngineLines(settings.answers_at_once)
        """Has the conversations wait for each other where they ask the same server."""
        self._project = project
        self.project = ProjectContext(project, settings, trust or Trust(None), home)
        """Reads what the project's folder can add to the context."""
        self.task = PinnedTask(self.project.tasks)
        """Pins a task of the project to sessions."""
        self.hooks = hooks
        """The user's hooks, if there are any."""
        self._counters = counters or TokenCounters(None)
        self.tool_setup: ToolSetup | None = None
        """Makes the toolkits of conversations; None gives the model no tools."""
        self.additions = Additions(
            ToolSelection(settings.tools.max_offered), tasks=self.project.tasks, folder=project
        )
        """What MCP servers and extensions add."""
        self.events = OutsideEvents()
        """Passes on what happens in any session of this workspace."""
        self._event_hooks = EventHooks(hooks) if hooks else None
        if self._event_hooks:
            self.events.subscribe(self._event_hooks.take)
        recording.topic.subscribe(self.events.publish)
        self.snapshots = Snapshots.of(recording, settings)
        """The snapshots of all sessions."""
        self.snapshots.topic.subscribe(lambda event: self.events.publish(event))
        self._open: dict[str, Conversation] = {}
        self._ephemeral = EphemeralSessions(all_new=settings.retention.mode == "ephemeral")
        rules, memory = BudgetRules.of(settings), self._ephemeral
        self.points = Points(library, self.snapshots, self._open, self._on_disk, rules, memory)
        """Reads and forks sessions at any of their points."""
        models = SearchModels(providers, settings.search.embedding_model)
        self.history = History(
            library.store,
            recording.topic,
            most=settings.search.max_results,
            recall_tokens=settings.search.retrieval_tokens,
            models=models,
        )
        """Searches everything ever said."""
        self.passages = FilePassages(self.project, library.store, models)
        """Searches the files of the project."""

    @property
    def saving(self) -> Topic[StoreEvent]:
        """Publishes what happens to records on their way to disk."""
        return self._recording.topic

    async def begin(
        self,
        *,
        provider: str | None = None,
        model: str | None = None,
        ephemeral: bool = False,
    ) -> Conversation:
        """Begin a new conversation; nothing is on disk before its first message.

        After an ephemeral one all new ones are ephemeral: the user asked for no traces.
        """
        choice = await self.models.choose(provider, model)
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
        self._library.store.check_writable()  # also for one that stays in memory: nobody may write
        self._ephemeral.all_new |= ephemeral
        in_memory = self._ephemeral.all_new
        recorder = self._recording.create(session, ephemeral=in_memory)
        if in_memory:
            self._ephemeral.add(recorder.state)
            self.snapshots.keep_in_memory(session.session_id)
        conversation = self._hold(recorder, choice, begun=False)
        await self.project.use_trusted(conversation.notes, is_new=True)
        return conversation

    async def resume(
        self, session_id: str, *, provider: str | None = None, model: str | None = None
    ) -> tuple[Conversation, tuple[str, ...]]:
        """Continue a session; also returns what of it could not be read. SessionBusy if another
        process has it open, or nothing may be changed here: it can be followed then.

        By default the session's own model answers, or another one if that is gone.
        """
        recorder, problems = await self._reopened(session_id)
        header = recorder.state.header
        try:
            choice = await self.models.choose_again(header, provider, model)
        except BaseException:  # also when cancelled: the lock of the session must not stay
            await recorder.close()
            raise
        conversation = self._hold(recorder, choice, begun=True)
        await conversation.mark_interrupted()
        now = {"model": choice.model, "provider": choice.provider.name, "window": choice.window}
        if now != {name: getattr(header, name) for name in now}:
            await conversation.change(**now)
        await self.project.use_trusted(conversation.notes, is_new=False)
        for problem in problems:
            log.warning("damaged: %s", problem, extra={"session": session_id})
        return conversation, problems

    async def sessions(self) -> list[SessionSummary]:
        """Every session, the latest first."""
        # In steps: a message that is sent meanwhile is recorded between two of them.
        reading = self._library.catalogue.reading()
        listed: list[SessionSummary] = []
        while (more := await self._on_disk(partial(next, reading, None))) is not None:
            listed = more
        return self._ephemeral.listed(listed)

    async def wins(self) -> dict[str, Wins]:
        """How often each model gave the better one of several answers, as the user voted."""
        return wins_by_model(vote for session in await self.sessions() for vote in session.votes)

    async def known_sessions(self, most: int) -> list[SessionSummary]:
        """The latest sessions as the index knows them, for showing while `sessions` runs."""
        return await self._on_disk(self._library.catalogue.known, most)

    async def find(self, prefix: str) -> str:
        """The full id of the only session that starts with a prefix. SessionNotFound if there is
        none, AmbiguousId if there are several."""
        ephemeral = self._ephemeral.find(prefix)
        return ephemeral or await self._on_disk(self._library.catalogue.resolve, prefix)

    async def latest(self) -> str | None:
        """The id of the session that was active last; None if there is none."""
        return await self._on_disk(self._library.catalogue.latest)

    async def read(self, session_id: str) -> list[Message]:
        """The messages of a session's current branch, also while somebody writes it."""
        return (await self.points.state(session_id)).branch()

    def follow(self, session_id: str) -> AsyncGenerator[Followed, None]:
        """A session that another process writes: as it is, and again each time it changed.

        It is only read. StoreError once it cannot be read any more.
        """
        return follow(self._library.store, session_id, self._on_disk)

    async def rename(self, session_id: str, title: str) -> None:
        """Give a session another title. UsageError if that is empty, SessionBusy if another
        process has the session open."""
        words = " ".join(clean(title).split())[:LONGEST_TITLE].rstrip()
        if not words:
            raise UsageError("a title needs at least one character", "type one, or press Esc")
        await self._change(session_id, title=words)

    async def pin(self, session_id: str, pinned: bool) -> None:
        """Pin a session, which keeps it on top of the list and from retention; or unpin it."""
        await self._change(session_id, pinned=pinned)

    async def tag(self, session_id: str, tags: Sequence[str]) -> None:
        """Replace the tags of a session; empty and repeated ones are dropped."""
        words = (" ".join(clean(tag).split())[:LONGEST_TAG] for tag in tags)
        await self._change(session_id, tags=[word for word in dict.fromkeys(words) if word])

    async def archive(self, session_id: str, archived: bool) -> None:
        """Move a session to the end of the list, or back."""
        await self._change(session_id, archived=archived)

    async def fork(self, session_id: str, message_id: str | None = None) -> str:
        """Copy a session up to a message, by default its end; returns the id of the copy."""
        if self._ephemeral.all_new or self._ephemeral.owns(session_id):
            return await self.points.fork(Point(session_id, message=message_id or ""))
        conversation = self._open.get(session_id)
        if conversation and conversation.unsaved:  # the copy is made from the files
            await conversation.save()
        return await self._on_disk(self._library.fork, session_id, message_id)

    async def go_on(self, conversation: Conversation) -> str:
        """Make a new session that goes on where a conversation ends, each naming the other; returns
        its id. UsageError while the model answers."""
        conversation.check_free()
        session = continuation(conversation.state)
        if conversation.is_kept:
            session_id = await self._on_disk(self._library.add, session)
        else:
            self.snapshots.keep_in_memory(session.session_id)
            session_id = self._ephemeral.add_copy(session)
        await conversation.change(continuedIn=session_id)
        return session_id

    async def discard(self, session_id: str) -> None:
        """Move a session to the trash. UsageError if it is open here, SessionBusy if it is in
        another process."""
        if session_id in self._open:
            raise UsageError("the session is open", "switch to another, or /close it")
        if not self._ephemeral.discard(session_id):
            await self._on_disk(self._library.discard, session_id, BY_HAND)

    async def restore(self, session_id: str) -> None:
        """Bring a session back from the trash."""
        if not self._ephemeral.restore(session_id):
            await self._on_disk(self._library.restore, session_id)

    async def switch_model(
        self, conversation: Conversation, provider: str | None, model: str | None
    ) -> None:
        """Have another model answer from the next message on; the session remembers it."""
        await conversation.use(await self.models.choose(provider, model))

    async def preview_model(
        self, conversation: Conversation, provider: str | None, model: str | None
    ) -> ContextView:
        """The view of the context as it would be for another model, in the window of that one."""
        return await conversation.preview_model(await self.models.choose(provider, model))

    async def enforce_retention(self, spare: frozenset[str]) -> list[SessionSummary]:
        """Move sessions over the limits of the settings to the trash, but none of `spare`; returns
        those that were moved."""
        seconds = self.settings.retention.max_age_seconds

        def enforce() -> list[SessionSummary]:
            return enforce_retention(
                self._library,
                keep=self.settings.sessions.max_sessions,
                max_age=timedelta(seconds=seconds) if seconds else None,
                spare=spare,
            )

        return await self._on_disk(enforce)

    async def close(self) -> None:
        """Close the providers and the store. Conversations have to be closed before."""
        await self.history.close()
        await self.additions.close()
        await self.passages.close()
        await self.project.close()
        await self._providers.close()
        await self._recording.close()
        if self._event_hooks:
            await self._event_hooks.close()
        if self.sync:
            self.sync.close()

    async def _reopened(self, session_id: str) -> tuple[Recorder, tuple[str, ...]]:
        """Open a session for writing; also returns what of it could not be read."""
        if ephemeral := self._ephemeral.get(session_id):
            return self._recording.in_memory(ephemeral), ()
        try:
            if not self._library.store.writes:
                raise SessionBusy("this window is read-only", "open the session in another one")
            recorder, loaded = await self._recording.open(session_id)
        except SessionBusy as error:
            error.session_id = session_id  # so that whoever asked can follow it instead
            raise
        return recorder, loaded.problems

    def _hold(self, recorder: Recorder, choice: ModelChoice, *, begun: bool) -> Conversation:
        """Make the conversation of a session and remember it as open."""
        session_id = recorder.state.header.session_id

        def forget() -> None:
            self._open.pop(session_id, None)

        conversation = _OpenConversation(
            recorder,
            choice,
            self.saving,
            begun=begun,
            # What is learnt about a model is stored, which an ephemeral session must not do.
            counters=self._counters if recorder.is_kept else TokenCounters(None),
            settings=self.settings,
            snapshots=self.snapshots,
            hooks=self.hooks,
        )
        if self.tool_setup:
            conversation.tools.make_toolkit = partial(
                self.tool_setup.toolkit,
                keeps=recorder.is_kept,
                sees_pictures=lambda: conversation.choice.images is True,
            )
            conversation.tools.further = self.additions
            self.additions.start()
        conversation.use_lines(self.lines)
        conversation.when_closed = forget
        conversation.heard.subscribe(lambda event: self.events.publish(event, session_id))
        if self.additions.extensions:
            conversation.hooks.further = self.additions.context
        met = set[str]()
        conversation.when_touched = lambda notes, paths: self.project.touched(
            notes, paths, met, session_id
        )
        if self.settings.search.retrieval:
            conversation.recall = lambda words: self.history.recall.for_prompt(words, session_id)
        self._open[session_id] = conversation
        return conversation

    async def _on_disk(self, work: Callable[..., R], *arguments: object) -> R:
        """Run a function in the thread of the store; an OSError becomes a StoreError."""
        try:
            return await self._recording.in_thread(work, *arguments)
        except OSError as error:
            reason = error.strerror or str(error)
            hint = "free disk space or fix the directory; see ollm doctor"
            raise StoreError(f"storage error: {reason}", hint) from error

    async def _change(self, session_id: str, **fields: object) -> None:
        """Set fields of a session, named as on disk. One that is open here is changed through its
        conversation, which holds the lock."""
        conversation = self._open.get(session_id)
        if conversation is None and self._ephemeral.change(session_id, **fields):
            return
        if conversation is None:
            change = partial(self._library.change, session_id, **fields)
            await self._on_disk(change)
        elif len(conversation.state):
            await conversation.change(**fields)
        else:
            raise UsageError("no messages yet", "send a message first")


class _OpenConversation(Conversation):
    """A conversation that tells its workspace when it is closed."""

    when_closed: Callable[[], None]

    async def close(self) -> None:
        """Close the session. The workspace forgets it first, so that nothing is recorded through
        it while it closes."""
        self.when_closed()
        await super().close()
