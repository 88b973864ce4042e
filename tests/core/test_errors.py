"""Errors as a screen shows them: one line, or the hint below the message."""

from __future__ import annotations

import pytest

from ollm_tui.core.errors import OllmError, sentence


def test_message_and_hint_stand_in_one_line() -> None:
    assert OllmError("no session open", "Ctrl+N starts one").line == (
        "No session open · Ctrl+N starts one"
    )
    assert OllmError("no session open").line == "No session open"


def test_or_each_in_a_line_of_its_own() -> None:
    error = OllmError("still answering", "wait, or stop it first")
    assert error.lines == "Still answering\nWait, or stop it first"


@pytest.mark.parametrize(
    "text", ["qwen3:8b is ready", "config.yaml is damaged", "ollm doctor", "'x' is no id", ""]
)
def test_what_begins_with_a_name_stays_as_it_is(text: str) -> None:
    assert sentence(text) == text
