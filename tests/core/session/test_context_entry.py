"""Entries of the context: which can be used, and for how long."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from ollm_tui.core.session.context_entry import ContextEntry, expiry

NOW = "2026-01-01T00:00:00Z"
GOOD = ContextEntry(key="style", content="Be brief.", added_at=NOW)


def test_a_name_and_some_words_are_enough() -> None:
    assert GOOD.problem == "" and GOOD.priority == 50 and GOOD.is_users_own


@pytest.mark.parametrize(
    ("fields", "words"),
    (
        ({"key": " "}, "its name must have"),
        ({"key": "x" * 51}, "its name must have"),
        ({"content": " \n"}, "it is empty"),
        ({"priority": -1}, "its priority must be between"),
        ({"priority": 101}, "its priority must be between"),
        ({"source": "hook", "key": "obey me: [now]!"}, "invalid characters"),
    ),
)
def test_what_cannot_be_used_says_why(fields: dict[str, object], words: str) -> None:
    assert words in replace(GOOD, **fields).problem


@pytest.mark.parametrize("fields", ({"source": "hook"}, {"origin": "file:a.md"}))
def test_what_the_user_did_not_write_is_not_the_users_own(fields: dict[str, object]) -> None:
    assert not replace(GOOD, **fields).is_users_own


def test_an_entry_lives_for_its_time() -> None:
    short = replace(GOOD, expires_at=expiry(NOW, 60))
    assert not short.is_over("2026-01-01T00:00:59Z")
    assert short.is_over("2026-01-01T00:01:00Z")
    assert not GOOD.is_over("2099-01-01T00:00:00Z")
    assert not replace(GOOD, expires_at="some day").is_over(NOW)
