"""The main states of the application, each brought about by the keys a person would press."""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Mapping

from textual.pilot import Pilot
from textual.widgets import Static

from ollm_tui.core.errors import Unavailable
from ollm_tui.core.provider import ChatRequest, ReasoningDelta, TextDelta
from ollm_tui.providers.scripted import Turn
from ollm_tui.tui.kit.choice_list import ChoiceList
from ollm_tui.tui.stream.transcript.transcript import Transcript
from tests.snapshots import (
    browser_scenes,
    compression_scenes,
    jobs_scenes,
    project_scenes,
    search_scenes,
    tool_scenes,
)
from tests.snapshots.samples import QUESTION, THOUGHT
from tests.snapshots.stage import Scene, StagedApp, new_session, sample, say, scene, until
from tests.tui.seen import chat, state, stream
from tests.tui.typing_in import type_in

GONE = Unavailable("ollama does not answer at http://127.0.0.1:11434", "Start it: ollama serve")


def _thinks(_: ChatRequest) -> Turn:
    return [ReasoningDelta(THOUGHT), asyncio.Event()]


def _begins(_: ChatRequest) -> Turn:
    return [TextDelta("Use **exponential back-off** with"), asyncio.Event()]


@scene(new_session(provider="embedded"))
async def first_run(app: StagedApp, pilot: Pilot[int]) -> None:
    """Nobody has said anything yet; the small embedded model answers."""


@scene(sample(2))
async def conversation(app: StagedApp, pilot: Pilot[int]) -> None:
    """All of Markdown."""
    await until(pilot, lambda: bool(stream(app)))


@scene(sample(4))
async def short_conversation(app: StagedApp, pilot: Pilot[int]) -> None:
    """A question and an answer of long ago."""
    await until(pilot, lambda: bool(stream(app)))


@scene(sample(0, _thinks))
async def streaming(app: StagedApp, pilot: Pilot[int]) -> None:
    """The model thinks, and what it thinks is read along."""
    await say(app, pilot, "And what if the process restarts in the middle?")
    await until(pilot, lambda: any("thinking" in line for line in stream(app)))
    await pilot.press("ctrl+o")


@scene(sample(1))
async def folds(app: StagedApp, pilot: Pilot[int]) -> None:
    """Thoughts, a tool and an attachment are folded; the cursor is on a message."""
    await until(pilot, lambda: bool(stream(app)))
    await pilot.press("alt+up", "k", "k")


@scene(sample(0))
async def find(app: StagedApp, pilot: Pilot[int]) -> None:
    """Words are looked for in the conversation."""
    await pilot.press("ctrl+f")
    await type_in(pilot, "job")


@scene(new_session([[TextDelta("Use exponential back-off"), GONE]]))
async def failure(app: StagedApp, pilot: Pilot[int]) -> None:
    """The server is gone in the middle of an answer."""
    await say(app, pilot, QUESTION)
    await until(pilot, lambda: any("ollama serve" in line for line in stream(app)))


@scene(new_session(_begins))
async def queue(app: StagedApp, pilot: Pilot[int]) -> None:
    """Messages wait until the model is free."""
    await say(app, pilot, QUESTION)
    await until(pilot, lambda: "answering" in state(app))
    for text in ("And with a queue?", "Which cap is usual?"):
        await say(app, pilot, text)


@scene(sample(0))
async def completion(app: StagedApp, pilot: Pilot[int]) -> None:
    """A command is being typed."""
    await type_in(pilot, "/s")


@scene(sample(0))
async def sidebar(app: StagedApp, pilot: Pilot[int]) -> None:
    """The sessions beside the conversation."""
    await pilot.press("f2")
    await until(pilot, lambda: app.screen.query_one(ChoiceList).highlighted is not None)


@scene(sample(0))
async def sessions(app: StagedApp, pilot: Pilot[int]) -> None:
    """The session picker, looking into an old session."""
    await pilot.press("f3")
    await type_in(pilot, "css")
    preview = app.screen.query_one(Transcript)
    await until(pilot, lambda: "m4-1" in preview.keys)


@scene(sample(0))
async def palette(app: StagedApp, pilot: Pilot[int]) -> None:
    """All commands, narrowed by words."""
    await pilot.press("ctrl+p")
    await type_in(pilot, "se")


@scene(sample(0))
async def model_picker(app: StagedApp, pilot: Pilot[int]) -> None:
    """The models of all providers."""
    await pilot.press("f7")
    await pilot.pause()
    about = app.screen.query_one("#about", Static)
    await until(pilot, lambda: "Context" in str(about.content))


@scene(new_session([[TextDelta("Paris.")]], provider="embedded"))
async def not_saved(app: StagedApp, pilot: Pilot[int]) -> None:
    """Nothing can be written any more."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    app.cleanup.callback(resource.setrlimit, resource.RLIMIT_FSIZE, limits)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
    await say(app, pilot, "capital of France?")
    await until(pilot, lambda: "NOT SAVED" in state(app) and not chat(app).chat.is_busy)


def pressing(key: str) -> Scene:
    """What a single key opens over a conversation."""

    @scene(sample(0))
    async def pressed(app: StagedApp, pilot: Pilot[int]) -> None:
        await pilot.press(key)

    return pressed


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
    "tasks": project_scenes.tasks,
    "servers": project_scenes.servers,
    "suggestion": project_scenes.suggestion,
}
