"""A compression as the engine tells of it: fates, stages, words, a checkpoint, its record."""

from __future__ import annotations

from ollm_tui.core.compression_events import (
    AnyCompressionEvent,
    CheckpointCreated,
    CompressionDrafted,
    CompressionStarted,
    ContextCompressed,
    DataElided,
    Draft,
    LedgerMade,
    MessageFolded,
    Outcome,
    SnapshotTaken,
    StageReached,
    SummaryArrived,
)
from ollm_tui.core.session.compression import (
    Checkpoint,
    CompressedContext,
    Compression,
    Fact,
    Ledger,
)

MODEL = "qwen2.5-coder:1.5b"
SUMMARY = (
    "The user wants uploads to stop retrying without bound. Decided: full jitter, a cap of 60 s, "
    "and a budget of 10 minutes for each job. The counter of attempts is kept with the job, so "
    "that a restart does not begin anew. Two tests failed at first because the clock was real; "
    "they pass with a clock that is handed in. Open: what happens to a job whose budget is "
    "used up while the process is down."
)
LEDGER = Ledger((Fact(kind="file", text="src/uploader.py"),))
LEDGER_TEXT = """\
files: src/uploader.py, tests/test_uploader.py
commands: pytest -q → exit 1, then exit 0
decided: back-off belongs to the job
required: never retry a 4xx
open: restart in the middle of a job
"""
FOLDED = tuple(f"m{number}" for number in range(4, 38))
ELIDED = tuple(f"m{number}" for number in (5, 9, 13))
CHECKPOINT = Checkpoint(
    id="c1",
    level=3,
    covers=(FOLDED[0], FOLDED[-1]),
    messages=FOLDED,
    summary=SUMMARY,
    ledger=LEDGER,
    facts=LEDGER_TEXT,
    original_tokens=2603,
    current_tokens=209,
    compression_number=1,
    created_at="2024-10-14T14:02:00.000000Z",
    model=MODEL,
)
COMPRESSION = Compression(
    number=1,
    at="2024-10-14T14:02:00.000000Z",
    strategy="hybrid",
    trigger="auto",
    before_tokens=5114,
    after_tokens=1480,
    before=CompressedContext(),
    after=CompressedContext(checkpoints=("c1",)),
    created=(CHECKPOINT,),
    folded=FOLDED,
    last="m40",
    model=MODEL,
    seconds=9.2,
)
DRAFT = Draft(
    compression=COMPRESSION, based_on=CompressedContext(), head="m40", checkpoint=CHECKPOINT
)


def outcomes() -> tuple[Outcome, ...]:
    """40 messages: the first three and the last three stay, tool output goes short."""
    listed: list[Outcome] = []
    for number in range(1, 41):
        key, title = f"m{number}", f"Message {number} about the uploader and how it backs off"
        if key not in FOLDED:
            why = "recent" if number > 37 else "yours"
            listed.append(Outcome(key, "keep", title, 100 + number, 100 + number, why))
        elif number % 9 == 5:
            listed.append(Outcome(key, "elide", f"read_file src/part{number}.py", 330, 20))
        else:
            listed.append(Outcome(key, "fold", title, 66 + number, 0))
    return tuple(listed)


STARTED = CompressionStarted(
    number=1,
    strategy="hybrid",
    trigger="manual",
    before_tokens=5114,
    expected_tokens=1580,
    limit=6963,
    outcomes=outcomes(),
    model=MODEL,
)
TO_FOLD = tuple(outcome.key for outcome in STARTED.outcomes if outcome.what == "fold")


def summarising(messages: int = 9, words: int = 48) -> list[AnyCompressionEvent]:
    """Up to the middle of the summary."""
    written = SUMMARY.split(" ")[:words]
    return [
        STARTED,
        StageReached(stage="snapshot"),
        SnapshotTaken(snapshot_id="s1"),
        StageReached(stage="elide"),
        DataElided(message_ids=ELIDED, before_tokens=1320, after_tokens=80),
        StageReached(stage="summarise"),
        LedgerMade(text=LEDGER_TEXT),
        *(MessageFolded(message_id=key) for key in TO_FOLD[:messages]),
        *(SummaryArrived(text=word + " ", begins=place == 0) for place, word in enumerate(written)),
    ]


def whole_story() -> list[AnyCompressionEvent]:
    """From the first event to the last."""
    return [
        *summarising(len(TO_FOLD), len(SUMMARY.split(" "))),
        StageReached(stage="validate"),
        CheckpointCreated(checkpoint=CHECKPOINT),
        StageReached(stage="apply"),
        ContextCompressed(compression=COMPRESSION),
    ]


def drafted() -> list[AnyCompressionEvent]:
    """A preview: as far as it goes without being applied."""
    return [*whole_story()[:-2], CompressionDrafted(draft=DRAFT)]
