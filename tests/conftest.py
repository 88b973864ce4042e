"""Every test runs alone: its own home, directory and environment, and only loopback."""

from __future__ import annotations

import gc
import os
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

REPOSITORY = Path(__file__).resolve().parent.parent
MODELS = Path(os.environ.get("OLLM_TEST_MODELS", REPOSITORY / ".cache" / "models"))
"""Where `make test` puts the model files, outside of every test's home."""

LONG = bool(os.environ.get("OLLM_LONG"))
"""Whether there is time for everything: `make test-long`."""
LEFT_OUT = (
    "left out: tests marked long, and the full numbers of kills, histories and examples"
    " (make test-long, make gates)"
)

NAME_LENGTH = 60
"""What the name of a case shows of a text."""

SAME_EXAMPLES = bool(os.environ.get("OLLM_SAME_EXAMPLES"))
"""Whether Hypothesis takes the same examples each time, to compare two versions by hand."""

GATES = float(os.environ.get("GATE_SHARE") or 0)
"""In `make gates`, the share of their runs that is done; 0 outside of it."""

Tell = Callable[[str, object], None]
"""The fixture `record_property`: what a test counted, for the table of `make gates`. A number, or
"3/4" where three of four are as they should be."""


def runs(usual: int, *, of_gate: int) -> int:
    """How often something is tried: as a rule, and for a gate."""
    return max(1, round(of_gate * GATES)) if GATES else usual


PROMISED_EXAMPLES = int(os.environ.get("OLLM_EXAMPLES", "100"))
"""How many examples a numbered property is tried with."""

settings.register_profile(
    "ollm",
    max_examples=PROMISED_EXAMPLES if LONG or GATES else min(40, PROMISED_EXAMPLES),
    # Said here because Hypothesis would otherwise choose by itself when it finds CI set.
    derandomize=SAME_EXAMPLES,
    # A failure that is seen once can be repeated and kept, also where no database is kept.
    print_blob=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.register_profile(
    "first-failure",
    settings.get_profile("ollm"),
    phases=(Phase.explicit, Phase.generate),
    database=None,
)
settings.load_profile("ollm")

promised = settings(max_examples=PROMISED_EXAMPLES)
"""Decorates a numbered property, which is tried as often in every run."""

# A shell that starts this in the background has Ctrl+C ignored, and every program of the tests
# would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Thousands of screens come and go: looking for garbage after every few objects takes a tenth of
# the time of the whole suite.
gc.set_threshold(100_000, 50, 50)

_KEPT_VARIABLES = {
    "GATE_SHARE",  # processes of the tests have to know it too
    *("PATH", "LANG", "LC_ALL", "TMPDIR", "VIRTUAL_ENV", "PYTHONDONTWRITEBYTECODE"),
    "TEXTUAL_SNAPSHOT_TEMPDIR",  # where pytest-textual-snapshot gathers what goes into its report
    "COVERAGE_PROCESS_CONFIG",  # `make coverage` measures what tests start, too
}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what there is no time for; what takes long comes first, so that nobody waits for
    it at the end."""
    for item in items:
        if "end_to_end" in item.path.parts:
            item.add_marker("terminal")
    if not LONG and (left_out := [item for item in items if item.get_closest_marker("long")]):
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
    items.sort(key=_is_short)


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name a case by the beginning of a long text: a name goes to and fro between the workers."""
    if isinstance(val, str | bytes) and len(val) > NAME_LENGTH:
        return f"{val[:NAME_LENGTH]!r}..."
    return None  # as pytest names it


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what an ordinary run does not do."""
    if not LONG:
        terminalreporter.write_line(LEFT_OUT)


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
