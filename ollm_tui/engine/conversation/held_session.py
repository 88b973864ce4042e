"""A session that is open for writing: what is recorded in it, how it changes and is closed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.events import SaveFailed, SaveResumed, StoreEvent
from ollm_tui.core.session.encoding import session_from_tree, to_tree
from ollm_tui.core.session.message import Message
from ollm_tui.core.session.record import (
    AnyRecord,
    Created,
    MessageAdded,
    MessageFinished,
    MetadataChanged,
    SessionChanged,
    ToolCallAdded,
)
from ollm_tui.core.session.session import Metadata, ToolCall
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.core.session.titles import title_of
from ollm_tui.services.sessions.recording import Recorder
from ollm_tui.services.topic import Topic


class HeldSession:
    """Owns the record of one session; it is on disk from its first message on."""

    def __init__(self, recorder: Recorder, saving: Topic[StoreEvent], *, begun: bool) -> None:
        self.heard = Topic[object]()
        """Publishes the events of turns and compressions, for those who only listen."""
        self._recorder = recorder
        self._begun = begun
        self._early: list[ToolCallAdded] = []
        """Tool calls made before the first message; they are recorded right before it."""
        self.before_closing: Callable[[], Awaitable[None]] | None = None
        """Called by `close` while records can still be added."""
        self._notices: list[SaveFailed | SaveResumed] = []
        """What the next turn tells about saving."""
        self._unsubscribe = saving.subscribe(self._note_saving)

    @property
    def state(self) -> SessionState:
        """Everything said so far; for reading only, it changes by records."""
        return self._recorder.state

    @property
    def changed(self) -> Topic[None]:
        """Publishes that something happened that may have changed the context; not the text of
        a reply that is being written."""
        return self._recorder.changed

    @property
    def session_id(self) -> str:
        """The id of the session."""
        return self.state.header.session_id

    @property
    def is_kept(self) -> bool:
        """Whether the session outlives the program; an ephemeral one does not."""
        return self._recorder.is_kept

    @property
    def is_saved_at_once(self) -> bool:
        """Whether each record is written as it is made, not only by `save` and `close`."""
        return self._recorder.is_saved_at_once

    @property
    def unsaved(self) -> int:
        """How many records are not on disk yet."""
        return self._recorder.unsaved

    async def change(self, **fields: object) -> None:
        """Set fields of the session, named as on disk: title, pinned, tags."""
        if self._begun:
            await self._recorder.record(SessionChanged(at=clock.now(), fields=fields))
        else:  # nothing is on disk before the first message: its header has them then
            self.state.header = session_from_tree(to_tree(self.state.header) | fields)
            self.changed.publish(None)

    async def change_metadata(self, metadata: Metadata) -> None:
        """Set marks, goals, modes or notes of the session: one record of what differs."""
        if not self._begun:
            self.state.header = replace(self.state.header, metadata=metadata)
            self.changed.publish(None)
            return
        before, after = to_tree(self.state.header.metadata), to_tree(metadata)
        fields = {name: value for name, value in after.items() if before.get(name) != value}
        if fields:
            await self._recorder.record(MetadataChanged(at=clock.now(), fields=fields))

    async def record(self, *records: AnyRecord) -> None:
        """Apply records to the state and write them to disk."""
        await self._recorder.record(*records)

    async def add_tool_call(self, call: ToolCall) -> None:
        """Record a tool call; one before the first message is recorded with that message."""
        added = ToolCallAdded(at=clock.now(), tool_call=call)
        if self._begun:
            await self._recorder.record(added)
        else:
            self._early.append(added)

    async def save(self) -> None:
        """Write everything into the session file now."""
        await self._recorder.save()

    async def close(self) -> None:
        """Save the session and release its lock."""
        if self.before_closing:
            await self.before_closing()
        self._unsubscribe()
        if self._begun:
            await self._recorder.close()

    async def mark_interrupted(self) -> None:
        """Record the status `interrupted` for replies that a crash cut off."""
        cut_off = [message for message in self.state.messages() if message.status == "streaming"]
        for message in cut_off:
            await self._recorder.record(
                MessageFinished(
                    # The reply ended then, not when the session is opened again.
                    at=self.state.header.last_activity,
                    message_id=message.id,
                    status="interrupted",
                )
            )

    async def _add(self, message: Message, words: str) -> None:
        """Record a message of the user; with the first one the session is created on disk."""
        added = MessageAdded(at=message.timestamp, message=message)
        if self._begun:
            await self._recorder.record(added)
            return
        self._begun = True
        header = replace(
            self.state.header,
            title=title_of(words),
            start_time=message.timestamp,
            last_activity=message.timestamp,
        )
        created = Created(at=message.timestamp, session=header)
        await self._recorder.record(created, *self._early, added)

    def _note_saving(self, event: StoreEvent) -> None:
        if isinstance(event, SaveFailed | SaveResumed):
            self._notices.append(event)

    def _saving_notices(self) -> list[SaveFailed | SaveResumed]:
        notices, self._notices = self._notices, []
        return notices
