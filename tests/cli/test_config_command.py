"""`ollm config show`, `path` and `check`."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
import yaml

from ollm_tui.cli import config_command as config
from ollm_tui.cli.store import read_settings
from ollm_tui.services.safety.project_trust import Trust
from ollm_tui.settings.schema import Settings
from tests.cases import some

PLAIN = Namespace(json=False)
JSON = Namespace(json=True)

Captured = pytest.CaptureFixture[str]


def write_user(home: Path, text: str) -> Path:
    home.mkdir(exist_ok=True)
    (home / "config.yaml").write_text(text)
    return home / "config.yaml"


def write_project(text: str, home: Path, *, trusted: bool | None = None) -> Path:
    """Write the settings of the project; the user has trusted them, or said never."""
    Path(".ollm").mkdir(exist_ok=True)
    file = Path(".ollm/config.yaml").absolute()
    file.write_text(text)
    project = read_settings().project
    if trusted is not None and project:
        verdict = "always" if trusted else "never"
        Trust(home).keep_settings(Path.cwd(), project.digest, verdict)
    return file


def builtin_defaults() -> Any:
    return json.loads(msgspec.json.encode(Settings()))


def test_show_prints_yaml_that_means_the_settings(capsys: Captured) -> None:
    assert config.show(PLAIN) == 0
    out = capsys.readouterr().out
    assert yaml.safe_load(out) == builtin_defaults()
    assert "  threshold: 0.8  # default\n" in out


def test_show_tells_where_each_value_comes_from(
    home: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_user(home, "ui:\n  theme: light\n")
    write_project("model: m\n", home, trusted=True)
    monkeypatch.setenv("OLLM_CONTEXT_WINDOW", "8192")
    config.show(PLAIN)
    out = capsys.readouterr().out
    assert f"  theme: light  # user, {file}:2\n" in out
    assert f"model: m  # project, {Path.cwd()}/.ollm/config.yaml:1\n" in out
    assert "  window: 8192  # environment, OLLM_CONTEXT_WINDOW\n" in out


UNTRUSTED = "keymap: {tools.mode: ctrl+j}\nmodel: theirs\ncompression: {threshold: 0.5}\n"
REFUSED = ":1: keymap.'tools.mode': refused: a project may not decide your keys"


@some(
    1,
    ("trusted", "standing", "model"),
    [
        (
            None,
            "not trusted yet, ignored; open ollm in this folder to decide",
            "auto",
        ),
        (True, "trusted, in effect", "theirs"),
        (False, "not trusted, ignored", "auto"),
    ],
)
def test_show_and_check_say_what_a_project_sets_and_what_counts(
    home: Path, capsys: Captured, trusted: bool | None, standing: str, model: str
) -> None:
    file = write_project(UNTRUSTED, home, trusted=trusted)
    expected = [
        f"{file}: {standing}",
        f"{file}:2: model: auto → theirs",
        f"{file}:3: compression.threshold: 0.8 → 0.5",
        f"{file}{REFUSED}",
    ]
    assert config.check(Namespace()) == 1, "something of it never counts"
    assert capsys.readouterr().out.splitlines() == expected
    config.show(PLAIN)
    out = capsys.readouterr().out
    assert yaml.safe_load(out)["model"] == model
    assert [line.removeprefix("# ") for line in out.splitlines()[-4:]] == expected
    config.show(JSON)
    project = json.loads(capsys.readouterr().out)["project"]
    assert (project["trusted"], len(project["changes"])) == (trusted, 2)
    assert project["problems"] == [f"{file}{REFUSED}"]


def test_a_project_that_sets_nothing_wrong_is_ok_also_untrusted(
    home: Path, capsys: Captured
) -> None:
    write_project("model: theirs\n", home)
    assert config.check(Namespace()) == 0
    assert capsys.readouterr().out.endswith("ok\n")


def test_check_names_file_line_and_key_of_a_bad_pattern(home: Path, capsys: Captured) -> None:
    file = write_user(home, "environment:\n  policy: open\n  denyPatterns: [MINE_*, '[bad']\n")
    assert config.check(Namespace()) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{file}:3: environment.denyPatterns: '[bad' can be no name of a variable, "
        "not even with * and ?; the default patterns are used in its place"
    ]


def test_show_as_json_has_settings_and_sources(home: Path, capsys: Captured) -> None:
    write_user(home, "model: m\n")
    config.show(JSON)
    shown = json.loads(capsys.readouterr().out)
    assert shown["settings"] == {**builtin_defaults(), "model": "m"}
    assert shown["sources"] == {"model": "user"}


def test_show_hides_what_may_be_a_secret(home: Path, capsys: Captured) -> None:
    write_user(
        home,
        """
