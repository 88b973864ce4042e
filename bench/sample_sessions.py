"""Sessions to measure with: every message about a kilobyte of JSON, the same in every run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

from ollm_tui.core import clock
from ollm_tui.core.session.message import Message, Text, new_id
from ollm_tui.core.session.session import Session, new_session_id
from ollm_tui.storage.files.side_files import SideFiles
from ollm_tui.storage.sessions.session_file import session_chunks
from ollm_tui.storage.store_layout import StoreLayout, make_directory

MESSAGE_CHARACTERS = 850
"""With id, time and parent a message is then about 1 KB of JSON."""

_TEXT = (
    "the session is on disk before a model sees it; a journal line has “quotes”, \\slashes\\, "
    "and\nline ends, because real text does: naïve café, 10 µs, `code`, tabs\tand more."
)


def sample_messages(characters: int = MESSAGE_CHARACTERS) -> Iterator[Message]:
    """Messages without end, in one branch, user and assistant taking turns."""
    random = Random(1)
    vocabulary = _TEXT.split(" ")
    parent: str | None = None
    while True:
        for role in ("user", "assistant"):
            words = " ".join(random.choices(vocabulary, k=characters // 4))[:characters]
            message = Message(
                id=new_id(),
                role=role,
                parts=(Text(words),),
                timestamp=clock.now(),
                parent_id=parent,
            )
            yield message
            parent = message.id


def sample_session(messages: int, characters: int = MESSAGE_CHARACTERS) -> Session:
    """A session with that many messages."""
    source = sample_messages(characters)
    said = tuple(next(source) for _ in range(messages))
    moment = clock.now()
    return Session(
        session_id=new_session_id(),
        start_time=moment,
        last_activity=moment,
        model="sample",
        provider="scripted",
        title=f"A sample of {messages} messages",
        messages=said,
        head=said[-1].id if said else None,
    )


def fill_store(home: Path, sessions: int, messages: int = 4) -> None:
    """Put small sessions into a store, unsynced and unknown to the index: thousands in seconds."""
    layout = StoreLayout(home / "sessions")
    make_directory(layout.sessions)
    for _ in range(sessions):
        session = sample_session(messages, characters=200)
        side_files = SideFiles(layout.side_files(session.session_id))
        chunks = session_chunks(session, side_files)
        layout.session(session.session_id).write_bytes(b"".join(chunks))
