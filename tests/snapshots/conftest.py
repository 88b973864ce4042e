"""Pictures are compared by pytest-textual-snapshot; `--snapshot-update` takes them anew."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import Any

import pytest

from tests.snapshots.stage import SHOWN_HOME
from tests.tui.conftest import styles_parsed_once as styles_parsed_once
from tests.tui.patience import exact_pilots as exact_pilots

TAKEN_WITH = {"textual": "8.2.8", "rich": "15.0.0", "pygments": "2.21.0"}
"""What drew the pictures that are kept: another version may draw a little differently."""
Compare = Callable[..., bool]


@pytest.fixture
def looks_as_before(snap_compare: Compare) -> Callable[..., None]:
    """Compares a picture of an application with the one that is kept."""

    def compare(*app: Any, **options: Any) -> None:
        if snap_compare(*app, **options):
            return
        present = {name: version(name) for name in TAKEN_WITH}
        if present != TAKEN_WITH:
            pytest.skip(f"it looks different, but was taken with {TAKEN_WITH}; here is {present}")
        pytest.fail("it looks different: see .cache/pictures.html", pytrace=False)

    return compare


@pytest.fixture
def anywhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The same time zone and the same home on every machine."""
    monkeypatch.setenv("OLLM_HOME", str(SHOWN_HOME))
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()
