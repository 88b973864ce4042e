"""What is published: the wheel and the sdist are built, checked, installed elsewhere and run.

`make test-long` puts the tools and the wheels of the dependencies into `.cache/packaging`, apart
from what the project itself uses; from there on no network is needed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from ollm_tui import __version__
from tests.conftest import LONG, REPOSITORY
from tests.end_to_end.terminal import Terminal

PACKAGING = REPOSITORY / ".cache" / "packaging"
OF_THE_SOURCE = {"LICENSE", "CONTRIBUTING.md", "CHANGELOG.md", "docs/guide.md", "pyproject.toml"}
CTRL_Q = "\x11"
OF_THE_WHEEL = {"ollm_tui/py.typed", "ollm_tui/resources/config/default.yaml"}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not LONG, reason="it takes long: make test-long"),
]


def told_by(*command: str | Path) -> str:
    """What a command prints; it has to succeed."""
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def built(place: Path) -> tuple[Path, Path]:
    """The wheel, which is made from the sdist, and the sdist."""
    if not (PACKAGING / "ready").exists():
        pytest.fail(f"no tools in {PACKAGING}: run `make test-long`")
    python = PACKAGING / "bin" / "python"
    told_by(python, "-m", "build", "--no-isolation", "--outdir", place, REPOSITORY)
    [wheel], [source] = place.glob("*.whl"), place.glob("*.tar.gz")
    told_by(python, "-m", "twine", "check", "--strict", wheel, source)
    return wheel, source


def installed(place: Path, *wheels: Path) -> Path:
    """The programs of a fresh environment with these wheels."""
    told_by(sys.executable, "-m", "venv", place)
    known = ("--no-index", "--find-links", PACKAGING / "wheels")
    told_by(place / "bin" / "python", "-m", "pip", "install", *known, *wheels)
    return place / "bin"


def test_the_wheel_runs_where_nothing_else_is_installed(home: Path, tmp_path: Path) -> None:
    wheel, source = built(tmp_path / "dist")
    with tarfile.open(source) as archive:
        assert {name.partition("/")[2] for name in archive.getnames()} >= OF_THE_SOURCE
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert names >= OF_THE_WHEEL
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)

    programs = installed(tmp_path / "fresh", wheel)
    python, ollm = programs / "python", programs / "ollm"
    told_by(python, "-m", "pip", "check")
    where = told_by(python, "-c", "import ollm_tui; print(ollm_tui.__file__)")
    assert Path(where.strip()).is_relative_to(tmp_path)
    assert told_by(ollm, "--version") == f"ollm {__version__}\n"
    assert told_by(python, "-m", "ollm_tui", "--version") == f"ollm {__version__}\n"
    assert told_by(ollm, "config", "check") == "ok\n"
    manual = tmp_path / "fresh" / "share" / "man" / "man1" / "ollm.1"
    assert told_by(ollm, "--man") == manual.read_text(encoding="utf-8")
    # The embedded engine is an extra: that it is missing is all that doctor may find.
    doctor = subprocess.run([ollm, "doctor", "--json"], capture_output=True, text=True)
    [missing] = [finding["text"] for finding in json.loads(doctor.stdout) if not finding["ok"]]
    assert "ollm-tui[local]" in missing
    assert (doctor.returncode, doctor.stderr) == (1, "")

    with Terminal(home, [[{"text": "Paris."}]], command=(str(ollm), "-p", "France?")) as terminal:
        terminal.wait_for("Paris.")
        assert terminal.ended() == 0
    with Terminal(home, [[{"text": "**Madrid**."}]], command=(str(ollm),)) as terminal:
        terminal.wait_for("scripted")
        terminal.type("Spain?\r")
        terminal.wait_for("Spain?", "Madrid.")
        terminal.type(CTRL_Q)
        assert terminal.ended() == 0
        assert terminal.is_as_before()
    listed = json.loads(told_by(ollm, "sessions", "list", "--json"))
    assert {session["title"] for session in listed} == {"France?", "Spain?"}


def test_the_examples_are_used_from_their_own_wheels(home: Path, tmp_path: Path) -> None:
    wheels = [built(tmp_path / "dist")[0]]
    for name in ("todo", "outline"):
        place, source = tmp_path / name, REPOSITORY / "examples" / f"ollm-{name}"
        tool = (PACKAGING / "bin" / "python", "-m", "build", "--no-isolation", "--wheel")
        told_by(*tool, "--outdir", place, source)
        wheels.extend(place.glob("*.whl"))
    ollm = installed(tmp_path / "fresh", *wheels) / "ollm"
    listed = told_by(ollm, "extensions", "list")
    assert "outline" in listed and "todo" in listed

    script = [
        [{"tool": "todo", "args": {"text": "water the plants"}}],
        [{"text": "It is on your list."}],
    ]
    with Terminal(home, script, command=(str(ollm),), size=(120, 30)) as terminal:
        terminal.wait_for("scripted", "Type a message")
        terminal.type("remind me of the plants\r")
        terminal.wait_for("It is on your list.")
        terminal.type("/todo \r")
        terminal.wait_for("- water the plants")
        terminal.type("/export talk.outline\r")
        terminal.wait_until(lambda: Path("talk.outline").exists(), "the export")
        terminal.type(CTRL_Q)
        assert terminal.ended() == 0
    exported = Path("talk.outline").read_text()
    assert exported == "remind me of the plants\n  - remind me of the plants\n"
