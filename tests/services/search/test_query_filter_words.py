"""Filter words are put in and taken out without touching the rest."""

from __future__ import annotations

from ollm_tui.services.search.query import filter_word, has_filter, parse_query, toggled, within
from tests.cases import every


@every("text", ("", "retries", 'a "b c" d', "model:x role:user in:2025"))
@every("word", ("role:user", "is:pinned", 'project:"my files"', "model:a:b"))
def test_a_filter_that_is_put_in_is_there_and_can_be_taken_out(text: str, word: str) -> None:
    without = toggled(text, word) if has_filter(text, word) else text
    assert has_filter(toggled(without, word), word)
    assert toggled(toggled(without, word), word) == " ".join(without.split())


def test_another_spelling_is_the_same_filter() -> None:
    assert has_filter("x ROLE:you", "role:user")
    assert toggled('retries project:"uploader"', "project:uploader") == "retries"
    assert not has_filter("x role:user", "role:tool")


def test_a_name_with_blanks_is_quoted() -> None:
    word = filter_word("project", "my files")
    assert parse_query(word).projects == ("my files",)
    assert parse_query(filter_word("model", 'odd"name')).models == ("oddname",)


def test_another_time_takes_the_place_of_the_one_there_is() -> None:
    assert within("retries in:october role:user before:2026", "in:2025-10-14") == (
        "retries role:user in:2025-10-14"
    )
    assert within("retries after:7d") == "retries"
