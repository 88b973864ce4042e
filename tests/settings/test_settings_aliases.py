"""Other spellings of the same settings."""

from __future__ import annotations

from pathlib import Path

from ollm_tui.settings.keys import ALIASES, shape
from ollm_tui.settings.loaded import Loaded
from ollm_tui.settings.loader import load_settings

SERVICES_TREE = """
services:
  session:
    dataDir: ~/.ollm/session-data
    maxSessions: 50
    autoSave: false
  compression:
    enabled: true
    threshold: 0.7
    strategy: summarize
    preserveRecent: 4096
  loopDetection: {enabled: true, maxTurns: 40, repeatThreshold: 4}
  fileDiscovery: {maxDepth: 5, followSymlinks: true, builtinIgnores: [node_modules]}
  environment:
    allowList: [PATH]
    denyPatterns: ['*_KEY']
chat:
  retention: {mode: session, maxAge: 7d, maxItems: 1000, storeToolOutputs: false}
"""


def load_text(home: Path, text: str) -> Loaded:
    home.mkdir(exist_ok=True)
    (home / "config.yaml").write_text(text)
    return load_settings({"OLLM_HOME": str(home)}, Path.cwd(), {})


def test_the_older_trees_are_understood(home: Path) -> None:
    loaded = load_text(home, SERVICES_TREE)
    settings = loaded.settings
    assert loaded.warnings == ()
    assert settings.sessions.data_dir == "~/.ollm/session-data"
    assert (settings.sessions.max_sessions, settings.sessions.auto_save) == (50, False)
    assert settings.compression.strategy == "summarize"
    assert settings.compression.preserve_recent == 4096
    assert settings.loop_detection.repeat_threshold == 4
    assert settings.file_discovery.builtin_ignores == ("node_modules",)
    assert settings.environment.deny_patterns == ("*_KEY",)
    assert (settings.retention.mode, settings.retention.max_age_seconds) == ("session", 604_800)
    assert settings.retention.store_tool_outputs is False


def test_snake_case_is_understood_but_names_in_tables_stay(home: Path) -> None:
    text = "loop_detection: {max_turns: 9}\nmodels: {my_model: {max_output: 5}}\n"
    loaded = load_text(home, text)
    assert loaded.settings.loop_detection.max_turns == 9
    assert loaded.settings.models["my_model"].max_output == 5
    assert loaded.warnings == ()


def test_the_own_spelling_wins_over_another_wherever_it_stands(home: Path) -> None:
    for text in (
        "sessions: {maxSessions: 7}\nservices: {session: {maxSessions: 5}}\n",
        "services: {session: {maxSessions: 5}}\nsessions: {maxSessions: 7}\n",
    ):
        loaded = load_text(home, text)
        assert loaded.settings.sessions.max_sessions == 7
        assert len(loaded.warnings) == 1
        assert loaded.warnings[0].key == "services.session.maxSessions"
        assert "also given as sessions.maxSessions on line" in loaded.warnings[0].problem


def test_an_unknown_key_in_an_older_tree_is_named(home: Path) -> None:
    loaded = load_text(home, "services:\n  session: {maxSesions: 5}\n  sesion: 1\n")
    assert [(warning.line, warning.key) for warning in loaded.warnings] == [
        (2, "services.session.maxSesions"),
        (3, "services.sesion"),
    ]
    assert "did you mean sessions.maxSessions?" in loaded.warnings[0].problem


def test_every_alias_leads_to_a_key() -> None:
    assert all(shape(target) is not None for target in ALIASES.values())
    assert all(shape(source) is None for source in ALIASES)
