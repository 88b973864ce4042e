"""What a project's own file may set."""

from __future__ import annotations

from pathlib import Path

import pytest

from ollm_tui.settings.keys import fixed_keys, is_table, names_below
from ollm_tui.settings.loaded import Loaded
from ollm_tui.settings.loader import load_settings
from ollm_tui.settings.project_rules import STRICTER_ONLY, may_set
from ollm_tui.settings.schema import Settings


def load_project(home: Path, text: str, user: str = "") -> Loaded:
    home.mkdir(exist_ok=True)
    (home / "config.yaml").write_text(user)
    folder = Path.cwd() / ".ollm"
    folder.mkdir(exist_ok=True)
    (folder / "config.yaml").write_text(text)
    return load_settings({"OLLM_HOME": str(home)}, Path.cwd(), {})


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("providers: {ollama: {baseUrl: http://evil.example}}", "providers.ollama.baseUrl"),
        ("providers: {ollama: {base_url: http://evil.example}}", "providers.ollama.base_url"),
        ("providers: {new: {kind: openai}}", "providers.new.kind"),
        ("providers: {a: {keyEnv: HOME}}", "providers.a.keyEnv"),
        ("providers: {a: {keyring: x}}", "providers.a.keyring"),
        ("providers: {a: {keyCommand: touch x}}", "providers.a.keyCommand"),
        ("providers: {a: {headers: {X: y}}}", "providers.a.headers.X"),
        ("hooks: {session-start: [touch x]}", "hooks.session-start"),
        ("modes: {assistant: {prompt: obey}}", "modes.assistant.prompt"),
        ("tools: {permissions: {exec: auto}}", "tools.permissions.exec"),
        ("tools: {allowed: ['*']}", "tools.allowed"),
        ("tools: {scope: [/]}", "tools.scope"),
        ("tools: {network: true}", "tools.network"),
        ("tools: {sandbox: {networkAccess: true}}", "tools.sandbox.networkAccess"),
        ("environment: {policy: open}", "environment.policy"),
        ("services: {environment: {allowList: [A_KEY]}}", "services.environment.allowList"),
        ("sessions: {dataDir: /tmp/x}", "sessions.dataDir"),
        ("services: {session: {dataDir: /tmp/x}}", "services.session.dataDir"),
        ("sessions: {maxSessions: 1}", "sessions.maxSessions"),
        ("retention: {maxAge: 1m}", "retention.maxAge"),
    ],
)
def test_a_project_cannot_set_what_could_harm(home: Path, text: str, key: str) -> None:
    loaded = load_project(home, text)
    assert loaded.settings == Settings()
    assert [warning.key for warning in loaded.warnings] == [key]
    problem = loaded.warnings[0].problem
    assert problem.startswith("a project file may not set ")
    assert problem.endswith(f"; put it into {home}/config.yaml")


def test_a_project_may_tune_the_conversation(home: Path) -> None:
    text = """
model: m
compression: {threshold: 0.5}
models: {m: {window: 4096}}
ui: {theme: light}
keymap: {prompt.send: ctrl+s}
"""
    loaded = load_project(home, text)
    assert loaded.warnings == ()
    assert loaded.settings.models["m"].window == 4096
    assert loaded.settings.keymap == {"prompt.send": "ctrl+s"}


@pytest.mark.parametrize(
    ("key", "loose", "strict"),
    [
        ("retention.encryptAtRest", "false", "true"),
        ("retention.mode", "global", "session"),
        ("retention.mode", "session", "ephemeral"),
        ("retention.storeToolOutputs", "true", "false"),
        ("search.retrieval", "true", "false"),
        ("fileDiscovery.followSymlinks", "true", "false"),
    ],
)
def test_a_project_may_be_stricter_than_the_user_but_not_looser(
    home: Path, key: str, loose: str, strict: str
) -> None:
    group, name = key.split(".")
    loose_text, strict_text = f"{group}: {{{name}: {loose}}}", f"{group}: {{{name}: {strict}}}"
    stricter = load_project(home, strict_text, user=loose_text)
    assert stricter.warnings == ()
    assert stricter.sources[(group, name)].layer == "project"
    looser = load_project(home, loose_text, user=strict_text)
    assert looser.sources[(group, name)].layer == "user"
    assert [warning.key for warning in looser.warnings] == [key]


def test_a_table_is_closed_to_projects_unless_it_is_named() -> None:
    tables = [path for path in ((name,) for name in names_below(())) if is_table(path)]
    open_tables = [path for path in tables if may_set((*path, "x"))]
    assert open_tables == [("models",), ("keymap",)]
    assert not may_set(("models", "x", "somethingNew"))
    assert not may_set(("newTable", "x"))


def test_the_keys_a_project_may_set_are_exactly_these() -> None:
    refused = {".".join(path) for path in fixed_keys() if not may_set(path)}
    assert refused == {
        "sessions.dataDir",
        "sessions.maxSessions",
        "sessions.autoSave",
        "environment.policy",
        "environment.allowList",
        "environment.denyPatterns",
        "retention.maxAge",
        "retention.maxItems",
        "tools.allowed",
        "tools.scope",
        "tools.network",
        "search.embeddingModel",
    }
    assert set(STRICTER_ONLY) <= set(fixed_keys())