providers:
  work:
    baseUrl: https://me:hunter2@work.example/v1?key=hunter2
    headers: {Authorization: Bearer hunter2}
    keyEnv: WORK_KEY
    keyCommand: pass show work
""",
    )
    for args in (PLAIN, JSON):
        config.show(args)
        out = capsys.readouterr().out
        assert "hunter2" not in out
        assert "work.example/v1" in out
        assert "WORK_KEY" in out
        assert "pass show work" in out


def test_show_prints_no_control_characters_and_keeps_every_value(
    home: Path, capsys: Captured
) -> None:
    keymap = {
        "a\u202eb": 'x\u009b31m"\\',
        "on": "no",
        "größe": "1.0",
        "c": "a: b #c",
        "d": "\U000e0001",
    }
    write_user(home, yaml.safe_dump({"keymap": keymap, "modes": {"m": {"prompt": "a\nb\x1b[2J"}}}))
    config.show(PLAIN)
    out = capsys.readouterr().out
    assert out.replace("\n", "").isprintable()
    shown = cast(dict[str, Any], yaml.safe_load(out))
    assert shown["keymap"] == keymap
    assert shown["modes"]["m"]["prompt"] == "a\nb\x1b[2J"
    config.show(JSON)
    out = capsys.readouterr().out
    assert out.replace("\n", "").isprintable()
    assert json.loads(out)["settings"]["keymap"] == keymap


def test_show_says_when_there_are_problems(home: Path, capsys: Captured) -> None:
    write_user(home, "modle: m\n")
    assert config.show(PLAIN) == 0
    captured = capsys.readouterr()
    assert "ollm config check" in captured.err
    assert "modle" not in captured.out


def test_path_names_every_place_and_whether_it_is_there(home: Path, capsys: Captured) -> None:
    file = write_user(home, "")
    assert config.path(JSON) == 0
    places = {place["what"]: place for place in json.loads(capsys.readouterr().out)}
    assert places["user config"] == {"what": "user config", "path": str(file), "exists": True}
    assert places["project config"]["exists"] is False
    assert places["sessions"]["path"] == str(home / "sessions")
    assert places["all defaults"]["exists"] is True
    assert config.path(PLAIN) == 0
    assert f"user config      exists   {file}\n" in capsys.readouterr().out


def test_check_is_ok_without_problems(home: Path, capsys: Captured) -> None:
    write_user(home, "model: m\n")
    assert config.check(Namespace()) == 0
    assert capsys.readouterr().out == "ok\n"


def test_check_prints_one_line_per_problem(home: Path, capsys: Captured) -> None:
    file = write_user(home, "modle: m\nui: {density: tight}\n")
    assert config.check(Namespace()) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{file}:1: modle: unknown key; did you mean model?",
        f"{file}:2: ui.density: expected one of comfortable, compact, "
        "found 'tight'; using 'comfortable'",
    ]


def test_check_knows_themes_and_keys_too(home: Path, capsys: Captured) -> None:
    keys = "{chat.stopp: f8, read.find: ctrl+frob}"
    write_user(home, f"ui: {{theme: nosuch}}\nkeymap: {keys}\n")
    assert config.check(Namespace()) == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert "did you mean chat.stop?" in lines[0] and "ctrl+frob" in lines[1]
    assert "no theme 'nosuch'" in lines[2]
