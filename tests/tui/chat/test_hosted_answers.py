"""What one sees of a hosted server: where it is, what its answers cost, and that it is busy."""

from __future__ import annotations

import pytest

from ollm_tui.core.errors import RateLimited
from ollm_tui.core.model_card import ModelCard
from ollm_tui.core.provider import Capabilities, Completed, TextDelta
from ollm_tui.core.session.message import Usage
from ollm_tui.providers.scripted import Script, Scripted
from tests.tui.conftest import OpenApp
from tests.tui.dialog_host import shown
from tests.tui.seen import chat, prompt, send, state, stream, title
from tests.tui.typing_in import type_in

USED = Usage(input_tokens=2_000, output_tokens=1_000, cached_tokens=1_000)


class Hosted(Scripted):
    """A server on another machine, with a price or without."""

    card: ModelCard | None = ModelCard(input=3, output=15, cached=0.3)

    async def remote_host(self, model: str) -> str | None:
        return "api.example.com"

    async def capabilities(self, model: str) -> Capabilities:
        return Capabilities(window=8192, tools=False, card=self.card)


def answers(count: int) -> Script:
    done = Completed(finish="stop", usage=USED)
    return [[TextDelta("An answer."), done] for _ in range(count)]


async def test_the_cost_is_below_each_answer_and_of_the_session_in_the_status(
    open_app: OpenApp,
) -> None:
    async with open_app(Hosted(answers(2)), size=(120, 30)) as (app, pilot):
        assert "→ api.example.com" in title(app)[1]
        await send(app, pilot, "one")
        await pilot.press("f6")
        await pilot.pause()
        # 1,000 fresh for $3, 1,000 cached for $0.30, 1,000 written for $15 a million.
        assert any("$0.0183" in line for line in stream(app))
        assert any("1,000 of 2,000 cached" in line for line in stream(app))
        assert "$0.0183 · saved" in state(app)
        await send(app, pilot, "two")
        assert "$0.0366 · saved" in state(app)


@pytest.mark.more
async def test_a_price_that_nobody_knows_is_unknown_and_not_free(open_app: OpenApp) -> None:
    provider = Hosted(answers(1))
    provider.card = None
    async with open_app(provider, size=(120, 30)) as (app, pilot):
        await send(app, pilot, "one")
        await pilot.press("f6")
        await pilot.pause()
        assert any("price unknown" in line for line in stream(app))
        assert "unknown · saved" in state(app)


@pytest.mark.more
async def test_what_this_machine_answers_shows_no_money(open_app: OpenApp) -> None:
    async with open_app(Scripted(answers(1)), size=(120, 30)) as (app, pilot):
        await send(app, pilot, "one")
        await pilot.press("f6")
        await pilot.pause()
        assert "$" not in shown(app) and "unknown" not in shown(app)


async def test_a_busy_server_is_waited_for_with_a_countdown_that_esc_ends(
    open_app: OpenApp,
) -> None:
    busy = RateLimited("api.example.com is busy", "", 1500)
    provider = Hosted([[busy], [TextDelta("Here I am.")]])
    async with open_app(provider) as (app, pilot):
        await type_in(pilot, "one")
        await pilot.press("enter")
        while "retrying in" not in state(app):
            await pilot.pause(0.01)
        assert "Esc stop" in state(app) and "scripted is busy" in state(app)
        before = state(app)
        while state(app) == before:
            await pilot.pause(0.01)  # it counts
        assert chat(app).chat.is_busy
        await pilot.press("escape")
        while chat(app).chat.is_busy:
            await pilot.pause(0.01)
        assert len(provider.requests) == 1, "it was not asked again"
        await send(app, pilot, "two")
        assert any("Here I am." in line for line in stream(app))
        assert prompt(app).text == ""
