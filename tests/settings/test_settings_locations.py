"""Where the program looks for things."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ollm_tui.core.errors import SettingsError
from ollm_tui.settings.loader import load_settings
from ollm_tui.settings.locations import Locations, find_locations, ollm_home
from ollm_tui.settings.resources import default_config, resources_root
from ollm_tui.settings.schema import Retention, Sessions, Settings


def test_the_home_is_where_the_environment_says(tmp_path: Path) -> None:
    assert ollm_home({"HOME": "/home/a"}) == Path("/home/a/.ollm")
    assert ollm_home({"HOME": "/home/a", "OLLM_HOME": "/srv/o"}) == Path("/srv/o")
    assert ollm_home({"HOME": "/home/a", "OLLM_HOME": "~/o"}) == Path("/home/a/o")
    assert ollm_home({"OLLM_HOME": "o"}) == Path.cwd() / "o"
    assert ollm_home({"HOME": "/home/a", "OLLM_HOME": ""}) == Path("/home/a/.ollm")


@pytest.mark.parametrize("environ", [{}, {"HOME": ""}, {"OLLM_HOME": "~/x"}])
def test_without_any_home_there_is_a_plain_error(environ: dict[str, str]) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings(environ, Path.cwd(), {})
    assert "OLLM_HOME" in caught.value.hint


@pytest.mark.parametrize("marker", [".git", ".ollm"])
def test_the_project_is_the_nearest_parent_with_a_marker(tmp_path: Path, marker: str) -> None:
    deep = tmp_path / "outer" / "inner" / "deep"
    deep.mkdir(parents=True)
    (tmp_path / "outer" / ".git").mkdir()
    environ = {"HOME": str(tmp_path / "home")}
    assert find_locations(environ, deep).project == tmp_path / "outer"
    (tmp_path / "outer" / "inner" / marker).mkdir()
    places = find_locations(environ, deep)
    assert places.project == tmp_path / "outer" / "inner"
    assert places.project_config == tmp_path / "outer" / "inner" / ".ollm" / "config.yaml"


def test_without_a_marker_the_project_is_the_current_directory(tmp_path: Path) -> None:
    assert find_locations({"HOME": str(tmp_path / "home")}, Path.cwd()).project == Path.cwd()


def test_the_users_own_directory_is_no_project(tmp_path: Path) -> None:
    user_home = tmp_path / "home"
    below = user_home / "work"
    below.mkdir()
    (user_home / ".ollm").mkdir()
    for environ in (
        {"HOME": str(user_home)},
        {"HOME": str(user_home), "OLLM_HOME": "/srv/ollm"},
        {"OLLM_HOME": str(user_home / ".ollm")},
    ):
        assert find_locations(environ, below).project == below
        assert find_locations(environ, user_home).project_config is None


def test_the_users_directory_is_known_through_links_too(tmp_path: Path) -> None:
    user_home, link = tmp_path / "home", tmp_path / "link"
    (user_home / ".ollm").mkdir()
    (user_home / "work").mkdir()
    link.symlink_to(user_home)
    places = find_locations({"HOME": str(link)}, user_home / "work")
    assert places.project == user_home / "work"
    assert find_locations({"HOME": str(link)}, user_home).project_config is None


def test_a_home_under_version_control_does_not_load_the_users_file_twice(tmp_path: Path) -> None:
    user_home = tmp_path / "home"
    (user_home / ".ollm").mkdir()
    (user_home / ".git").mkdir()
    (user_home / ".ollm" / "config.yaml").write_text("tools: {network: true}")
    loaded = load_settings({"HOME": str(user_home)}, user_home, {})
    assert loaded.locations.project == user_home
    assert loaded.settings.tools.network is True
    assert loaded.warnings == ()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
def test_a_marker_somebody_else_left_in_a_shared_parent_is_ignored(tmp_path: Path) -> None:
    shared, mine = tmp_path / "shared", tmp_path / "shared" / "mine"
    mine.mkdir(parents=True)
    (shared / ".ollm").mkdir()
    environ = {"HOME": str(tmp_path / "home")}
    assert find_locations(environ, mine).project == shared
    os.chown(shared / ".ollm", 12345, 12345)
    assert find_locations(environ, mine).project == mine


PLACES = Locations(Path("/srv/ollm"), Path("/home/a"), Path("/work/p"))


@pytest.mark.parametrize(
    ("data_dir", "expected"),
    [
        ("~/.ollm/sessions", "/srv/ollm/sessions"),
        ("~/.ollm/session-data", "/home/a/.ollm/session-data"),
        ("/data/x", "/data/x"),
        ("chats", "/srv/ollm/chats"),
    ],
)
def test_the_sessions_are_where_the_settings_say(data_dir: str, expected: str) -> None:
    settings = Settings(sessions=Sessions(data_dir=data_dir))
    assert PLACES.sessions(settings) == Path(expected)


def test_sessions_of_a_project_are_in_the_project() -> None:
    settings = Settings(retention=Retention(mode="session"))
    assert PLACES.sessions(settings) == Path("/work/p/.ollm/sessions")


def test_resources_are_found_in_a_checkout_and_in_a_package(tmp_path: Path) -> None:
    assert default_config().is_file()
    package = tmp_path / "site-packages" / "ollm_tui"
    package.mkdir(parents=True)
    assert resources_root(package) == tmp_path / "site-packages"
    (package / "resources").mkdir()
    assert resources_root(package) == package / "resources"
