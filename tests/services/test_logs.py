"""The log: what failed, where and in which session, and never a key."""

from __future__ import annotations

import json
import logging
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ollm_tui.core.errors import AuthFailed
from ollm_tui.services.logs import LOG_BYTES, LOG_FILES, start_logging

log = logging.getLogger("ollm_tui.services.test")

KEY = "abcd-1234-efgh-5678"


@pytest.fixture(autouse=True)
def no_log_afterwards() -> Iterator[None]:
    yield
    logging.getLogger("ollm_tui").handlers = []


def lines(home: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (home / "logs" / "ollm.log").read_text().splitlines()]


def test_a_line_says_what_failed_where_and_what_to_do(home: Path) -> None:
    start_logging(home)
    error = AuthFailed("the key was refused", "check it")
    log.warning("the turn failed", exc_info=error, extra={"session": "s-1"})
    (line,) = lines(home)
    assert line.pop("time")
    assert line == {
        "level": "warning",
        "service": "services.test",
        "operation": "test_a_line_says_what_failed_where_and_what_to_do",
        "session": "s-1",
        "message": "the turn failed",
        "error": "AuthFailed",
        "detail": "the key was refused",
        "hint": "check it",
    }


@pytest.mark.parametrize(
    "text",
    (
        f"refused: {KEY}",
        "Authorization: Bearer abc.def",
        "https://me:hunter22@example.org/v1",
        "https://example.org/v1?key=abcdef&x=1",
        "Incorrect key sk-proj_abcdefgh12345678",
    ),
)
def test_no_key_reaches_the_file(home: Path, text: str) -> None:
    start_logging(home, debug=True, environ={"WORK_API_KEY": KEY})
    try:
        raise ValueError(text)
    except ValueError as error:
        log.exception("it said %s", text, exc_info=error)
    written = (home / "logs" / "ollm.log").read_text()
    assert "Traceback" in written
    for secret in (KEY, "abc.def", "hunter22", "abcdef&", "abcdefgh12345678"):
        assert secret not in written


def test_foreign_text_cannot_begin_another_line(home: Path) -> None:
    start_logging(home)
    log.warning('x\n{"level": "error"}')
    assert [line["level"] for line in lines(home)] == ["warning"]


def test_the_files_rotate_and_are_readable_by_the_user_only(home: Path) -> None:
    start_logging(home)
    for _ in range(LOG_FILES + 3):
        log.warning("x" * (LOG_BYTES // 2 + 1))
    files = sorted((home / "logs").iterdir())
    assert len(files) == LOG_FILES + 1
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_a_home_that_cannot_be_written_is_no_reason_to_stop(home: Path) -> None:
    home.write_text("not a directory")
    start_logging(home)
    log.warning("nobody hears this")
