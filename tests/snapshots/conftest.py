"""Pictures are compared, or taken anew: `pytest tests/snapshots --write-pictures`."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.snapshots.stage import SHOWN_HOME

WRITE = "--write-pictures"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Only known when these tests are named on the command line."""
    parser.addoption(WRITE, action="store_true", help="take the pictures anew, to be looked at")


@pytest.fixture
def is_writing(request: pytest.FixtureRequest) -> bool:
    """Whether pictures are taken anew."""
    return bool(request.config.getoption(WRITE, default=False))


@pytest.fixture
def anywhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The same time zone and the same home on every machine."""
    monkeypatch.setenv("OLLM_HOME", str(SHOWN_HOME))
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()
