"""The main states of the application, each brought about by the keys a person would press."""

from __future__ import annotations

import asyncio
import resource
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot
from textual.widgets import Static

from ollm_tui.core.errors import Unavailable
from ollm_tui.core.provider import ReasoningDelta, TextDelta
from ollm_tui.providers.scripted import Script
from ollm_tui.tui.app import OllmApp
from ollm_tui.tui.kit.choice_list import ChoiceList
from ollm_tui.tui.stream.transcript.transcript import Transcript
from tests.snapshots import (
    browser_scenes,
    compression_scenes,
    jobs_scenes,
    search_scenes,
    tool_scenes,
)
from tests.snapshots.samples import QUESTION, THOUGHT, all_sessions, id_of
from tests.snapshots.stage import stage, until
from tests.tui.seen import chat, state, stream
from tests.tui.typing_in import type_in

Opened = tuple[OllmApp, Pilot[int]]
Scene = Callable[[Path], AbstractAsyncContextManager[Opened]]


@asynccontextmanager
async def first_run(home: Path) -> AsyncGenerator[Opened]:
    """Nobody has said anything yet; the small embedded model answers."""
    async with stage(home, provider="embedded") as opened:
        yield opened


@asynccontextmanager
async def conversation(home: Path) -> AsyncGenerator[Opened]:
    """All of Markdown."""
    async with stage(home, all_sessions(), resume=id_of(2)) as (app, pilot):
        await until(pilot, lambda: bool(stream(app)))
        yield app, pilot


@asynccontextmanager
async def streaming(home: Path) -> AsyncGenerator[Opened]:
    """The model thinks, and what it thinks is read along."""
    script: Script = [[ReasoningDelta(THOUGHT), asyncio.Event()]]
    async with stage(home, all_sessions(), script, resume=id_of(0)) as (app, pilot):
        await _say(app, pilot, "And what if the process restarts in the middle?")
        await until(pilot, lambda: any("thinking" in line for line in stream(app)))
        await pilot.press("ctrl+o")
        yield app, pilot
        await _stopped(app, pilot)


@asynccontextmanager
async def folds(home: Path) -> AsyncGenerator[Opened]:
    """Thoughts, a tool and an attachment are folded; the cursor is on a message."""
    async with stage(home, all_sessions(), resume=id_of(1)) as (app, pilot):
        await until(pilot, lambda: bool(stream(app)))
        await pilot.press("alt+up", "k", "k")
        yield app, pilot


@asynccontextmanager
async def find(home: Path) -> AsyncGenerator[Opened]:
    """Words are looked for in the conversation."""
    async with stage(home, all_sessions(), resume=id_of(0)) as (app, pilot):
        await pilot.press("ctrl+f")
        await type_in(pilot, "job")
        yield app, pilot


@asynccontextmanager
async def failure(home: Path) -> AsyncGenerator[Opened]:
    """The server is gone in the middle of an answer."""
    gone = Unavailable("ollama does not answer at http://127.0.0.1:11434", "Start it: ollama serve")
    async with _asked(home, [[TextDelta("Use exponential back-off"), gone]], QUESTION) as opened:
        await until(opened[1], lambda: any("ollama serve" in line for line in stream(opened[0])))
        yield opened


@asynccontextmanager
async def queue(home: Path) -> AsyncGenerator[Opened]:
    """Messages wait until the model is free."""
    script: Script = [[TextDelta("Use **exponential back-off** with"), asyncio.Event()]]
    async with _asked(home, script, QUESTION) as (app, pilot):
        await until(pilot, lambda: "answering" in state(app))
        for text in ("And with a queue?", "Which cap is usual?"):
            await _say(app, pilot, text)
        yield app, pilot
        await _stopped(app, pilot)


@asynccontextmanager
async def completion(home: Path) -> AsyncGenerator[Opened]:
    """A command is being typed."""
    async with stage(home, all_sessions(), resume=id_of(0)) as (app, pilot):
        await type_in(pilot, "/s")
        yield app, pilot


