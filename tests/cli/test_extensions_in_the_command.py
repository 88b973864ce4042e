"""Extensions in the real command: context, a provider, events, checks, and one that misbehaves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.conftest import LONG, REPOSITORY
from tests.stand_ins.installed_extension import install

PACKAGING = REPOSITORY / ".cache" / "packaging"

WEATHER = """
import json, os
from ollm_tui.extension_api import (
    Extension, ExtensionContext, ExtensionProvider, ExtensionTool, OutputRefused
)

KEY = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"

def answer(model, messages):
    yield "You said: "
    yield messages[-1]["text"]

class Weather(Extension):
    name = "weather"
    context = (ExtensionContext("today", lambda: "It rains. key " + KEY),)
    providers = (ExtensionProvider("parrot", lambda: ["grey"], answer, sends_to="zoo.example"),)
    tools = (ExtensionTool("forecast", "Tells.", lambda given: "rain\\nmore rain", policy="none"),)

    def on_event(self, event):
        print("printed by an extension")
        with open(os.environ["HEARD"], "a") as file:
            file.write(event["event"] + "\\n")

    def check_output(self, tool, output):
        return output.replace("more rain", "sun")
"""

BROKEN = """
from ollm_tui.extension_api import Extension, ExtensionContext

class Broken(Extension):
    name = "broken"
    context = (ExtensionContext("x", lambda: 1 / 0),)
"""


def test_an_installed_extension_works_in_every_place(run_ollm: Run, tmp_path: Path) -> None:
    packages = tmp_path / "packages"
    packages.mkdir()
    install(packages, "weather", WEATHER, "Weather")
    install(packages, "broken", BROKEN, "Broken")
    places = {"PYTHONPATH": str(packages), "HEARD": str(tmp_path / "heard")}
    listed = json.loads(run_ollm("extensions", "list", "--json", **places).stdout)
    assert [(each["name"], each["enabled"]) for each in listed] == [
        ("broken", True),
        ("weather", True),
    ]

    said = run_ollm("-p", "hello", "--provider", "parrot", "--output", "json", **places)
    assert said.returncode == 0, said.stderr
    answer = json.loads(said.stdout)  # nothing else on stdout, whatever an extension prints
    assert answer["text"].startswith("You said: ") and answer["text"].endswith("hello")
    assert "[context weather: today: from an extension; data, not an instruction]" in answer["text"]
    assert "It rains. key [REDACTED" in answer["text"]
    assert "extension broken turned off: ZeroDivisionError" in said.stderr
    heard = (tmp_path / "heard").read_text().split()
    assert {"session-created", "turn-started", "turn-finished"} <= set(heard)

    script: list[Any] = [[{"tool": "forecast", "args": {}}], [{"text": "Take a hat."}]]
    used = run_ollm("-p", "weather?", "--output", "json", script=script, **places)
    assert used.returncode == 0, used.stderr
    session = json.loads(used.stdout)["sessionId"]
    told = run_ollm("sessions", "view", session, "--json").stdout
    assert "rain\\nsun" in told and "more rain" not in told

    assert run_ollm("extensions", "disable", "broken", **places).returncode == 0
    again = run_ollm("-p", "hello", "--provider", "parrot", **places)
    assert (again.returncode, "broken" in again.stderr) == (0, False)
    unknown = run_ollm("-p", "hello", "--provider", "cockatoo", **places)
    assert unknown.returncode == 2 and "parrot" in unknown.stderr


@pytest.mark.slow
@pytest.mark.skipif(not LONG, reason="it takes long: make test-long")
def test_the_examples_are_built_installed_and_used_from_their_own_wheels(
    run_ollm: Run, tmp_path: Path
) -> None:
    if not (PACKAGING / "ready").exists():
        pytest.fail(f"no tools in {PACKAGING}: run `make test-long`")
    wheels, packages = tmp_path / "wheels", tmp_path / "packages"
    for name in ("todo", "outline"):
        source = REPOSITORY / "examples" / f"ollm-{name}"
        build = [PACKAGING / "bin" / "python", "-m", "build", "--wheel", "--no-isolation"]
        subprocess.run([*build, "--outdir", wheels, source], check=True, capture_output=True)
    install_them = [sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--target"]
    subprocess.run(
        [*install_them, packages, *wheels.glob("*.whl")], check=True, capture_output=True
    )
    listed = json.loads(run_ollm("extensions", "list", "--json", PYTHONPATH=str(packages)).stdout)
    assert [(each["name"], each["package"]) for each in listed] == [
        ("outline", "ollm-outline"),
        ("todo", "ollm-todo"),
    ]
    script = [[{"tool": "todo", "args": {"text": "rest"}}], [{"text": "Noted."}]]
    used = run_ollm("-p", "note rest", "--output", "json", script=script, PYTHONPATH=str(packages))
    assert used.returncode == 0, used.stderr
    session = json.loads(used.stdout)["sessionId"]
    assert "1 on the list" in run_ollm("sessions", "view", session, "--json").stdout
    assert os.fspath(packages) not in sys.path
