"""Calling somebody who looks elsewhere: by the sequence their terminal knows, else by the bell."""

from __future__ import annotations

import pytest

from ollm_tui.settings.schema import Interface, Settings
from ollm_tui.tui.terminal.desktop_notice import NoticeKind, notice_kind, notice_sequence
from tests.cases import some
from tests.tui.conftest import OpenApp
from tests.tui.tool_desk import approval, ask, calls, runner, says, tools_open


@pytest.mark.parametrize(
    ("environment", "kind"),
    [
        ({"TERM": "xterm-kitty"}, "osc99"),
        ({"TERM_PROGRAM": "iTerm.app"}, "osc9"),
        ({"TERM": "foot"}, "osc777"),
        ({"TERM": "xterm-256color"}, "bell"),
        ({"TERM": "xterm-kitty", "TMUX": "/tmp/tmux"}, "bell"),
    ],
)
def test_the_terminal_decides(environment: dict[str, str], kind: NoticeKind) -> None:
    assert notice_kind("auto", environment) == kind
    assert notice_kind("off", environment) == "off"


def test_words_cannot_end_the_sequence() -> None:
    assert notice_sequence("osc9", "a\x07b\x1b]0;c") == "\x1b]9;a␇b␛]0,c\x07"
    assert notice_sequence("osc777", "done") == "\x1b]777;notify;ollm;done\x07"
    assert notice_sequence("osc99", "done") == "\x1b]99;;done\x1b\\"
    assert notice_sequence("bell", "done") == "\x07" and not notice_sequence("off", "done")


@some(1, "is_looked_at", [True, False])
async def test_an_approval_that_waits_calls_only_who_looks_elsewhere(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch, is_looked_at: bool
) -> None:
    rung: list[bool] = []
    settings = Settings(ui=Interface(notifications="bell"))
    script = [calls(("exec", {"code": "pytest -q"})), says("ok")]
    async with tools_open(open_app, script, runner(), settings=settings) as (app, pilot):
        monkeypatch.setattr(app, "bell", lambda: rung.append(True))
        app.is_looked_at = is_looked_at
        await ask(app, pilot)
        await approval(app, pilot)
        assert bool(rung) is not is_looked_at
