"""What a person sees of the chat screen, as text, and the typing they do."""

from __future__ import annotations

import re

from textual.pilot import Pilot
from textual.widgets import Static

from ollm_tui.tui.app import OllmApp
from ollm_tui.tui.chat.screen import ChatScreen
from ollm_tui.tui.gauge.gauge import Gauge
from ollm_tui.tui.prompt.prompt import Prompt
from ollm_tui.tui.stream.transcript.transcript import Transcript
from tests.tui.conftest import workers_done
from tests.tui.typing_in import type_in

WRITING_MARK = "▍"
_SPEED, _DAY = r"(?:[\d,]+ tok/s · [\d.]+ s · )?", r"(?:\d\d \w{3} (?:\d{4} )?)?"
STAMP = re.compile(rf"(?:^| )(?:· )?{_SPEED}{_DAY}\d\d:\d\d$")


def chat(app: OllmApp) -> ChatScreen:
    return next(screen for screen in app.screen_stack if isinstance(screen, ChatScreen))


def stream(app: OllmApp) -> list[str]:
    """The lines of the stream, without times and the mark at the writing end."""
    lines = [STAMP.sub("", line).removesuffix(WRITING_MARK) for line in drawn_stream(app)]
    return [line for line in lines if line]


def drawn_stream(app: OllmApp) -> list[str]:
    transcript = chat(app).query_one("#transcript", Transcript)
    lines = [transcript.render_line(y).text.strip() for y in range(transcript.size.height)]
    return [" ".join(line.split()) for line in lines if line]


def prompt(app: OllmApp) -> Prompt:
    return chat(app).prompt


def state(app: OllmApp) -> str:
    return " ".join(_texts(app, "#status"))


def title(app: OllmApp) -> tuple[str, ...]:
    return _texts(app, "#title")


def gauge(app: OllmApp) -> str:
    return chat(app).query_one(Gauge).render_line(0).text


async def send(app: OllmApp, pilot: Pilot[int], text: str) -> None:
    await type_in(pilot, text)
    await pilot.press("enter")
    await settled(app, pilot)


async def settled(app: OllmApp, pilot: Pilot[int]) -> None:
    await workers_done(app)
    await pilot.pause(0.05)


def _texts(app: OllmApp, line: str) -> tuple[str, ...]:
    return tuple(
        str(chat(app).query_one(f"{line} .{side}", Static).content) for side in ("left", "right")
    )
