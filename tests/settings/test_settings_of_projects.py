"""What a project's own file may set, and that nothing of it counts before the user agrees."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ollm_tui.settings.keys import KeyPath, is_branch, is_table, names_below
from ollm_tui.settings.loaded import Loaded, ProjectSettings, Trusts
from ollm_tui.settings.loader import load_settings
from ollm_tui.settings.locations import Locations
from ollm_tui.settings.project_rules import ALLOWED, REFUSED, may_set, refused_matter
from ollm_tui.settings.schema import Settings


def always(_places: Locations, _digest: str) -> bool:
    return True


def load_project(
    home: Path, text: str, user: str = "", trusts: Trusts | None = always
) -> tuple[Loaded, ProjectSettings]:
    """The settings in a project with this file, and what the file says."""
    home.mkdir(exist_ok=True)
    (home / "config.yaml").write_text(user)
    folder = Path.cwd() / ".ollm"
    folder.mkdir(exist_ok=True)
    (folder / "config.yaml").write_text(text)
    loaded = load_settings({"OLLM_HOME": str(home)}, Path.cwd(), {}, trusts)
    assert loaded.project
    return loaded, loaded.project


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
        ("tools: {timeoutSeconds: 86400}", "tools.timeoutSeconds"),
        ("environment: {policy: open}", "environment.policy"),
        ("services: {environment: {allowList: [A_KEY]}}", "services.environment.allowList"),
        ("sessions: {dataDir: /tmp/x}", "sessions.dataDir"),
        ("services: {session: {dataDir: /tmp/x}}", "services.session.dataDir"),
        ("sessions: {maxSessions: 1}", "sessions.maxSessions"),
        ("sessions: {autoSave: false}", "sessions.autoSave"),
        ("retention: {maxAge: 1m}", "retention.maxAge"),
        ("retention: {mode: ephemeral}", "retention.mode"),
        ("chat: {retention: {mode: session}}", "chat.retention.mode"),
        ("retention: {encryptAtRest: true}", "retention.encryptAtRest"),
        ("retention: {storeToolOutputs: false}", "retention.storeToolOutputs"),
        ("loopDetection: {enabled: false}", "loopDetection.enabled"),
        ("services: {loopDetection: {maxTurns: 100000}}", "services.loopDetection.maxTurns"),
        ("snapshots: {enabled: false}", "snapshots.enabled"),
        ("keymap: {tools.mode: ctrl+j}", "keymap.'tools.mode'"),
        ("search: {retrieval: true}", "search.retrieval"),
        ("ui: {plain: true}", "ui.plain"),
        ("<<: {keymap: {chat.stop: f20}}", "keymap.'chat.stop'"),
    ],
)
def test_a_project_cannot_set_what_could_harm_even_if_it_is_trusted(
    home: Path, text: str, key: str
) -> None:
    loaded, project = load_project(home, text)
    assert loaded.settings == Settings() and loaded.sources == {}
    assert [problem.key for problem in project.problems] == [key]
    assert project.problems[0].problem.startswith("refused: a project may not decide ")
    assert project.changes == ()


def test_a_trusted_project_may_tune_the_conversation(home: Path) -> None:
    text = """
model: m
compression: {threshold: 0.5}
models: {m: {window: 4096}}
ui: {theme: light}
"""
    loaded, project = load_project(home, text, user="ui: {theme: nord}")
    assert project.problems == () and loaded.warnings == ()
    assert loaded.settings.models["m"].window == 4096
    assert [str(change) for change in project.changes] == [
        "model: auto → m",
        "compression.threshold: 0.8 → 0.5",
        "models.m.window: none → 4096",
        "ui.theme: nord → light",
    ]


@pytest.mark.parametrize("answer", (None, False))
def test_nothing_of_it_counts_before_the_user_agrees(home: Path, answer: bool | None) -> None:
    def answers(_places: Locations, _digest: str) -> bool | None:
        return answer

    for trusts in (None, answers):
        loaded, project = load_project(home, "model: theirs", "model: mine", trusts)
        assert loaded.settings.model == "mine"
        assert [str(change) for change in project.changes] == ["model: mine → theirs"]


def test_trust_ends_with_another_value_and_not_with_another_comment(home: Path) -> None:
    _, first = load_project(home, "model: a\ncompression: {threshold: 0.5}")

    def trusts(_places: Locations, digest: str) -> bool | None:
        return True if digest == first.digest else None

    same, _ = load_project(home, "# hi\ncompression:\n  threshold: .5\nmodel: a", trusts=trusts)
    assert same.settings.model == "a"
    other, project = load_project(home, "model: b\ncompression: {threshold: 0.5}", trusts=trusts)
    assert other.settings.model == "auto" and project.awaits_answer


def test_an_unknown_provider_is_named_and_does_not_count(home: Path) -> None:
    loaded, project = load_project(home, "provider: nosuch", "providers: {work: {kind: openai}}")
    assert loaded.settings.provider == "auto"
    assert project.problems[0].problem == (
        "no provider 'nosuch'; available: auto, ollama, embedded, work"
    )
    loaded, _ = load_project(home, "provider: work", "providers: {work: {kind: openai}}")
    assert loaded.settings.provider == "work"


def test_an_untrusted_file_costs_one_line_however_much_is_wrong_with_it(home: Path) -> None:
    text = "model: x\nnonsense: 1\nhooks: {session-start: [a]}\nkeymap: {a.b: f1, c.d: f2}\n"
    loaded, project = load_project(home, text, trusts=None)
    assert loaded.warnings == ()
    assert project.notice.startswith("this folder's settings are not used")
    _, project = load_project(home, "keymap: {a.b: f1}\nnonsense: 1\n", trusts=None)
    assert project.notice.endswith("some settings are not used; ollm config check shows why")
    _, project = load_project(home, text, trusts=lambda _places, _digest: False)
    assert project.notice == "", "the user has decided"
    _, project = load_project(home, "nonsense: [\n", trusts=None)
    assert project.notice and project.changes == ()


def test_what_a_file_says_cannot_steer_a_terminal(home: Path) -> None:
    _, project = load_project(home, f'model: "a\\u202eb{"x" * 150}"\n', trusts=None)
    [change] = map(str, project.changes)
    assert change.isprintable() and len(change) < 100


def keys_of_the_schema(below: KeyPath = ()) -> Iterator[str]:
    """Every key that takes a value; * stands for the names in a table."""
    for name in ("*",) if is_table(below) else names_below(below):
        path = (*below, name)
        if is_branch(path):
            yield from keys_of_the_schema(path)
        else:
            yield ".".join(path)


def test_every_key_is_either_allowed_or_refused_to_projects() -> None:
    refused = [key for keys in REFUSED.values() for key in keys]
    assert sorted((*ALLOWED, *refused)) == sorted(keys_of_the_schema())


def test_what_is_on_neither_list_is_refused() -> None:
    assert not may_set(("models", "x", "somethingNew"))
    assert not may_set(("newTable", "x"))
    assert refused_matter(("newTable", "x"))
