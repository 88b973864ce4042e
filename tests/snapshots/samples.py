"""Sessions for pictures: everything in them is fixed but the ages of the first three."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from ollm_tui.core import clock
from ollm_tui.core.session.message import (
    Attachment,
    Message,
    Part,
    Reasoning,
    Text,
    ToolCallPart,
    Usage,
)
from ollm_tui.core.session.session import Metadata, Session

MODEL, PROVIDER, WINDOW = "qwen2.5-coder:1.5b", "ollama", 8192
PROJECT = "/home/me/code/uploader"

QUESTION = "The upload job retries forever when the server answers 503. How should it back off?"
ANSWER = """\
Use **exponential back-off with full jitter** and a cap. Three points matter here:

1. The budget belongs to the job, not to the request.
2. `Retry-After` wins over your own schedule.
3. Count attempts *per item*, see [RFC 9110](https://www.rfc-editor.org/rfc/rfc9110).

```python
def delay(attempt: int, base: float = 0.5, cap: float = 60.0) -> float:
    \"\"\"Full jitter: anything between nothing and the ceiling.\"\"\"
    return random() * min(cap, base * 2**attempt)
```

| attempt | ceiling | mean  |
|--------:|--------:|------:|
|       1 |     1 s | 0.5 s |
|       5 |    16 s |   8 s |

> A job that retries for ever is a job that nobody watches.
"""
MARKDOWN = """\
# Release notes

## What is new in 1.4

- Uploads **resume** after a restart
  - also over *slow* links
  - ~~only~~ not only on Linux
- Titles may be 日本語, Ελληνικά or 🎉 emoji

- [x] full jitter
- [ ] a dashboard

| language | greeting   | width |
|----------|------------|------:|
| 日本語   | こんにちは |    10 |
| Deutsch  | Guten Tag  |     9 |

> Measure first, then cut.

See [the guide](https://example.org/guide) and `upload --help`:

```sh
upload --resume --cap 60s *.tar   # the rest waits
```
"""
THOUGHT = (
    "The user wants the job to survive a restart. The counter has to live with the job, so it "
    "must be written before the request is made, not after it failed."
)
PASTE = "\n".join(f"14:02:{second:02} 503 upload part {second}" for second in range(60))


def all_sessions() -> tuple[Session, ...]:
    """One of now, one of yesterday, one of this week; one pinned and two of long ago."""
    old = datetime(2024, 10, 14, 14, 2, tzinfo=UTC)
    now = datetime.now(UTC)
    return (
        session_of(0, "retry logic for the uploader", now, _exchange(QUESTION, ANSWER)),
        session_of(1, "regex for logs", now - timedelta(days=1), _folded()),
        session_of(2, "release notes", now - timedelta(days=3), _exchange("Notes?", MARKDOWN)),
        session_of(
            3, "parser, second try", old, _exchange("Pratt or yacc?", "Pratt."), pinned=True
        ),
        session_of(4, "css grid puzzle", old, _exchange("Why is the gap gone?", GRID)),
        session_of(5, "celery or rq", old - timedelta(days=40), _exchange("Which queue?", "`rq`.")),
    )


GRID = """\
Because `gap` belongs to the **container**, and yours is an item:

```css
.board { display: grid; gap: 1rem; }
```
"""


def id_of(number: int) -> str:
    """The session id of a sample."""
    return f"{number:08}-0000-4000-8000-000000000000"


def _exchange(question: str, answer: str) -> list[tuple[Part, ...]]:
    return [(Text(text=question),), (Text(text=answer),)]


def _folded() -> list[tuple[Part, ...]]:
    """Something of everything that is folded."""
    log = Attachment(name="paste 1", media_type="text/plain", content=PASTE)
    call = ToolCallPart(call_id="1", name="read_file", args={"path": "src/uploader.py"})
    return [
        (Text(text="Which lines of [paste 1] matter?"), log),
        (
            Reasoning(text=THOUGHT),
            Text(text="Those with **503**: `grep ' 503 ' upload.log`."),
            call,
        ),
        (Text(text="And what if the process restarts in the middle?"),),
        (Reasoning(text=THOUGHT), Text(text="Then the counter has to be kept with the job.")),
    ]


def session_of(
    number: int,
    title: str,
    at: datetime,
    said: Iterable[tuple[Part, ...]],
    *,
    pinned: bool = False,
) -> Session:
    """A session in which the user and the model said something in turn."""
    messages: list[Message] = []
    for place, parts in enumerate(said):
        messages.append(_message(f"m{number}-{place}", parts, clock.iso(at), messages))
    return Session(
        session_id=id_of(number),
        start_time=clock.iso(at - timedelta(minutes=20)),
        last_activity=clock.iso(at),
        model=MODEL,
        provider=PROVIDER,
        messages=tuple(messages),
        head=messages[-1].id,
        title=title,
        project=PROJECT,
        pinned=pinned,
        window=WINDOW,
        metadata=Metadata(token_count=1055 + 800 * number),
    )


def _message(key: str, parts: tuple[Part, ...], at: str, before: list[Message]) -> Message:
    parent = before[-1].id if before else None
    if len(before) % 2 == 0:
        return Message(id=key, role="user", parts=parts, timestamp=at, parent_id=parent)
    usage = Usage(
        input_tokens=812, output_tokens=243, cached_tokens=700, prompt_seconds=0.4, output_seconds=8
    )
    return Message(
        id=key,
        role="assistant",
        parts=parts,
        timestamp=at,
        parent_id=parent,
        model=MODEL,
        provider=PROVIDER,
        usage=usage,
    )
