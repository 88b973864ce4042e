"""Small sessions to try a store with."""

from __future__ import annotations

from ollm_tui.core import clock
from ollm_tui.core.session.message import Message, Text
from ollm_tui.core.session.record import AnyRecord, Created, MessageAdded
from ollm_tui.core.session.session import Session, ToolCall, ToolResult
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.storage.sessions.session_store import SessionStore

NOT_SAVED = "not saved"
"""What a child says when it is told that a record could not be written."""
LARGE = "large " * 60_000
"""Too large for a journal line and for the session file."""


def user_message(message_id: str, text: str = "", parent_id: str | None = None) -> Message:
    """A message that says its own name."""
    words = Text(text or f"words of {message_id}")
    return Message(message_id, "user", (words,), clock.now(), parent_id=parent_id)


def added(message: Message) -> MessageAdded:
    """The record of a message."""
    return MessageAdded(at=message.timestamp, message=message)


def empty_session(session_id: str, title: str = "before") -> Session:
    """A session in which nothing was said yet."""
    moment = clock.now()
    return Session(session_id, moment, moment, "scripted", "scripted", title=title)


def stored_session(session_id: str, title: str = "before") -> Session:
    """Two messages, one of them large enough for a side file, and a tool call as large."""
    moment = clock.now()
    result = ToolResult(llm_content=LARGE)
    return Session(
        session_id,
        moment,
        moment,
        "scripted",
        "scripted",
        title=title,
        messages=(user_message("old-1"), user_message("old-2", LARGE, "old-1")),
        tool_calls=(ToolCall("call-1", "read_file", {}, result, moment),),
        head="old-2",
    )


def begin(store: SessionStore, session_id: str, *messages: Message) -> None:
    """A session whose records are all in its journal."""
    created = Created(at=clock.now(), session=empty_session(session_id))
    records: list[AnyRecord] = [created, *map(added, messages)]
    writer = store.create(session_id)
    writer.append(list(enumerate(records, 1)))
    writer.close()


def go_on(store: SessionStore, session_id: str, *messages: Message) -> None:
    """Open a session, add messages to its journal and leave it so."""
    writer, loaded = store.open(session_id)
    seq = loaded.state.header.journal_seq
    writer.append([(seq + number, added(each)) for number, each in enumerate(messages, 1)])
    writer.close()


def texts(state: SessionState) -> dict[str, str]:
    """What was said, by the ids of the messages."""
    return {message.id: message.text for message in state.messages()}
