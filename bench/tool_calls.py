"""Tool calls in a turn: what judging, recording and answering one costs besides the tool, and what
keeping the files costs that a call may change."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from bench.measure import Outcome, Promise
from ollm_tui.core import clock
from ollm_tui.core.provider import ChatRequest, TextDelta, ToolCallArrived, ToolSpec
from ollm_tui.core.session.message import ToolCallPart
from ollm_tui.core.session.session import Session
from ollm_tui.core.tool import Action, PlannedCall, Tell, ToolOutcome
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.engine.conversation.conversation_goals import ConversationGoals
from ollm_tui.engine.conversation.held_session import HeldSession
from ollm_tui.engine.conversation.model_choice import ModelChoice
from ollm_tui.engine.tools.conversation_tools import ToolKit
from ollm_tui.engine.tools.policy import Policy
from ollm_tui.providers.scripted import Scripted, Step
from ollm_tui.services.files.file_changes import SETTLED_AFTER_NS, FileWatch
from ollm_tui.services.redaction.redactor import Redactor
from ollm_tui.services.safety.grants import Grants
from ollm_tui.services.sessions.recording import Recording
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.settings.schema import Settings
from ollm_tui.storage.store_layout import StoreLayout

LONG_AGO = 1_700_000_000
CALLS, ROUNDS = 10, 31
"""More calls in one reply than any model asks for."""
CALL = Promise("a tool call, besides the tool", "a millisecond of processor time", 1)
FOLDERS, FILES_EACH, LOOKS = 100, 100, 7
WRITE = Promise(
    "keeping the file a tool writes, in 10,000 files", "the same in an empty project", 2
)
RUN = Promise(
    "finding what a command changed in 10,000 files", "os.walk and stat, before and after", 3
)
PROMISES = (CALL, WRITE, RUN)


class _Instant:
    """Answers at once, each time something else."""

    spec = ToolSpec("read_file", "Reads.", {"type": "object"})

    async def plan(self, args: Mapping[str, Any]) -> PlannedCall:
        return _Planned(Action("read", "read", str(args["path"])))


class _Planned:
    def __init__(self, action: Action) -> None:
        self.action = action

    async def run(self, tell: Tell) -> ToolOutcome:
        return ToolOutcome(f"the content of {self.action.subject}", summary="1 line")


def main() -> list[Outcome]:
    """A turn of many calls and one of a single one, in sessions that are recorded."""
    with tempfile.TemporaryDirectory() as folder:
        each = asyncio.run(_measure(Path(folder)))
        write, run = _files(Path(folder) / "files")
    print(f"a tool call besides the tool: {each * 1e6:.0f} µs of processor time")
    return [Outcome(CALL, each * 1000), Outcome(WRITE, write), Outcome(RUN, run)]


def _files(place: Path) -> tuple[float, float]:
    """The ratios of a write and of a command, in processor time, once the files are known."""
    large, empty = place / "large", place / "empty"
    empty.mkdir(parents=True)
    for folder in range(FOLDERS):
        (large / f"part{folder}").mkdir(parents=True)
        for number in range(FILES_EACH):
            path = large / f"part{folder}" / f"file{number}.py"
            path.write_text(f"number = {number}\n" * 40)
            os.utime(path, (LONG_AGO, LONG_AGO))
    watches = [FileWatch(root, StoreLayout(place / "store"), root.name) for root in (large, empty)]
    first = _spent(watches[0].before)
    print(f"the first look at {FOLDERS * FILES_EACH:,} files: {first * 1000:.0f} ms")
    time.sleep(SETTLED_AFTER_NS / 1e9)
    writes = list[float](), list[float]()
    runs, walks = list[float](), list[float]()
    for number in range(LOOKS):
        for watch, spent in zip(watches, writes, strict=True):
            spent.append(_spent(partial(_write, watch, number)))
        runs.append(_spent(watches[0].before) + _spent(watches[0].after))
        walks.append(_spent(partial(_walk, large)) + _spent(partial(_walk, large)))
    print(f"a write: {median(writes[0]) * 1e6:.0f} µs, a command: {median(runs) * 1000:.0f} ms")
    return median(writes[0]) / median(writes[1]), median(runs) / median(walks)


def _spent(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _write(watch: FileWatch, number: int) -> None:
    watch.before("written.py")
    (watch.root / "written.py").write_text(f"number = {number}\n")
    assert len(watch.after()) == 1


def _walk(root: Path) -> int:
    return sum(
        os.lstat(f"{folder}/{name}").st_size for folder, _, names in os.walk(root) for name in names
    )


async def _measure(home: Path) -> float:
    library = SessionLibrary.at(StoreLayout(home / "sessions"))
    recording = Recording(library.store, library.index)
    many, one = list[float](), list[float]()
    for _ in range(ROUNDS):
        many.append(await _seconds(_conversation(recording, home, CALLS + 1)))
        one.append(await _seconds(_conversation(recording, home, 1)))
    await recording.close()
    return (median(many) - median(one)) / CALLS


async def _seconds(conversation: Conversation) -> float:
    await conversation.settle_context()
    start = time.process_time()
    async for _ in conversation.send("Read them all"):
        pass
    spent = time.process_time() - start
    await conversation.close()
    return spent


def _conversation(recording: Recording, home: Path, calls: int) -> Conversation:
    def turn(request: ChatRequest) -> Sequence[Step]:
        if request.messages[-1].role == "tool":
            return [TextDelta("Done.")]
        return [
            ToolCallArrived(ToolCallPart("", "read_file", {"path": f"file{number}.py"}))
            for number in range(calls)
        ]

    async def toolkit(_session: HeldSession, _goals: ConversationGoals) -> ToolKit:
        return ToolKit(
            (_Instant(),), Policy(Settings().tools, home, Grants(None, home)), Redactor(), None, ""
        )

    moment = clock.now()
    session = Session(f"{calls}-{time.monotonic_ns()}", moment, moment, "scripted", "scripted")
    choice = ModelChoice(Scripted(turn, window=1_000_000), "scripted", 1_000_000, tools=True)
    conversation = Conversation(
        recording.create(session, ephemeral=False), choice, recording.topic, begun=False
    )
    conversation.tools.make_toolkit = toolkit
    return conversation
