"""Imports point down only, also at run time: late imports are seen here and nowhere else."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.conftest import REPOSITORY

LAYERS = {
    "core": set[str](),
    "settings": {"core"},
    "storage": {"core"},
    "providers": {"core"},
    "services": {"core", "extension_api", "settings", "storage"},
    "engine": {"core", "settings", "storage", "services"},
}
"""What each layer may load besides itself."""

HEAVY = ("textual", "rich", "httpx", "asyncio", "yaml", "xllamacpp", "logging", "markdown_it")


def loaded_by(code: str) -> set[str]:
    """The names in sys.modules of a fresh interpreter after some code."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys, json; print(json.dumps(list(sys.modules)))"],
        capture_output=True,
        text=True,
        check=True,
        cwd=REPOSITORY,
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer_loads_only_what_lies_below_it(layer: str) -> None:
    code = (
        "import importlib, pkgutil\n"
        f"import ollm_tui.{layer} as package\n"
        "for found in pkgutil.walk_packages(package.__path__, package.__name__ + '.'):\n"
        "    if not found.name.endswith('llama_cpp.server'):\n"
        "        importlib.import_module(found.name)"
    )
    found = {name.split(".")[1] for name in loaded_by(code) if name.startswith("ollm_tui.")}
    assert found <= LAYERS[layer] | {layer}


def test_only_the_screen_may_know_textual() -> None:
    code = "import ollm_tui.bootstrap, ollm_tui.headless, ollm_tui.plain"
    assert not {name for name in loaded_by(code) if name.split(".")[0] == "textual"}


@pytest.mark.parametrize("arguments", (["--version"], ["sessions", "list"]))
def test_quick_commands_load_nothing_heavy(arguments: list[str]) -> None:
    code = (
        "from ollm_tui.cli.main import run\n"
        f"try:\n    run({arguments!r})\nexcept SystemExit:\n    pass"
    )
    loaded = loaded_by(code)
    assert not {name for name in loaded if name.split(".")[0] in HEAVY}
    assert not {name for name in loaded if name.startswith("ollm_tui.providers")}


def test_the_screen_loads_no_watchdog_before_something_is_watched() -> None:
    code = (
        "import ollm_tui.tui.app, ollm_tui.tui.chat.screen, ollm_tui.services.files.project_files"
    )
    assert not {name for name in loaded_by(code) if name.split(".")[0] == "watchdog"}


def test_the_screen_is_drawn_before_the_store_and_the_entries_of_the_stream_are_loaded() -> None:
    loaded = loaded_by("import ollm_tui.cli.chat_command, ollm_tui.tui.app")
    late = ("tui.chat.turn_display", "core.session.session_state", "core.search")
    assert not {"sqlite3", *(f"ollm_tui.{name}" for name in late)} & loaded
    assert not {name for name in loaded if name.startswith("ollm_tui.tui.stream.entries.")}


def test_the_engine_of_the_embedded_model_never_enters_our_process() -> None:
    code = "import ollm_tui.providers.embedded, ollm_tui.providers.llama_cpp.server_process"
    assert "xllamacpp" not in loaded_by(code)
