"""Searches that are kept: the latest first, each once, safe from a damaged file."""

from __future__ import annotations

from pathlib import Path

from ollm_tui.services.sessions.saved_lines import MOST, SavedLines


def test_they_are_there_the_next_time(tmp_path: Path) -> None:
    searches = SavedLines(tmp_path / "searches.json")
    searches.keep("retries  in:october")
    searches.keep("css")
    searches.keep("retries in:october")
    assert SavedLines(tmp_path / "searches.json").all() == ("retries in:october", "css")
    searches.forget("css")
    assert SavedLines(tmp_path / "searches.json").all() == ("retries in:october",)


def test_without_a_file_they_are_kept_until_the_end() -> None:
    searches = SavedLines(None)
    searches.keep("css")
    searches.keep(" ")
    assert searches.all() == ("css",)


def test_a_damaged_file_is_no_reason_to_fail(tmp_path: Path) -> None:
    file = tmp_path / "searches.json"
    file.write_bytes(b"{\xff")
    searches = SavedLines(file)
    assert searches.all() == ()
    searches.keep("css")
    assert searches.all() == ("css",)


def test_there_are_not_too_many(tmp_path: Path) -> None:
    searches = SavedLines(tmp_path / "searches.json")
    for number in range(MOST + 5):
        searches.keep(f"search {number}")
    assert len(searches.all()) == MOST
