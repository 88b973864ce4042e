"""A mode that fits is suggested in one line, off by default, and taken only by the user."""

from __future__ import annotations

from textual.pilot import Pilot

from ollm_tui.settings.schema import Interface, Settings
from ollm_tui.tui.app import OllmApp
from ollm_tui.tui.chat.trust_question import TrustQuestion
from tests.engine.conversation.test_mode_suggestion import DIFF
from tests.tui.conftest import OpenApp
from tests.tui.seen import chat, prompt, send, settled
from tests.tui.tool_desk import says

ON = Settings(ui=Interface(suggest_modes=True))
SCRIPT = [says("fine")] * 4


def asked(app: OllmApp) -> str:
    bars = [bar for bar in chat(app).query(TrustQuestion) if bar.display]
    return str(bars[0].content) if bars else ""


async def paste(app: OllmApp, pilot: Pilot[int]) -> None:
    prompt(app).put(DIFF)
    await pilot.press("enter")
    await settled(app, pilot)


async def test_nothing_is_suggested_unless_the_setting_is_on(open_app: OpenApp) -> None:
    async with open_app(SCRIPT) as (app, pilot):
        await paste(app, pilot)
        assert asked(app) == ""


async def test_one_line_suggests_and_y_takes_it_recorded_as_automatic(open_app: OpenApp) -> None:
    async with open_app(SCRIPT, settings=ON, size=(80, 24)) as (app, pilot):
        await paste(app, pilot)
        assert asked(app).startswith("Reviewer mode? You sent a diff (100 % sure).")
        assert "Alt+A, then   y use   n no" in asked(app) and "\n" not in asked(app)
        assert app.conversation and app.conversation.mode.name == "assistant", "never by itself"
        await pilot.press("alt+a", "y")
        await settled(app, pilot)
        [change] = app.conversation.state.header.metadata.mode_history
        assert (change.to, change.trigger) == ("reviewer", "auto")
        assert change.confidence and 0.5 <= change.confidence <= 1
        assert asked(app) == "" and app.focused is prompt(app)


async def test_it_goes_with_the_next_message_and_n_keeps_it_away(open_app: OpenApp) -> None:
    async with open_app(SCRIPT, settings=ON, size=(60, 20)) as (app, pilot):
        await paste(app, pilot)
        assert "Reviewer mode?" in asked(app)
        await send(app, pilot, "thanks")
        assert asked(app) == ""
        await paste(app, pilot)
        await pilot.press("alt+a", "n")
        await settled(app, pilot)
        assert app.conversation and app.conversation.state.header.metadata.mode_history == ()
        await paste(app, pilot)
        assert asked(app) == "", "not again in this session"
