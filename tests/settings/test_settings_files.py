"""What a settings file may hold, and what happens when it holds something else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ollm_tui.settings.loaded import Loaded
from ollm_tui.settings.loader import load_settings
from ollm_tui.settings.schema import Settings


def load_text(home: Path, text: str | bytes) -> Loaded:
    home.mkdir(exist_ok=True)
    data = text.encode() if isinstance(text, str) else text
    (home / "config.yaml").write_bytes(data)
    return load_settings({"OLLM_HOME": str(home)}, Path.cwd(), {})


def lines(loaded: Loaded, home: Path) -> list[str]:
    return [str(warning).replace(f"{home}/config.yaml", "F") for warning in loaded.warnings]


@pytest.mark.parametrize(
    ("content", "warning"),
    [
        (b"model: \xff\xfe\n", "F:1: it is not UTF-8 text; the file is skipped"),
        (b"- a\n- b\n", "F:1: it must consist of keys and values; the file is skipped"),
        (b"just words\n", "F:1: it must consist of keys and values; the file is skipped"),
        (
            b"a: 1\nb: [1, 2\nc: 3\n",
            "F:3: it is not YAML (did not find expected ',' or ']'); the file is skipped",
        ),
        (b"a: &x 1\nb: *y\n", "F:2: it is not YAML (found undefined alias); the file is skipped"),
        (b"x" * 300_000, "F: it is larger than 256 KB; the file is skipped"),
        (
            b"a: " + b"[" * 40 + b"]" * 40,
            "F:1: it is nested too deeply or too long; the file is skipped",
        ),
        (b"a: " + b"[" * 100_000, "F:1: it is nested too deeply or too long; the file is skipped"),
    ],
)
def test_a_file_that_cannot_be_used_is_skipped_with_one_line(
    home: Path, content: bytes, warning: str
) -> None:
    loaded = load_text(home, content)
    assert loaded.settings == Settings()
    assert lines(loaded, home) == [warning]


@pytest.mark.parametrize("content", ["", "\n# nothing\n", "---\n", "\ufeff", "compression:\n"])
def test_an_empty_file_or_group_is_nothing_special(home: Path, content: str) -> None:
    loaded = load_text(home, content)
    assert loaded.settings == Settings()
    assert loaded.warnings == ()


def test_control_characters_of_a_broken_file_do_not_reach_the_warning(home: Path) -> None:
    loaded = load_text(home, "model: a\x1b]52;c;x\x07\n")
    assert loaded.settings == Settings()
    assert len(loaded.warnings) == 1
    assert str(loaded.warnings[0]).isprintable()


def test_a_directory_in_place_of_the_file_is_skipped(home: Path) -> None:
    (home / "config.yaml").mkdir(parents=True)
    loaded = load_settings({"OLLM_HOME": str(home)}, Path.cwd(), {})
    assert lines(loaded, home) == ["F: it is a directory, not a file; the file is skipped"]


def test_a_pipe_in_place_of_the_file_does_not_block(home: Path) -> None:
    home.mkdir()
    os.mkfifo(home / "config.yaml")
    loaded = load_settings({"OLLM_HOME": str(home)}, Path.cwd(), {})
    assert lines(loaded, home) == ["F: it is not a regular file; the file is skipped"]


def test_a_link_to_itself_is_skipped(home: Path) -> None:
    home.mkdir()
    (home / "config.yaml").symlink_to(home / "config.yaml")
    loaded = load_settings({"OLLM_HOME": str(home)}, Path.cwd(), {})
    assert len(loaded.warnings) == 1
    assert "cannot be read" in str(loaded.warnings[0])


def test_an_unknown_key_is_named_with_the_nearest_one(home: Path) -> None:
    text = "compression:\n  treshold: 0.5\n  enabled: false\ntheme: dark\nzzzzzz: 1\n"
    loaded = load_text(home, text)
    assert loaded.settings.compression.enabled is False
    assert lines(loaded, home) == [
        "F:2: compression.treshold: unknown key; did you mean compression.threshold?",
        "F:4: theme: unknown key; did you mean ui.theme?",
        "F:5: zzzzzz: unknown key; it is ignored",
    ]


def test_a_key_given_twice_counts_the_second_time(home: Path) -> None:
    loaded = load_text(home, "model: a\nmodel: b\nui: {theme: x}\nui: {plain: true}\n")
    assert (loaded.settings.model, loaded.settings.ui.theme) == ("b", "x")
    assert loaded.settings.ui.plain is True
    assert lines(loaded, home) == [
        "F:2: model: given again, first on line 1; the later one is used",
        "F:4: ui: given again, first on line 3; the later one is used",
    ]


def test_words_that_yaml_takes_for_something_else_stay_words(home: Path) -> None:
    text = "model: 3.10\nprovider: no\nui: {theme: off}\nkeymap: {on: yes, 12: 1:30}\n"
    settings = load_text(home, text).settings
    assert (settings.model, settings.provider, settings.ui.theme) == ("3.10", "no", "off")
    assert settings.keymap == {"on": "yes", "12": "1:30"}


def test_yes_and_no_are_true_and_false_where_that_is_asked(home: Path) -> None:
    text = "ui: {plain: Yes, timestamps: on}\nsnapshots: {enabled: no, autoCreate: 'false'}\n"
    loaded = load_text(home, text)
    assert (loaded.settings.ui.plain, loaded.settings.ui.timestamps) == (True, True)
    assert loaded.settings.snapshots.enabled is False
    assert loaded.settings.snapshots.auto_create is False
    assert loaded.warnings == ()


@pytest.mark.parametrize(
    ("text", "expected"), [("010", 10), ("1_000", 1000), ("0x10", 16), ("0o17", 15), ("+5", 5)]
)
def test_a_leading_zero_is_no_octal_number(home: Path, text: str, expected: int) -> None:
    assert load_text(home, f"sessions: {{maxSessions: {text}}}").settings.sessions == (
        Settings().sessions.__class__(max_sessions=expected)
    )


@pytest.mark.parametrize("text", [".nan", ".inf", "1e999", "1:30", "", "~", "[0.5]", "{a: 1}"])
def test_what_is_no_number_leaves_the_default(home: Path, text: str) -> None:
    loaded = load_text(home, f"compression:\n  threshold: {text}\n  strategy: truncate\n")
    assert loaded.settings.compression.threshold == 0.8
    assert loaded.settings.compression.strategy == "truncate"
    assert [warning.line for warning in loaded.warnings] == [2]


def test_anchors_and_merge_keys_work(home: Path) -> None:
    text = """
