"""Every test runs alone: its own home, directory and environment, and only loopback."""

from __future__ import annotations

import gc
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

REPOSITORY = Path(__file__).resolve().parent.parent
MODELS = Path(os.environ.get("OLLM_TEST_MODELS", REPOSITORY / ".cache" / "models"))
"""Where `make test` puts the model files, outside of every test's home."""

LONG = bool(os.environ.get("OLLM_LONG"))
"""Whether there is time for everything: `make test-long`."""

settings.register_profile(
    "ollm",
    max_examples=100,
    # A change is judged by the same examples each time; the long run looks for new ones.
    derandomize=not LONG,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("ollm")

# Thousands of screens come and go: looking for garbage after every few objects takes a tenth of
# the time of the whole suite.
gc.set_threshold(100_000, 50, 50)

_KEPT_VARIABLES = {"PATH", "LANG", "LC_ALL", "TMPDIR", "VIRTUAL_ENV", "PYTHONDONTWRITEBYTECODE"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes long comes first, so that nobody waits for it at the end."""
    items.sort(key=_is_short)


def _is_short(item: pytest.Item) -> bool:
    return not any(item.get_closest_marker(name) for name in ("slow", "model"))


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh home for the program; the process has no other environment or directory."""
    for name in set(os.environ) - _KEPT_VARIABLES:
        monkeypatch.delenv(name)
    user_home = tmp_path / "home"
    project = tmp_path / "project"
    user_home.mkdir()
    project.mkdir()
    monkeypatch.setenv("HOME", str(user_home))
    monkeypatch.setenv("OLLM_HOME", str(user_home / ".ollm"))
    monkeypatch.chdir(project)
    return user_home / ".ollm"


@pytest.fixture(autouse=True)
def only_loopback(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No test reaches the network; servers of the tests' own are on loopback."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            host = str(address[0])
            if not (host.startswith("127.") or host in ("::1", "localhost")):
                raise OSError(f"the network is closed in tests: {host}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)
    yield


@pytest.fixture
def model_home(home: Path) -> Path:
    """A home that has the embedded model: the file is shared, the rest is the test's own."""
    if not any(MODELS.glob("*.gguf")):
        pytest.fail(f"no model in {MODELS}: run `make model` first")
    home.mkdir(mode=0o700, exist_ok=True)
    (home / "models").symlink_to(MODELS)
    return home
