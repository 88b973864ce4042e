"""What the tests of this folder tell the table of `make gates`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conftest import Tell
from tests.crash.driver import CHILDREN


@pytest.fixture(autouse=True)
def kills_told(record_property: Tell) -> Iterator[None]:
    """Tells how many stores of killed processes a test has looked at."""
    before = CHILDREN.count
    yield
    if kills := CHILDREN.count - before:
        record_property("kills", kills)
