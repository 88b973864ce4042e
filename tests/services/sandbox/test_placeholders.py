"""Placeholders stand only as long as somebody needs them, and never in place of something real."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ollm_tui.services.sandbox.placeholders import Placeholder, Placeholders


@pytest.fixture
def wanted(tmp_path: Path) -> list[Placeholder]:
    return [
        Placeholder(str(tmp_path / "work" / "folder")),
        Placeholder(str(tmp_path / "work" / "file"), "text"),
    ]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def test_they_come_and_go(work: Path, wanted: list[Placeholder]) -> None:
    held = Placeholders(wanted)
    held.hold()
    assert (work / "folder").is_dir()
    assert (work / "file").read_text() == "text"
    held.release()
    assert list(work.iterdir()) == []


def test_the_last_of_several_users_takes_them_away(work: Path, wanted: list[Placeholder]) -> None:
    first, second = Placeholders(wanted), Placeholders(wanted)
    first.hold()
    second.hold()
    first.release()
    assert len(list(work.iterdir())) == 2
    second.release()
    assert list(work.iterdir()) == []


def test_what_a_crash_left_behind_goes_with_the_next_user(
    work: Path, wanted: list[Placeholder]
) -> None:
    crashing = os.fork()
    if crashing == 0:
        Placeholders(wanted).hold()
        os._exit(0)
    os.waitpid(crashing, 0)
    assert len(list(work.iterdir())) == 2
    later = Placeholders(wanted)
    later.hold()
    later.release()
    assert list(work.iterdir()) == []


def test_users_that_come_and_go_at_once_never_lose_them(
    work: Path, wanted: list[Placeholder]
) -> None:
    def use(_number: int) -> bool:
        held = Placeholders(wanted)
        held.hold()
        there = len(list(work.glob("f*"))) >= 2
        held.release()
        return there

    with ThreadPoolExecutor(8) as users:
        assert all(users.map(use, range(300)))
    assert list(work.iterdir()) == []


def test_one_that_another_is_still_making_keeps_nobody_waiting(
    work: Path, wanted: list[Placeholder], monkeypatch: pytest.MonkeyPatch
) -> None:
    link = os.link
    quick, slow = Placeholders(wanted), Placeholders(wanted)

    def link_late(draft: Path, path: Path) -> None:
        monkeypatch.setattr(os, "link", link)
        quick.hold()
        link(draft, path)

    monkeypatch.setattr(os, "link", link_late)
    slow.hold()
    quick.release()
    assert len(list(work.iterdir())) == 2
    slow.release()
    assert list(work.iterdir()) == []


def test_what_is_the_users_own_stays(work: Path, wanted: list[Placeholder]) -> None:
    (work / "folder").mkdir()
    (work / "file").write_text("")
    held = Placeholders(wanted)
    held.hold()
    held.release()
    assert (work / "folder").is_dir()
    assert (work / "file").read_text() == ""


def test_what_somebody_puts_into_one_stays(work: Path, wanted: list[Placeholder]) -> None:
    held = Placeholders(wanted)
    held.hold()
    (work / "folder").chmod(0o700)
    (work / "folder" / "mine").write_text("mine")
    held.release()
    assert (work / "folder" / "mine").read_text() == "mine"


def test_links_are_left_alone(work: Path, wanted: list[Placeholder], tmp_path: Path) -> None:
    (work / "folder").symlink_to(tmp_path / "nowhere")
    (work / "file").symlink_to(tmp_path / "nowhere-either")
    held = Placeholders(wanted)
    held.hold()
    held.release()
    assert (work / "folder").is_symlink()
    assert (work / "file").is_symlink()
    assert not (tmp_path / "nowhere").exists()


def test_a_place_whose_directory_is_missing_fails(
    tmp_path: Path, wanted: list[Placeholder]
) -> None:
    with pytest.raises(FileNotFoundError):
        Placeholders(wanted).hold()