@asynccontextmanager
async def sidebar(home: Path) -> AsyncGenerator[Opened]:
    """The sessions beside the conversation."""
    async with stage(home, all_sessions(), resume=id_of(0)) as (app, pilot):
        await pilot.press("f2")
        await until(pilot, lambda: app.screen.query_one(ChoiceList).highlighted is not None)
        yield app, pilot


@asynccontextmanager
async def sessions(home: Path) -> AsyncGenerator[Opened]:
    """The session picker, looking into an old session."""
    async with stage(home, all_sessions(), resume=id_of(0)) as (app, pilot):
        await pilot.press("f3")
        await type_in(pilot, "css")
        preview = app.screen.query_one(Transcript)
        await until(pilot, lambda: "m4-1" in preview.keys)
        yield app, pilot


@asynccontextmanager
async def palette(home: Path) -> AsyncGenerator[Opened]:
    """All commands, narrowed by words."""
    async with _pressed(home, "ctrl+p") as (app, pilot):
        await type_in(pilot, "se")
        yield app, pilot


@asynccontextmanager
async def model_picker(home: Path) -> AsyncGenerator[Opened]:
    """The models of all providers."""
    async with _pressed(home, "f7") as (app, pilot):
        about = app.screen.query_one("#about", Static)
        await until(pilot, lambda: "window" in str(about.content))
        yield app, pilot


@asynccontextmanager
async def not_saved(home: Path) -> AsyncGenerator[Opened]:
    """Nothing can be written any more."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    async with stage(home, provider="embedded", script=[[TextDelta("Paris.")]]) as (app, pilot):
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
        try:
            await _say(app, pilot, "capital of France?")
            await until(pilot, lambda: "NOT SAVED" in state(app) and not chat(app).chat.is_busy)
            yield app, pilot
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def pressing(key: str) -> Scene:
    """What a single key opens over a conversation."""
    return lambda home: _pressed(home, key)


SCENES: Mapping[str, Scene] = {
    "first-run": first_run,
    "conversation": conversation,
    "streaming": streaming,
    "folds": folds,
    "find": find,
    "failure": failure,
    "queue": queue,
    "completion": completion,
    "sidebar": sidebar,
    "sessions": sessions,
    "palette": palette,
    "help": pressing("f1"),
    "settings": pressing("f10"),
    "models": model_picker,
    "themes": pressing("f9"),
    "not-saved": not_saved,
    "compression": compression_scenes.compression,
    "compressed": compression_scenes.compressed,
    "compression-preview": compression_scenes.preview,
    "checkpoints": compression_scenes.checkpoints,
    "commands": jobs_scenes.commands,
    "jobs": jobs_scenes.panel,
    "browser": browser_scenes.browser,
    "browser-messages": browser_scenes.messages,
    "snapshot-diff": browser_scenes.comparison,
    "search": search_scenes.search,
    "approval": tool_scenes.asking,
    "activity": search_scenes.calendar,
    "recall": search_scenes.passages,
}


@asynccontextmanager
async def _pressed(home: Path, key: str) -> AsyncGenerator[Opened]:
    async with stage(home, all_sessions(), resume=id_of(0)) as (app, pilot):
        await pilot.press(key)
        await pilot.pause()
        yield app, pilot


@asynccontextmanager
async def _asked(home: Path, script: Script, question: str) -> AsyncGenerator[Opened]:
    async with stage(home, script=script) as (app, pilot):
        await _say(app, pilot, question)
        yield app, pilot


async def _say(app: OllmApp, pilot: Pilot[int], text: str) -> None:
    chat(app).prompt.put(text)
    await pilot.press("enter")
    await pilot.pause()


async def _stopped(app: OllmApp, pilot: Pilot[int]) -> None:
    chat(app).chat.conversation.cancel()
    await until(pilot, lambda: not chat(app).chat.is_busy)
