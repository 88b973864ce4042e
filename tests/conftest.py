"""Every test runs alone: its own home, directory and environment, and only loopback."""

from __future__ import annotations

import gc
import os
import signal
import socket
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, Phase, settings

REPOSITORY = Path(__file__).resolve().parent.parent
MODELS = Path(os.environ.get("OLLM_TEST_MODELS", REPOSITORY / ".cache" / "models"))
"""Where `make test` puts the model files, outside of every test's home."""

LONG = bool(os.environ.get("OLLM_LONG"))
"""Whether there is time for everything: `make test-long`."""
WHICH = os.environ.get("OLLM_TESTS", "")
"""`usual` in `make test`, `more` for the cases and corners that it leaves out, else both."""
FULL_NUMBERS = "and the full numbers of kills, histories and examples (make test-long, make gates)"

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
    max_examples=PROMISED_EXAMPLES if LONG or GATES else min(25, PROMISED_EXAMPLES),
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

_COUNTS = pytest.StashKey["dict[str, int]"]()
"""How many tests were left out, by their mark."""

_folders = count(1)
"""Numbers of the folders of tests in this process."""

_KEPT_VARIABLES = {
    "GATE_SHARE",  # processes of the tests have to know it too
    *("PATH", "LANG", "LC_ALL", "TMPDIR", "VIRTUAL_ENV", "PYTHONDONTWRITEBYTECODE"),
    "TEXTUAL_SNAPSHOT_TEMPDIR",  # where pytest-textual-snapshot gathers what goes into its report
    "COVERAGE_PROCESS_CONFIG",  # `make coverage` measures what tests start, too
}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what there is no time for; what takes long comes first, so that nobody waits for
    it at the end."""
    kept: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    counts = config.stash.setdefault(_COUNTS, {"long": 0, "more": 0})
    for item in items:
        if "end_to_end" in item.path.parts:
            item.add_marker("terminal")
        marks = {mark.name for mark in item.iter_markers()}
        if not LONG and "long" in marks:
            counts["long"] += 1
        elif not LONG and WHICH and ("more" in marks) != (WHICH == "more"):
            counts["more"] += WHICH == "usual"
        else:
            kept.append(item)
            continue
        left_out.append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
    items[:] = sorted(kept, key=_is_short)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker tells what it left out; all of them leave out the same."""
    if (output := getattr(session.config, "workeroutput", None)) is not None:
        output["left_out"] = session.config.stash.get(_COUNTS, dict[str, int]())


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """The process that prints hears what a worker left out."""
    output = cast("dict[str, Any]", getattr(node, "workeroutput", {}))
    node.config.stash[_COUNTS] = output.get("left_out", {})


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name a case by the beginning of a long text: a name goes to and fro between the workers."""
    if isinstance(val, str | bytes) and len(val) > NAME_LENGTH:
        return f"{val[:NAME_LENGTH]!r}..."
    return None  # as pytest names it


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what an ordinary run does not do."""
    if LONG:
        return
    counts = terminalreporter.config.stash.get(_COUNTS, dict[str, int]())
    parts = [f"{counts.get('long', 0)} long tests {FULL_NUMBERS}"]
    if more := counts.get("more"):
        parts.insert(0, f"{more} further cases and corners (make test-more)")
    terminalreporter.write_line(f"left out: {', '.join(parts)}")


def _is_short(item: pytest.Item) -> bool:
    return not any(item.get_closest_marker(name) for name in ("slow", "model"))


@pytest.fixture(scope="session", autouse=True)
def no_foreign_variables() -> Iterator[None]:
    """What the shell had set goes once for all: in each test it took longer than most of them."""
    before = dict(os.environ)
    for name in set(os.environ) - _KEPT_VARIABLES:
        del os.environ[name]
    yield
    os.environ.update(before)


@pytest.fixture
def tmp_path(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """A fresh folder; pytest's own reads the names of all earlier ones to find a free one."""
    name = cast(pytest.Item, cast(Any, request).node).name
    function = name.partition("[")[0].removeprefix("test_")
    folder = tmp_path_factory.getbasetemp() / f"{next(_folders)}-{function[:30]}"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture(autouse=True)
def home(no_foreign_variables: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
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
