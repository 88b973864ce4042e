"""That a model cannot use tools is found out once, also over restarts."""

from __future__ import annotations

from pathlib import Path

from ollm_tui.providers.scripted import Scripted
from ollm_tui.services.tokens.counter import TokenCounters


async def test_a_model_that_refused_tools_is_remembered_and_others_are_not_meant(
    tmp_path: Path,
) -> None:
    counter = TokenCounters(tmp_path).counter(Scripted(), "small")
    assert counter.takes_tools
    await counter.tools_refused()
    assert not counter.takes_tools
    later = TokenCounters(tmp_path)
    assert not later.counter(Scripted(), "small").takes_tools
    assert later.counter(Scripted(), "large").takes_tools