models:
  small: &small {window: 4096, temperature: 0.1}
  other:
    <<: *small
    window: 8192
  both: {<<: [{thinking: true}, *small]}
"""
    loaded = load_text(home, text)
    models = loaded.settings.models
    assert (models["other"].window, models["other"].temperature) == (8192, 0.1)
    assert (models["both"].thinking, models["both"].window) == (True, 4096)
    assert loaded.warnings == ()


def test_a_file_that_multiplies_itself_is_bounded(home: Path) -> None:
    bomb = "a0: &a0 {x: 1}\n" + "".join(
        f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}], y{n}: 1}}\n" for n in range(1, 10)
    )
    loaded = load_text(home, bomb + "ui:\n  <<: *a9\n")
    assert [warning.problem for warning in loaded.warnings] == [
        "it holds too many keys; the file is skipped"
    ]
    loaded = load_text(home, "ui: &a\n  <<: *a\nmodel: x\n")
    assert [warning.problem for warning in loaded.warnings] == [
        "it holds too many keys; the file is skipped"
    ]
    lists = "a: &a [x, x]\n" + "".join(f"b{n}: &b{n} [*a, *a]\n" for n in range(20))
    assert load_text(home, lists + "model: x\n").settings.model == "x"


def test_many_problems_are_cut_to_a_readable_number(home: Path) -> None:
    loaded = load_text(home, "".join(f"zz{n}: 1\n" for n in range(200)))
    assert len(loaded.warnings) == 51
    assert loaded.warnings[-1].problem == "150 more problems"


def test_entries_of_a_provider_are_checked_one_by_one(home: Path) -> None:
    text = """
providers:
  work:
    kind: opnai
    baseUrl: https://work.example/v1
    timeoutSeconds: -1
    headers: {X-Team: a, X-Bad: [1]}
  broken: 12
hooks:
  sesion-start: [a]
  after-turn: [notify]
"""
    loaded = load_text(home, text)
    work = loaded.settings.providers["work"]
    assert (work.kind, work.base_url) == ("auto", "https://work.example/v1")
    assert (work.timeout_seconds, work.headers) == (120, {"X-Team": "a"})
    assert loaded.settings.hooks == {"after-turn": ("notify",)}
    assert [warning.key for warning in loaded.warnings] == [
        "providers.work.kind",
        "providers.work.timeoutSeconds",
        "providers.work.headers.X-Bad",
        "providers.broken",
        "hooks.sesion-start",
    ]


@pytest.mark.parametrize(
    "entry",
    [
        "keyEnv: sk-ant-abc123",
        "apiKey: sk-ant-abc123",
        "token: sk-ant-abc123",
        "baseUrl: ftp://me:sk-ant-abc123@host",
        "headers: {Authorization: [sk-ant-abc123]}",
        "headers: [sk-ant-abc123]",
        "keyCommand: [sk-ant-abc123]",
    ],
)
def test_a_secret_is_never_repeated_in_a_warning(home: Path, entry: str) -> None:
    loaded = load_text(home, f"providers: {{work: {{{entry}}}}}")
    assert len(loaded.warnings) == 1
    assert "abc123" not in str(loaded.warnings[0])


def test_foreign_text_in_a_warning_is_escaped_and_cut(home: Path) -> None:
    value, name = "\\e[31m\\u202e" + "x" * 500, "a\\e[2Jb" + "y" * 500
    loaded = load_text(home, f'context: {{window: "{value}"}}\n"{name}": 1\n')
    assert len(loaded.warnings) == 2
    for warning in loaded.warnings:
        assert str(warning).isprintable()
        assert "x" * 60 not in str(warning)
        assert "y" * 60 not in str(warning)


def test_tags_do_nothing(home: Path) -> None:
    text = "model: !!python/object/apply:os.system ['touch pwned']\nprovider: !secret x\n"
    loaded = load_text(home, text)
    assert loaded.settings == Settings()
    assert [warning.key for warning in loaded.warnings] == ["model", "provider"]
    assert not Path("pwned").exists()


def test_yaml_is_only_imported_for_a_file(home: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from ollm_tui.settings.loader import load_settings;"
        f"load_settings({{'OLLM_HOME': {str(home)!r}}}, Path.cwd(), {{}});"
        "print([m for m in ('yaml', 'asyncio', 'difflib') if m in sys.modules])"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[]\n"
