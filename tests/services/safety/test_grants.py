"""Answers that hold for more than once: exactly for what they were given to."""

from __future__ import annotations

from pathlib import Path

import pytest

from ollm_tui.services.safety.grants import FILE, LONGEST_CODE, Grants, Subject

TESTS = Subject("exec", "pytest -q", "/work/app", "shell")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return tmp_path / "app"


def test_an_answer_for_the_session_ends_with_it(data: Path, project: Path) -> None:
    grants = Grants(data, project)
    grants.keep(TESTS, "always", "session")
    assert grants.answer(TESTS) == "always"
    assert Grants(data, project).answer(TESTS) is None
    assert not data.exists()


def test_an_answer_for_the_project_is_there_after_a_restart(data: Path, project: Path) -> None:
    Grants(data, project).keep(TESTS, "always", "project")
    assert Grants(data, project).answer(TESTS) == "always"


def test_an_answer_does_not_hold_in_another_project(data: Path, project: Path) -> None:
    Grants(data, project).keep(TESTS, "always", "project")
    assert Grants(data, project.parent / "other").answer(TESTS) is None


@pytest.mark.parametrize(
    "other",
    (
        Subject("exec", "pytest -q ", "/work/app", "shell"),
        Subject("exec", "pytest -q", "/work", "shell"),
        Subject("exec", "pytest -q", "/work/app", "python"),
        Subject("git", "pytest -q", "/work/app", "shell"),
    ),
)
def test_anything_else_is_asked_again(data: Path, project: Path, other: Subject) -> None:
    grants = Grants(data, project)
    grants.keep(TESTS, "always", "project")
    assert grants.answer(other) is None


def test_the_latest_answer_holds(data: Path, project: Path) -> None:
    grants = Grants(data, project)
    grants.keep(TESTS, "always", "project")
    grants.keep(TESTS, "never", "session")
    assert grants.answer(TESTS) == "never"
    assert len(grants.list()) == 1
    assert Grants(data, project).answer(TESTS) is None


def test_never_of_one_session_wins_over_always_of_another(data: Path, project: Path) -> None:
    grants, other = Grants(data, project), Grants(data, project)
    grants.keep(TESTS, "never", "session")
    other.keep(TESTS, "always", "project")
    assert grants.answer(TESTS) == "never"


def test_clearing_forgets_all_of_this_project_and_nothing_else(data: Path, project: Path) -> None:
    other = Grants(data, project.parent / "other")
    other.keep(TESTS, "always", "project")
    grants = Grants(data, project)
    grants.keep(TESTS, "always", "project")
    grants.keep(Subject("exec", "make", "/work/app"), "never", "session")
    assert grants.clear() == 2
    assert grants.list() == []
    assert other.answer(TESTS) == "always"


@pytest.mark.parametrize(
    "content", (b"", b"{", b"[]", b'{"version":1}', b'{"version":99,"grants":[]}', b"\xff\x00")
)
def test_a_damaged_file_means_that_nothing_is_allowed(
    data: Path, project: Path, content: bytes
) -> None:
    data.mkdir()
    (data / FILE).write_bytes(content)
    grants = Grants(data, project)
    assert grants.answer(TESTS) is None
    grants.keep(TESTS, "always", "project")
    assert Grants(data, project).answer(TESTS) == "always"


def test_without_a_directory_or_leave_to_write_it_holds_for_the_session(
    data: Path, project: Path
) -> None:
    for grants in (Grants(None, project), Grants(data, project, writes=False)):
        grants.keep(TESTS, "always", "project")
        assert grants.answer(TESTS) == "always"
    assert not data.exists()


def test_very_long_code_is_only_remembered_for_the_session(data: Path, project: Path) -> None:
    long = Subject("exec", "x" * (LONGEST_CODE + 1), "/work/app")
    grants = Grants(data, project)
    grants.keep(long, "always", "project")
    assert [grant.scope for grant in grants.list()] == ["session"]
