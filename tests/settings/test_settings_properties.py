"""Whatever stands in a file: the program starts, and other keys are not lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ollm_tui.settings.keys import KeyPath, fixed_keys, nested, snake
from ollm_tui.settings.loaded import Loaded
from ollm_tui.settings.loader import load_settings
from ollm_tui.settings.schema import Settings

FIXED = sorted(fixed_keys())
IN_TABLES: list[KeyPath] = [
    ("providers", "x", "kind"),
    ("providers", "x", "headers", "h"),
    ("providers", "x", "timeoutSeconds"),
    ("models", "x", "window"),
    ("modes", "x", "tools"),
    ("hooks", "session-start"),
    ("tools", "permissions", "x"),
    ("keymap", "x"),
]
BRANCHES = sorted({path[:n] for path in FIXED + IN_TABLES for n in range(1, len(path))})

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.dates()
    | st.binary(max_size=8)
    | st.sampled_from(["auto", "hybrid", "7d", "~", "yes", "010", "1:30", "\x1b[31m", "\u202e"])
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=8) | st.integers(), inner, max_size=4)
    ),
    max_leaves=8,
)


def load(home: Path, data: bytes, in_project: bool = False) -> Loaded:
    folder = Path.cwd() / ".ollm" if in_project else home
    folder.mkdir(exist_ok=True)
    (folder / "config.yaml").write_bytes(data)
    return load_settings({"OLLM_HOME": str(home)}, Path.cwd(), {})


def as_yaml(tree: Any) -> bytes:
    return yaml.safe_dump(tree, encoding="utf-8", allow_unicode=True)


def assert_presentable(loaded: Loaded) -> None:
    for warning in loaded.warnings:
        assert str(warning).isprintable()
        assert len(str(warning)) < 700
    msgspec.json.encode(loaded.settings)


@given(path=st.sampled_from(FIXED + IN_TABLES + BRANCHES), value=values)
def test_any_value_at_any_key_costs_at_most_that_key(
    home: Path, path: KeyPath, value: object
) -> None:
    witness: KeyPath = ("search", "maxResults")
    if path[0] == "search":
        witness = ("context", "window")
    loaded = load(home, as_yaml({**nested({path: value}), **nested({witness: 4321})}))
    assert loaded.sources[witness].layer == "user"
    assert_presentable(loaded)
    changed = {key[0] for key in loaded.sources} - {witness[0]}
    assert changed <= {path[0]} | ({"sessions"} if path[0] == "retention" else set())


@given(tree=st.dictionaries(st.sampled_from([p[0] for p in FIXED + BRANCHES]), values))
def test_any_file_gives_settings_that_can_be_written(home: Path, tree: dict[str, Any]) -> None:
    for in_project in (False, True):
        loaded = load(home, as_yaml(tree), in_project)
        assert_presentable(loaded)


@given(data=st.binary(max_size=200) | st.text(alphabet="ab:{}[]&*!|>-?<'\"#%@ \n\t", max_size=80))
def test_any_bytes_let_the_program_start(home: Path, data: bytes | str) -> None:
    loaded = load(home, data.encode() if isinstance(data, str) else data)
    assert_presentable(loaded)


@given(name=st.sampled_from(FIXED), text=st.text(max_size=20))
def test_any_variable_and_argument_lets_the_program_start(
    home: Path, name: KeyPath, text: str
) -> None:
    variable = "OLLM_" + "_".join(snake(part).upper() for part in name)
    environ = {"OLLM_HOME": str(home), variable: text, f"OLLM_{text}": text}
    loaded = load_settings(environ, Path.cwd(), {".".join(name): text, text: text})
    assert_presentable(loaded)


@given(tree=st.dictionaries(st.sampled_from([p[0] for p in FIXED + BRANCHES]), values))
def test_a_project_never_moves_data_keys_or_policy(home: Path, tree: dict[str, Any]) -> None:
    settings = load(home, as_yaml(tree), in_project=True).settings
    defaults = Settings()
    assert settings.sessions == defaults.sessions
    assert settings.environment == defaults.environment
    assert (settings.providers, settings.hooks, settings.modes) == ({}, {}, {})
    assert settings.tools.scope == defaults.tools.scope
    assert settings.tools.permissions == {}


@pytest.mark.parametrize("path", FIXED, ids=".".join)
def test_every_key_can_be_written_and_read_in_both_spellings(home: Path, path: KeyPath) -> None:
    value: Any = msgspec.to_builtins(Settings())
    for part in path:
        value = value[part]
    value = list(value) if isinstance(value, tuple) else value  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - any list
    for spelling in (path, tuple(map(snake, path))):
        loaded = load(home, as_yaml(nested({spelling: value})))
        assert loaded.warnings == ()
        assert set(loaded.sources) == {path}
        assert loaded.settings == Settings()
