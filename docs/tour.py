"""The story of the moving picture: an answer streams, the context is compressed, that is undone.

It is played by the application itself. The scripted model says its next words when a frame has been
taken of the ones before, so the picture is the same on a slow machine and on a fast one.
"""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections import deque
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace
from textual.pilot import Pilot

from ollm_tui.core.provider import ChatRequest, Completed, TextDelta
from ollm_tui.core.session.message import Part, Text, Usage
from ollm_tui.core.session.session import Session
from ollm_tui.providers.scripted import Step, Turn
from tests.snapshots import samples
from tests.snapshots.stage import StagedApp, stage, until
from tests.tui.seen import chat, state

SIZE = (100, 30)
WINDOW = 4096
"""So small that the next answer fills it."""
DRAWN_SECONDS = 0.08
"""The screen draws what arrives thirty times a second: by then it has."""
REPLY_WORDS, SUMMARY_WORDS = 4, 2
"""How many words come with each frame."""
CHARACTERS_PER_TOKEN = 3.4
"""About as many as the estimate takes, so that the gauge does not jump when usage is told."""

EARLIER = (
    (
        "The nightly upload never finishes. Decided: we keep our own worker, no new queue.",
        "Then the worker has to learn when to stop. It keeps its schedule in memory, so each "
        "restart begins again at the first step, and every client comes back at the same second.",
    ),
    (
        "Where do I keep the counter?",
        "We use the row of the job in `src/job_store.py` and write it *before* the request. If "
        "the process dies in between, the attempt counts as failed, which is what you want: a "
        "request that kills the worker is not repeated for ever.",
    ),
    (
        "The budget must never exceed ten minutes for each job.",
        "We use a deadline for each job, not a number of attempts, and the back-off fills the "
        "time up to it. A job that misses it goes to a list that a person reads, with the last "
        "answer of the server beside it.",
    ),
    (
        "And what tells me that it works?",
        "Three numbers: attempts per item, the age of the oldest item, and how many gave up. A "
        "queue whose oldest item grows older while attempts stay flat is stuck, and one whose "
        "attempts grow while the age stays flat retries too eagerly.",
    ),
)
DETAILS = (
    "\n\nThe log of part {part}, `logs/upload-{part}.log`, has {restarts} restarts in one night. "
    "The server answered 503 for {minutes} minutes, and {clients} clients came back within one "
    "second of each other; with full jitter the same load would have been spread over a minute."
)
"""What the answers of long ago go on with; none of it is in the picture."""
QUESTION = "What has to be done before this ships?"
REPLY = """\
Four things are left, in this order:

1. **Cap the budget.** Ten minutes for each job, then it is given up.
2. **Keep the counter** with the job, written before the request.
3. **Honour `Retry-After`**, also when it is longer than the cap.
4. **Alert** on the age of the oldest item.

The second one is the only one that needs a migration:

```python
def add_attempts(table: Table) -> None:
    # What failed before has one attempt.
    table.add("attempts", int, default=0)
    table.where(failed).set(attempts=1)
```

| step      | file               | risk   |
|-----------|--------------------|--------|
| budget    | `src/uploader.py`  | low    |
| counter   | `src/job_store.py` | medium |
| migration | `db/0042_jobs.py`  | medium |
| alert     | `ops/alerts.yaml`  | low    |

> Run the migration on a copy first, and compare the number of rows.

Ship the counter and the budget together: with one but not the other, a job that
hangs is either retried for ever or given up without a trace.
"""
SUMMARY = (
    "The upload job retried without bound on 503. Agreed: exponential back-off with full jitter, a "
    "cap of 60 s and a budget of ten minutes for each job. The counter is kept with the job and "
    "written before the request. Retry-After wins. Attempts, age and give-ups are watched."
)


class Frame(NamedTuple):
    """A picture of the screen, and for how long it is shown."""

    svg: str
    milliseconds: int


class Tour:
    """Plays the story and takes the frames."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self._gates = deque[asyncio.Event]()

    def play(self) -> list[Frame]:
        """Return the frames of the whole story."""
        with tempfile.TemporaryDirectory() as home:
            app = stage(Path(home), "dark", [_long_session()], self._turn, resume=samples.id_of(0))

            async def follow(pilot: Pilot[Any]) -> None:
                await self._story(app, pilot)
                app.exit()

            app.run(headless=True, size=SIZE, auto_pilot=follow)
        return self.frames

    async def _story(self, app: StagedApp, pilot: Pilot[int]) -> None:
        await until(pilot, lambda: app.conversation is not None)
        await self._take(app, pilot, 1200)
        await self._send(app, pilot, QUESTION, at_once=3)
        await self._listen(app, pilot)
        await until(pilot, lambda: bool(self._gates))  # the summary is asked for by itself
        await self._take(app, pilot, 900)
        await self._listen(app, pilot)
        await until(pilot, lambda: not chat(app).chat.is_busy)
        await self._take(app, pilot, 2500)
        await self._send(app, pilot, "/undo", at_once=1)
        await until(pilot, lambda: "undone" in state(app))
        await self._take(app, pilot, 3500)

    async def _send(self, app: StagedApp, pilot: Pilot[int], text: str, at_once: int) -> None:
        for end in range(at_once, len(text) + at_once, at_once):
            chat(app).prompt.put(text[:end])
            await self._take(app, pilot, 80)
        await self._take(app, pilot, 400)
        await pilot.press("enter")

    async def _listen(self, app: StagedApp, pilot: Pilot[int]) -> None:
        """Let the model say all that it has to say."""
        await until(pilot, lambda: bool(self._gates))
        while self._gates:
            self._gates.popleft().set()
            await self._take(app, pilot, 80)

    async def _take(self, app: StagedApp, pilot: Pilot[int], milliseconds: int) -> None:
        await pilot.pause(DRAWN_SECONDS)
        svg = app.export_screenshot(simplify=True)
        if self.frames and self.frames[-1].svg == svg:
            milliseconds += self.frames.pop().milliseconds
        self.frames.append(Frame(svg, milliseconds))

    def _turn(self, request: ChatRequest) -> Turn:
        """What the model says: its reply, or the summary that it is asked for."""
        is_asked = request.messages[-1].text == QUESTION
        said, at_once = (REPLY, REPLY_WORDS) if is_asked else (SUMMARY, SUMMARY_WORDS)
        steps: list[Step] = []
        for words in re.findall(rf"(?:\S+\s*){{1,{at_once}}}", said):
            self._gates.append(asyncio.Event())
            steps += [self._gates[-1], TextDelta(words)]
        read = sum(len(message.text) for message in request.messages)
        usage = Usage(
            input_tokens=int(read / CHARACTERS_PER_TOKEN),
            output_tokens=int(len(said) / CHARACTERS_PER_TOKEN),
            output_seconds=len(said) / 150,
        )
        return [*steps, Completed(finish="stop", usage=usage, model=request.model)]


def _long_session() -> Session:
    said: list[tuple[Part, ...]] = []
    for number, (question, answer) in enumerate(EARLIER):
        details = "".join(
            DETAILS.format(
                part=part, restarts=part % 7 + 2, minutes=part * 3 % 50 + 9, clients=part * 37 + 108
            )
            for part in range(number * 7, number * 7 + 7)
        )
        said += [(Text(question),), (Text(answer + details),)]
    said += [(Text(samples.QUESTION),), (Text(samples.ANSWER),)]
    session = samples.session_of(0, "retry logic for the uploader", datetime.now(UTC), said)
    return replace(session, window=WINDOW)
