"""A store with a session that has seen everything: branches, compressions, snapshots, restores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.session.compression import CompressedContext, Compression
from ollm_tui.core.session.goals import Goal
from ollm_tui.core.session.message import Attachment, Message, Part, Role, Text, Usage
from ollm_tui.core.session.session import Metadata, Restore, Session
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.core.snapshot import Reason, snapshot_of
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.services.snapshots.snapshot_library import SnapshotLibrary
from ollm_tui.storage.store_layout import StoreLayout

LOG = "\n".join(f"14:02:{second:02} 503 upload part {second}" for second in range(60))
SAID: Sequence[tuple[str, str, int]] = (
    ("The upload job retries forever when the server answers 503. How?", "Use full jitter.", 900),
    ("Where does the budget belong?", "To the **job**, not to the request.", 1400),
    ("And what if the process restarts in the middle?", "Keep the counter with the job.", 2600),
    ("Look at this log: [paste 1]", "Part 17 fails each time.", 6900),
    ("What now?", "Skip part 17.", 2300),
)
WINDOW = 8192


def full_id(number: int) -> str:
    """The session id of a sample."""
    return f"{number:08}-0000-4000-8000-000000000000"


def rich_session(now: datetime, number: int = 0) -> Session:
    """Five exchanges, the third answered twice, compressed once and set back once."""
    begun = now - timedelta(hours=3)
    messages: list[Message] = []
    for turn, (question, answer, tokens) in enumerate(SAID):
        at = begun + timedelta(minutes=10 * turn)
        parts: tuple[Part, ...] = (Text(question),)
        if "paste" in question:
            parts += (Attachment(name="paste 1", media_type="text/plain", content=LOG),)
        messages.append(_message(f"q{turn}", "user", parts, at, messages))
        reply = _message(f"a{turn}", "assistant", (Text(answer),), at, messages)
        model = "qwen2.5-coder:1.5b" if turn < 4 else "gemma3:4b"
        usage = Usage(input_tokens=tokens - 50, output_tokens=50)
        messages.append(replace(reply, model=model, provider="ollama", usage=usage))
    other = Message(
        "b2",
        "assistant",
        (Text("Write it down before the request is made."),),
        clock.iso(begun + timedelta(minutes=25)),
        parent_id="q2",
        model="qwen2.5-coder:1.5b",
    )
    messages.insert(6, other)
    return Session(
        session_id=full_id(number),
        start_time=clock.iso(begun),
        last_activity=clock.iso(now),
        model="gemma3:4b",
        provider="ollama",
        messages=tuple(messages),
        head="a4",
        title="retry logic for the uploader",
        project="/home/me/uploader",
        window=WINDOW,
        system_prompt="You are brief.",
        metadata=_metadata(begun),
    )


def _metadata(begun: datetime) -> Metadata:
    compression = Compression(
        number=1,
        at=clock.iso(begun + timedelta(minutes=35)),
        strategy="hybrid",
        trigger="auto",
        before_tokens=6900,
        after_tokens=1500,
        before=CompressedContext(),
        after=CompressedContext(elided=("q3",)),
        elisions={"q3": "part 17"},
        last="a3",
    )
    restore = Restore(
        at=clock.iso(begun + timedelta(minutes=44)),
        snapshot="",
        title="What now?",
        undoes=clock.iso(begun + timedelta(minutes=43)),
    )
    return Metadata(
        token_count=2300,
        compression_count=1,
        goals=(Goal("g1", "ship the uploader", clock.iso(begun)),),
        compressed=compression.after,
        compression_history=(compression,),
        restores=(restore,),
    )


def _message(
    key: str, role: Role, parts: tuple[Part, ...], at: datetime, before: Sequence[Message]
) -> Message:
    parent = before[-1].id if before else None
    return Message(key, role, parts, clock.iso(at), parent_id=parent)


def plain_session(number: int, title: str, now: datetime) -> Session:
    """One exchange."""
    at = now - timedelta(days=number)
    messages = (
        Message(f"q{number}-0", "user", (Text(f"What about {title}?"),), clock.iso(at)),
        Message(
            f"a{number}-0",
            "assistant",
            (Text(f"Much about **{title}**."),),
            clock.iso(at),
            parent_id=f"q{number}-0",
        ),
    )
    return Session(
        session_id=full_id(number),
        start_time=clock.iso(at),
        last_activity=clock.iso(at),
        model="qwen",
        provider="ollama",
        messages=messages,
        head=messages[-1].id,
        title=title,
        metadata=Metadata(token_count=210),
    )


def fill_with_snapshots(
    home: Path, titles: Iterable[str] = ("regex for logs", "css grid puzzle")
) -> list[str]:
    """A rich session with four snapshots, and others without; gives their ids."""
    now = datetime.now(UTC)
    library = SessionLibrary.at(StoreLayout(home / "sessions"))
    rich = rich_session(now)
    others = [plain_session(number, title, now) for number, title in enumerate(titles, 1)]
    names = [library.add(session) for session in (rich, *others)]
    library.close()
    take_snapshots(home, rich, now)
    return names


def take_snapshots(home: Path, rich: Session, now: datetime) -> None:
    """Four snapshots of the rich session, one of them by hand, one of its other branch."""
    snapshots = SnapshotLibrary.at(StoreLayout(home / "sessions"))
    goals = Metadata(goals=rich.metadata.goals)
    taken: tuple[tuple[str, str, Reason, int], ...] = (
        ("a1", "", "mode", 15),
        ("b2", "", "model", 27),
        ("a2", "before the log", "manual", 28),
        ("a3", "", "compression", 34),
    )
    for head, name, reason, minutes in taken:
        state = SessionState(replace(rich, head=head, metadata=goals))
        usage = state[head].usage
        tokens = usage.total_tokens if usage else 2500
        at = clock.iso(now - timedelta(hours=3) + timedelta(minutes=minutes))
        snapshot = snapshot_of(state, tokens, reason=reason, name=name)
        snapshots.create(replace(snapshot, id=f"snap{minutes:04}", timestamp=at), 5)
