"""A long history to search: real prose and code, cut from the sources of Python's own library."""

from __future__ import annotations

import sysconfig
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from ollm_tui.core import clock
from ollm_tui.core.session.message import (
    Message,
    Part,
    Text,
    ToolCallPart,
    ToolResultPart,
    Usage,
    new_id,
)
from ollm_tui.core.session.session import Session, new_session_id
from ollm_tui.storage.files.side_files import SideFiles
from ollm_tui.storage.sessions.session_file import session_chunks
from ollm_tui.storage.store_layout import StoreLayout, make_directory

_BEGIN = datetime(2025, 1, 1, tzinfo=UTC)
_SPAN_MINUTES = 60 * 24 * 500
_LENGTHS = {"user": (40, 90, 160, 400), "assistant": (200, 500, 900, 1600), "tool": (200, 900)}


def library_text() -> str:
    """Everything in Python's library, as one text."""
    folder = Path(sysconfig.get_path("stdlib"))
    files = sorted(path for path in folder.rglob("*.py") if "packages" not in str(path))
    return "\n".join(path.read_text("utf-8", "replace") for path in files)


def fill_history(home: Path, sessions: int, messages: int) -> None:
    """Put sessions into a store, unsynced and unindexed."""
    random = Random(7)
    source = library_text()
    layout = StoreLayout(home / "sessions")
    make_directory(layout.sessions)
    begins = sorted(random.randrange(_SPAN_MINUTES) for _ in range(sessions))
    for number, minutes in enumerate(begins):
        begin = _BEGIN + timedelta(minutes=minutes)
        said = tuple(_conversation(random, source, messages, begin))
        moment = said[0].timestamp
        session = Session(
            session_id=new_session_id(),
            start_time=moment,
            last_activity=said[-1].timestamp,
            model="qwen2.5-coder:1.5b",
            provider="ollama",
            title=f"Sample {number}",
            project=f"/home/somebody/project-{number % 12}",
            messages=said,
            head=said[-1].id,
        )
        chunks = session_chunks(session, SideFiles(layout.side_files(session.session_id)))
        layout.session(session.session_id).write_bytes(b"".join(chunks))


def _conversation(random: Random, source: str, length: int, moment: datetime) -> Iterator[Message]:
    """A question, a tool call with its result, an answer, and so on, some minutes apart."""
    parent: str | None = None
    for number in range(length):
        moment += timedelta(seconds=random.randrange(2, 300))
        message = _message(random, source, number % 5, clock.iso(moment), parent)
        yield message
        parent = message.id


def _message(random: Random, source: str, turn: int, at: str, parent: str | None) -> Message:
    role = ("user", "assistant", "tool", "assistant", "user")[turn]
    length = random.choice(_LENGTHS[role])
    start = random.randrange(len(source) - length)
    words = source[start : start + length]
    part: Part = Text(words)
    if turn == 1:
        part = ToolCallPart("call-1", "search_text", {"pattern": words[:30], "path": "src/"})
    elif turn == 2:
        part = ToolResultPart("call-1", "search_text", words)
    answers = role == "assistant"
    usage = Usage(input_tokens=2000, output_tokens=300, prompt_seconds=0.4, output_seconds=3.5)
    return Message(
        id=new_id(),
        role=role,
        parts=(part,),
        timestamp=at,
        parent_id=parent,
        model="qwen2.5-coder:1.5b" if answers else None,
        provider="ollama" if answers else None,
        usage=usage if answers else None,
    )
