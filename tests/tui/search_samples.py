"""A history worth searching: several sessions of last autumn, one with another branch."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.session.message import (
    Message,
    Part,
    Role,
    Text,
    ToolCallPart,
    ToolResultPart,
    Usage,
)
from ollm_tui.core.session.session import Metadata, Session
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.store_layout import StoreLayout

QWEN, GEMMA = "qwen2.5-coder:1.5b", "gemma3:4b"
Said = Sequence[tuple[Role, str]]
UPLOADER: Said = (
    ("user", "The upload job retries forever when the server answers 503. How should it back off?"),
    (
        "assistant",
        "Use **exponential back-off with full jitter** and a cap:\n\n```python\n"
        "delay = min(cap, base * 2 ** attempt) * random()\n```\n\n"
        "The budget of retries belongs to the job, not to the request.",
    ),
    ("user", "And what if the process restarts in the middle?"),
    ("assistant", "Then the number of retries has to be stored with the job."),
)
CELERY: Said = (
    ("user", "How many retries does celery do by itself, and does rq do any?"),
    ("assistant", "Celery: three, unless `max_retries` says otherwise. rq does none by itself."),
)
GRID: Said = (
    ("user", "Why does my css grid overflow?"),
    ("assistant", "A grid item is as wide as its longest word unless `min-width: 0` is set."),
)
BACKUPS: Said = (
    ("user", "Which of the nightly backups failed?"),
    ("assistant", "Let me look."),
    ("tool", "backup-17.log: 4 retries, then gave up"),
    ("assistant", "Number 17; it gave up after four attempts."),
)


def full_id(number: int) -> str:
    """The session id of a sample."""
    return f"{number:08}-0000-4000-8000-000000000000"


def samples(year: int = 2025) -> list[Session]:
    """Four sessions of September, October and November."""
    return [
        _with_other_branch(
            _session(0, "retry logic for the uploader", UPLOADER, datetime(year, 10, 14, 14, 2))
        ),
        _session(1, "celery vs rq", CELERY, datetime(year, 10, 9, 9, 31), model=GEMMA),
        _session(2, "css grid puzzle", GRID, datetime(year, 9, 3, 18, 0), project="/home/me/site"),
        _session(3, "nightly backups", BACKUPS, datetime(year, 11, 2, 8, 15), pinned=True),
    ]


def fill(home: Path, year: int = 2025) -> None:
    """Put the samples into the store of a home."""
    library = SessionLibrary.at(StoreLayout(home / "sessions"))
    for session in samples(year):
        library.add(session)
    library.close()


def _session(
    number: int,
    title: str,
    said: Said,
    begun: datetime,
    *,
    model: str = QWEN,
    project: str = "/home/me/uploader",
    pinned: bool = False,
) -> Session:
    begun = begun.replace(tzinfo=UTC)
    messages: list[Message] = []
    for place, (role, text) in enumerate(said):
        at = clock.iso(begun + timedelta(minutes=3 * place))
        parts: tuple[Part, ...] = (Text(text),)
        if role == "tool":
            parts = (ToolResultPart("c1", "read_file", text),)
        elif text == "Let me look.":
            parts += (ToolCallPart("c1", "read_file", {"path": "backup-17.log"}),)
        parent = messages[-1].id if messages else None
        message = Message(f"s{number}m{place}", role, parts, at, parent_id=parent)
        if role == "assistant":
            usage = Usage(input_tokens=400 * place, output_tokens=60)
            message = replace(message, model=model, provider="ollama", usage=usage)
        messages.append(message)
    return Session(
        session_id=full_id(number),
        start_time=messages[0].timestamp,
        last_activity=messages[-1].timestamp,
        model=model,
        provider="ollama",
        messages=tuple(messages),
        head=messages[-1].id,
        title=title,
        project=project,
        pinned=pinned,
        window=8192,
        metadata=Metadata(token_count=1260),
    )


def _with_other_branch(session: Session) -> Session:
    """The second question was answered twice; the first answer is on another branch."""
    question = session.messages[2]
    other = Message(
        "s0b3",
        "assistant",
        (Text("Nothing is lost: a queue outside of the process keeps the attempts."),),
        clock.iso(clock.parse(question.timestamp) + timedelta(minutes=1)),
        parent_id=question.id,
        model=QWEN,
        provider="ollama",
    )
    first, last = session.messages[:3], session.messages[3:]
    return replace(session, messages=(*first, other, *last))
