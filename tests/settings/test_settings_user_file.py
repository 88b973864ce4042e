"""One setting written into the user's file: that key changes, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_tui.core.errors import SettingsError
from ollm_tui.settings.loader import load_settings
from ollm_tui.settings.schema import Settings
from ollm_tui.settings.user_file import Scalar, set_user_value, unset_user_value

THEME = ("ui", "theme")


@pytest.fixture
def file(home: Path) -> Path:
    home.mkdir()
    return home / "config.yaml"


def settings_of(file: Path) -> Settings:
    loaded = load_settings({"OLLM_HOME": str(file.parent)}, Path.cwd(), {})
    assert loaded.warnings == ()
    return loaded.settings


@pytest.mark.parametrize(
    ("before", "after"),
    (
        ("", "ui:\n  theme: nord\n"),
        ("# mine\n", "# mine\nui:\n  theme: nord\n"),
        ("model: x", "model: x\nui:\n  theme: nord\n"),
        ("ui:\n  theme: dark # loved\n  plain: no\n", "ui:\n  theme: nord # loved\n  plain: no\n"),
        ("ui:\n  theme: 'dark'\n", "ui:\n  theme: nord\n"),
        ("ui:\n  theme:\n", "ui:\n  theme: nord\n"),
        ("ui:\n", "ui:\n  theme: nord\n"),
        ("ui:", "ui:\n  theme: nord\n"),
        ("ui: # looks\n    plain: no\n", "ui: # looks\n    theme: nord\n    plain: no\n"),
        ("ui: {plain: no}\n", "ui: {theme: nord, plain: no}\n"),
        ("ui: {}\n", "ui: {theme: nord}\n"),
        ("ui: {theme: dark, plain: no}\n", "ui: {theme: nord, plain: no}\n"),
        ("---\r\nui:\r\n  theme: dark\r\n", "---\r\nui:\r\n  theme: nord\r\n"),
        ("# é ü 漢字 😀\nui:\n  theme: dark\n", "# é ü 漢字 😀\nui:\n  theme: nord\n"),
    ),
)
def test_the_line_of_the_key_changes_and_the_rest_stays(
    file: Path, before: str, after: str
) -> None:
    file.write_bytes(before.encode())
    set_user_value(file, THEME, "nord")
    assert file.read_bytes().decode() == after
    assert settings_of(file).ui.theme == "nord"


def test_a_key_in_another_spelling_is_changed_where_it_stands(file: Path) -> None:
    file.write_text("services:\n  session:\n    max_sessions: 5\n")
    set_user_value(file, ("sessions", "maxSessions"), 7)
    assert file.read_text() == "services:\n  session:\n    max_sessions: 7\n"


@pytest.mark.parametrize(
    ("path", "value"),
    (
        (("model",), "qwen2.5-coder:1.5b"),
        (("model",), "true"),
        (("model",), "a # b"),
        (("model",), 'say "hi" \\ é 😀'),
        (("model",), "- x"),
        (("retention", "maxAge"), "7d"),
        (("retention", "maxAge"), None),
        (("compression", "threshold"), 0.5),
        (("sessions", "maxSessions"), 0),
        (("sessions", "autoSave"), False),
        (("sessions", "dataDir"), "~/chats"),
        (("context", "window"), 4096),
        (("context", "window"), "auto"),
    ),
)
def test_every_kind_of_value_is_read_as_it_was_written(
    file: Path, path: tuple[str, ...], value: Scalar
) -> None:
    set_user_value(file, path, value)
    found: object = settings_of(file)
    for name in path:
        snake = "".join(f"_{mark.lower()}" if mark.isupper() else mark for mark in name)
        found = getattr(found, snake)
    assert found == value


@pytest.mark.parametrize(
    "text",
    (
        "ui: [",
        "\tui:\n",
        "- a\n- b\n",
        "ui: dark\n",
        "{model: x}\n",
        "model: x\n---\nmodel: y\n",
    ),
)
def test_a_file_that_cannot_be_changed_safely_stays_as_it_is(file: Path, text: str) -> None:
    file.write_text(text)
    with pytest.raises(SettingsError) as caught:
        set_user_value(file, THEME, "nord")
    assert str(file) in caught.value.message
    assert file.read_text() == text
    assert [path.name for path in file.parent.iterdir()] == ["config.yaml"]


def test_a_value_that_two_groups_share_is_not_changed_for_one(file: Path) -> None:
    text = "compression: &both {enabled: yes}\nsnapshots: *both\n"
    file.write_text(text)
    with pytest.raises(SettingsError):
        set_user_value(file, ("snapshots", "enabled"), False)
    assert file.read_text() == text


def test_taking_a_key_out_leaves_the_rest(file: Path) -> None:
    file.write_text("# a\nui:\n  theme: nord # b\n  plain: no\n# c\n")
    unset_user_value(file, THEME)
    assert file.read_text() == "# a\nui:\n  plain: no\n# c\n"
    unset_user_value(file, THEME)
    unset_user_value(file, ("ui", "plain"))
    assert file.read_text() == "# a\nui:\n# c\n"
    assert settings_of(file) == Settings()


def test_taking_a_key_out_of_a_shared_line_is_refused(file: Path) -> None:
    file.write_text("ui: {theme: nord, plain: yes}\n")
    with pytest.raises(SettingsError):
        unset_user_value(file, THEME)
    assert file.read_text() == "ui: {theme: nord, plain: yes}\n"


def test_the_file_is_its_owners_alone_and_a_link_to_it_stays(file: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "ollm.yaml"
    real.parent.mkdir()
    real.write_text("model: x\n")
    file.symlink_to(real)
    set_user_value(file, THEME, "nord")
    assert file.is_symlink()
    assert "nord" in real.read_text()
    assert real.stat().st_mode & 0o777 == 0o600


def test_a_home_that_is_not_there_yet_is_made(home: Path) -> None:
    set_user_value(home / "config.yaml", THEME, "nord")
    assert home.stat().st_mode & 0o777 == 0o700


def test_a_file_that_cannot_be_written_says_so(home: Path) -> None:
    home.write_text("a file where the directory should be")
    with pytest.raises(SettingsError, match="cannot be written"):
        set_user_value(home / "config.yaml", THEME, "nord")


LINES = (
    *("# a comment", "", "model: x", "provider: ollama", "ui:", "  theme: dark", "  # inside"),
    *("  plain: yes", "sessions: {maxSessions: 3}", "compression:", "    threshold: 0.5", "hooks:"),
)


@given(lines=st.lists(st.sampled_from(LINES), max_size=10), value=st.sampled_from(("nord", "a b")))
def test_whatever_the_file_says_only_the_key_changes_or_nothing(
    lines: list[str], value: str, tmp_path: Path
) -> None:
    file = tmp_path / "config.yaml"
    text = "\n".join(lines)
    file.write_text(text)
    environ = {"OLLM_HOME": str(tmp_path)}
    before = load_settings(environ, tmp_path, {})
    try:
        set_user_value(file, THEME, value)
    except SettingsError:
        assert file.read_text() == text
        return
    after = load_settings(environ, tmp_path, {})
    assert after.settings.ui.theme == value
    assert set(before.sources) | {THEME} == set(after.sources)
    assert [line for line in lines if line.startswith("#")] == [
        line for line in file.read_text().splitlines() if line.startswith("#")
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    (
        ("", "extensions:\n  todo:\n    enabled: false\n"),
        ("extensions:\n", "extensions:\n  todo:\n    enabled: false\n"),
        (
            "extensions:\n  a: {enabled: true}\n",
            "extensions:\n  todo:\n    enabled: false\n  a: {enabled: true}\n",
        ),
        (
            "extensions: {a: {enabled: true}}\n",
            "extensions: {todo: {enabled: false}, a: {enabled: true}}\n",
        ),
        (
            "extensions:\n  todo:\n    enabled: true\n",
            "extensions:\n  todo:\n    enabled: false\n",
        ),
    ),
)
def test_an_entry_of_a_table_is_made_beside_the_others(file: Path, before: str, after: str) -> None:
    file.write_text(before)
    set_user_value(file, ("extensions", "todo", "enabled"), False)
    assert file.read_text() == after
    assert settings_of(file).extensions["todo"].enabled is False
