"""What the user wrote: kept for the next time, whatever happens to the disk."""

from __future__ import annotations

import multiprocessing
import stat
from pathlib import Path

import pytest

from ollm_tui.services.sessions.prompt_memory import CUT_EVERY, MOST_PROMPTS, PromptMemory
from tests.end_to_end.test_disk_full import full_disk

PROJECT = Path("/work/project")


def memory(home: Path | None, project: Path = PROJECT) -> PromptMemory:
    return PromptMemory(home, project)


def history_file(home: Path) -> Path:
    [file] = (home / "prompt-history").glob("*.jsonl")
    return file


def remember_many(home: Path, name: str) -> None:
    mine = memory(home)
    for number in range(150):
        mine.remember(f"{name} {number}")


def test_prompts_come_back_oldest_first_and_per_project(home: Path) -> None:
    first = memory(home)
    for text in ("one", "two\nlines", "tab\t«ü»"):
        first.remember(text)
    assert memory(home).history() == ["one", "two\nlines", "tab\t«ü»"]
    assert memory(home, Path("/work/other")).history() == []


def test_the_same_twice_in_a_row_is_kept_once(home: Path) -> None:
    for text in ("one", "one", "two", "one", " ", ""):
        memory(home).remember(text)
    assert memory(home).history() == ["one", "two", "one"]


def test_the_newest_thousand_are_kept(home: Path) -> None:
    mine = memory(home)
    total = MOST_PROMPTS + 3 * CUT_EVERY
    for number in range(total):
        mine.remember(str(number))
    assert mine.history() == [str(number) for number in range(total - MOST_PROMPTS, total)]
    assert len(history_file(home).read_bytes().splitlines()) < MOST_PROMPTS + CUT_EVERY


def test_long_prompts_do_not_fill_the_disk(home: Path) -> None:
    mine = memory(home)
    for number in range(2 * CUT_EVERY + 1):
        mine.remember(f"{number} " + "x" * 50_000)
    assert history_file(home).stat().st_size <= 2_000_000
    assert mine.history()[-1].startswith(f"{2 * CUT_EVERY} ")


def test_two_processes_lose_nothing_of_each_other(home: Path) -> None:
    context = multiprocessing.get_context("spawn")
    others = [context.Process(target=remember_many, args=(home, name)) for name in ("a", "b")]
    for other in others:
        other.start()
    for other in others:
        other.join()
    history = memory(home).history()
    for name in ("a", "b"):
        assert [text for text in history if text.startswith(name)] == [
            f"{name} {number}" for number in range(150)
        ]


def test_damaged_lines_are_skipped_and_do_not_damage_the_next(home: Path) -> None:
    memory(home).remember("before")
    with history_file(home).open("ab") as file:
        file.write(b'nonsense\n\0\0\0\n[1]\n{"text": 7}\n"\xff"\n{"text":"a\\ud800"}\n\n')
        file.write(b"[" * 100_000 + b'\n{"text":"a\\u001b[2Jb"}\n{"text":"to')
    memory(home).remember("after")
    assert memory(home).history() == ["before", "ab", "after"]


def test_drafts_are_kept_per_session_and_removed_when_empty(home: Path) -> None:
    mine = memory(home)
    mine.keep_draft("s1", "for one")
    mine.keep_draft(None, "for none")
    mine.keep_draft("../evil", "for evil")
    again = memory(home)
    assert [again.draft(key) for key in ("s1", None, "../evil", "s2")] == [
        "for one",
        "for none",
        "for evil",
        "",
    ]
    assert memory(home, Path("/work/other")).draft(None) == ""
    for key in ("s1", None, "../evil"):
        again.keep_draft(key, "")
    assert [file.name for file in (home / "drafts").iterdir()] == [".lock"]
    assert memory(home).draft("s1") == ""


def test_nobody_else_can_read_them(home: Path) -> None:
    mine = memory(home)
    mine.remember("secret")
    mine.keep_draft("s1", "secret")
    for path in (*home.rglob("*"), home):
        allowed = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == allowed, path


def test_without_a_directory_nothing_touches_the_disk(home: Path) -> None:
    mine = memory(None)
    mine.remember("one")
    mine.keep_draft("s1", "draft")
    assert (mine.history(), mine.draft("s1")) == (["one"], "draft")
    mine.keep_draft("s1", "")
    assert mine.draft("s1") == ""
    assert not home.exists()


def test_a_full_disk_keeps_everything_in_memory_until_there_is_room(home: Path) -> None:
    mine = memory(home)
    mine.remember("before")
    mine.keep_draft("s1", "short")
    with full_disk(100):
        mine.remember("x" * 200)
        mine.remember("small")
        mine.keep_draft("s1", "y" * 200)
        assert mine.history() == ["before", "x" * 200, "small"]
        assert mine.draft("s1") == "y" * 200
        assert memory(home).history() == ["before"]
        assert memory(home).draft("s1") == "short"
    mine.remember("after")
    mine.keep_draft("s1", "y" * 300)
    assert memory(home).history() == ["before", "x" * 200, "small", "after"]
    assert memory(home).draft("s1") == "y" * 300


@pytest.mark.parametrize("obstacle", ("file", "directory"))
def test_something_in_the_way_is_no_reason_to_fail(home: Path, obstacle: str) -> None:
    home.mkdir()
    for name in ("drafts", "prompt-history"):
        if obstacle == "file":
            (home / name).write_text("in the way")
        else:
            (home / name / ".lock").mkdir(parents=True)
    mine = memory(home)
    mine.remember("one")
    mine.keep_draft("s1", "draft")
    assert (mine.history(), mine.draft("s1")) == (["one"], "draft")


def test_a_lone_surrogate_can_be_kept(home: Path) -> None:
    memory(home).remember("a\ud800b")
    memory(home).keep_draft("s1", "a\ud800b")
    assert memory(home).history() == ["a\ufffdb"]
    assert memory(home).draft("s1") == "a\ufffdb"


def test_the_sidebar_is_left_as_it_was(home: Path) -> None:
    assert not memory(home).sidebar_is_open()
    memory(home).keep_sidebar(True)
    assert memory(home, Path("/work/other")).sidebar_is_open(), "in every project"
    memory(home).keep_sidebar(False)
    assert not memory(home).sidebar_is_open()


def test_without_a_directory_the_sidebar_is_remembered_until_the_end(home: Path) -> None:
    mine = memory(None)
    mine.keep_sidebar(True)
    assert mine.sidebar_is_open() and not memory(None).sidebar_is_open()
    assert not home.exists()


def test_a_damaged_memory_of_the_screen_is_as_good_as_none(home: Path) -> None:
    home.mkdir()
    for content in (b"", b"{", b'{"sidebar": 7}', b"\xff", b"[" * 100_000):
        (home / "screen.json").write_bytes(content)
        assert not memory(home).sidebar_is_open()
    memory(home).keep_sidebar(True)
    assert memory(home).sidebar_is_open()
