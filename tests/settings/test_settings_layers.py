"""Which source wins, and where each value comes from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from ollm_tui.settings.environment_source import variable
from ollm_tui.settings.keys import fixed_keys
from ollm_tui.settings.loaded import Loaded, Source
from ollm_tui.settings.loader import load_settings
from ollm_tui.settings.locations import Locations
from ollm_tui.settings.schema import Settings


def load(home: Path, variables: dict[str, str] | None = None, **arguments: object) -> Loaded:
    environ = {"OLLM_HOME": str(home), **(variables or {})}
    return load_settings(environ, Path.cwd(), arguments, trusted)


def trusted(_places: Locations, _digest: str) -> bool:
    return True


def write_user(home: Path, text: str) -> Path:
    home.mkdir(exist_ok=True)
    (home / "config.yaml").write_text(text)
    return home / "config.yaml"


def write_project(text: str) -> Path:
    folder = Path.cwd() / ".ollm"
    folder.mkdir(exist_ok=True)
    (folder / "config.yaml").write_text(text)
    return folder / "config.yaml"


def test_without_any_source_everything_is_at_its_default(home: Path) -> None:
    loaded = load(home)
    assert loaded.settings == Settings()
    assert loaded.warnings == ()
    assert loaded.sources == {}


def test_each_layer_wins_over_the_one_below(home: Path) -> None:
    user = write_user(home, "model: of-user\nui: {theme: of-user, density: compact}\n")
    assert load(home).settings.model == "of-user"

    project = write_project("\nmodel: of-project\n")
    assert load(home).settings.model == "of-project"

    variables = {"OLLM_MODEL": "of-environment"}
    assert load(home, variables).settings.model == "of-environment"

    loaded = load(home, variables, model="of-argument", provider=None)
    assert loaded.settings.model == "of-argument"
    assert loaded.settings.ui.theme == "of-user"
    assert loaded.sources[("model",)] == Source("argument", "model")
    assert load(home).sources[("model",)] == Source("project", f"{project}:2")
    assert load(home).sources[("ui", "theme")] == Source("user", f"{user}:2")


def test_entries_of_a_table_are_merged_key_by_key(home: Path) -> None:
    write_user(home, "models: {a: {window: 4096, temperature: 0.5}, b: {window: 2048}}")
    write_project("models: {a: {window: 8192}}")
    models = load(home).settings.models
    assert (models["a"].window, models["a"].temperature) == (8192, 0.5)
    assert models["b"].window == 2048


def test_an_entry_with_nothing_in_it_exists(home: Path) -> None:
    write_user(home, "providers: {anthropic: {}, gemini: }")
    providers = load(home).settings.providers
    assert providers["anthropic"].kind_for("anthropic") == "anthropic"
    assert providers["gemini"].kind_for("gemini") == "gemini"
    assert providers["gemini"].kind_for("work") == "openai"


def test_a_bad_value_leaves_the_lower_layers_value(home: Path) -> None:
    write_user(home, "compression: {threshold: 0.6}")
    file = write_project("compression:\n  threshold: lots\n  strategy: truncate\n")
    loaded = load(home)
    assert loaded.settings.compression.threshold == 0.6
    assert loaded.settings.compression.strategy == "truncate"
    assert loaded.project
    assert [str(warning) for warning in loaded.project.problems] == [
        f"{file}:2: compression.threshold: expected a number above 0 and at most 1, "
        "found 'lots'; using 0.6"
    ]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("OLLM_COMPRESSION_THRESHOLD", "0.7", 0.7),
        ("OLLM_SESSIONS_MAX_SESSIONS", "12", 12),
        ("OLLM_LOOP_DETECTION_STRICT", "true", True),
        ("OLLM_LOOP_DETECTION_STRICT", "1", True),
        ("OLLM_UI_THEME", "1", "1"),
        ("OLLM_CONTEXT_WINDOW", "8192", 8192),
        ("OLLM_CONTEXT_WINDOW", "auto", "auto"),
        ("OLLM_ENVIRONMENT_ALLOW_LIST", "PATH, HOME", ("PATH", "HOME")),
        ("OLLM_TOOLS_ALLOWED", "", ()),
        ("OLLM_PROVIDER", "work", "work"),
        ("OLLM_RETENTION_MAX_AGE", "7d", "7d"),
        ("OLLM_RETENTION_MAX_AGE", "null", None),
        ("OLLM_MODEL", "", "auto"),
    ],
)
def test_the_environment_sets_keys(home: Path, name: str, text: str, expected: object) -> None:
    loaded = load(home, {name: text})
    value: Any = msgspec.to_builtins(loaded.settings)
    for part in next(path for path in fixed_keys() if variable(path) == name):
        value = value[part]
    assert value == expected
    assert loaded.warnings == ()


def test_every_plain_key_has_a_variable_of_its_own() -> None:
    names = [variable(path) for path in fixed_keys()]
    assert len(names) == len(set(names))
    assert "OLLM_FILE_DISCOVERY_BUILTIN_IGNORES" in names


def test_an_unknown_variable_is_named_with_the_nearest_one(home: Path) -> None:
    loaded = load(home, {"OLLM_COMPRESION_TRESHOLD": "1", "OLLM_TEST_X": "1", "OLLMX": "1"})
    assert [str(warning) for warning in loaded.warnings] == [
        "environment: OLLM_COMPRESION_TRESHOLD: unknown key; "
        "did you mean OLLM_COMPRESSION_THRESHOLD?"
    ]


def test_a_bad_variable_and_a_bad_argument_only_warn(home: Path) -> None:
    environ = {"OLLM_HOME": str(home), "OLLM_CONTEXT_WINDOW": "\udcff", "OLLM_MODEL": "\udcff"}
    loaded = load_settings(environ, Path.cwd(), {"retention.mode": "forever", "nonsense.x": 3})
    assert loaded.settings == Settings()
    assert [warning.key for warning in loaded.warnings] == [
        "OLLM_CONTEXT_WINDOW",
        "OLLM_MODEL",
        "'nonsense.x'",
        "retention.mode",
    ]


def test_arguments_take_values_of_any_kind(home: Path) -> None:
    arguments = {"retention.mode": "ephemeral", "ui.plain": True, "tools.allowed": ["a", "b"]}
    settings = load_settings({"OLLM_HOME": str(home)}, Path.cwd(), arguments).settings
    assert settings.retention.mode == "ephemeral"
    assert settings.ui.plain is True
    assert settings.tools.allowed == ("a", "b")
