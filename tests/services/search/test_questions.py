"""A question is answered: by other forms of its words, despite typos, exact words first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ollm_tui.core.search import Hit
from ollm_tui.core.session.message import Message, Text
from ollm_tui.services.search.query import parse_query
from ollm_tui.services.search.searching import HistorySearch
from ollm_tui.services.search.word_forms import distance
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.store_layout import StoreLayout
from tests.crash.samples import begin

AT = "2025-10-{:02}T12:00:00.000000Z"
SAID = {
    "uploader": "The upload job retries forever because nothing caps the attempts.",
    "retry": "Retry it by hand once the server is back.",
    "pool": "The connection pool was exhausted by the workers.",
    "haus": "Die Häuser in der Straße wurden gestrichen.",
    "russian": "Мы обновили серверы вчера ночью.",
    "bread": "Bake the bread at 230 degrees for half an hour.",
    "long": "upload " + "and then something else happened to the garden gate " * 40 + "forever",
}


@pytest.fixture
def library(tmp_path: Path) -> SessionLibrary:
    return SessionLibrary.at(StoreLayout(tmp_path / "sessions"))


@pytest.fixture
def history(library: SessionLibrary) -> Iterator[HistorySearch]:
    for day, (name, text) in enumerate(SAID.items(), 1):
        begin(library.store, name, Message(name, "user", (Text(text),), AT.format(day)))
    history = HistorySearch(library.store)
    history.refresh()
    yield history
    history.close()


def hits(history: HistorySearch, text: str) -> list[Hit]:
    *_, results = history.search(parse_query(text), limit=50)
    return list(results.ranked)


def keys(history: HistorySearch, text: str) -> list[str]:
    return [hit.message_id for hit in hits(history, text)]


def test_a_question_finds_what_answers_it(history: HistorySearch) -> None:
    found = keys(history, "how do I make the upload job stop retrying forever?")
    assert found[0] == "uploader"
    assert "bread" not in found


@pytest.mark.parametrize(
    ("words", "found"),
    (
        ("retrying", {"uploader", "retry"}),
        ("uploads", {"uploader", "long"}),
        ("Häusern", {"haus"}),
        ("сервер", {"russian"}),
    ),
)
def test_other_forms_of_a_word_are_found(
    history: HistorySearch, words: str, found: set[str]
) -> None:
    assert set(keys(history, words)) == found


def test_a_mistyped_word_finds_what_was_meant(history: HistorySearch) -> None:
    assert keys(history, "conection poll exausted")[0] == "pool"
    assert keys(history, "bred")[0] == "bread"


def test_a_word_that_is_still_typed_is_not_taken_for_a_misspelling(history: HistorySearch) -> None:
    *_, results = history.search(parse_query("connec", typing=True), limit=50)
    assert [hit.message_id for hit in results.ranked] == ["pool"]
    assert [term.text for term in results.marked] == ["connec"]


def test_exact_words_come_before_other_forms(history: HistorySearch) -> None:
    assert keys(history, "retry") == ["retry", "uploader"]
    assert keys(history, "retries") == ["uploader", "retry"]


def test_a_quoted_word_has_no_other_forms(history: HistorySearch) -> None:
    assert keys(history, '"retry"') == ["retry"]
    assert keys(history, '"retrying"') == []
    assert keys(history, '"upload" retrying')[0] == "uploader"
    assert "retry" not in keys(history, '"upload" retrying')


def test_a_word_with_a_minus_leaves_messages_out(history: HistorySearch) -> None:
    assert keys(history, "retry -server") == ["uploader"]
    assert keys(history, 'forever -"garden gate"') == ["uploader"]


def test_words_that_stand_near_each_other_raise_a_message(history: HistorySearch) -> None:
    assert keys(history, "uploading something forever")[:1] == ["long"]
    assert keys(history, "uploads forever")[:1] == ["uploader"]


def test_the_forms_that_were_found_are_marked(history: HistorySearch) -> None:
    [hit] = hits(history, "exhausting workers")
    marked = {hit.snippet.text[start:end] for start, end in hit.snippet.marks}
    assert marked == {"exhausted", "workers"}


def test_a_message_with_all_words_as_beginnings_is_a_whole_hit_among_partial_ones(
    history: HistorySearch,
) -> None:
    whole, *partial = hits(history, "uplo attem forev")
    marked = [whole.snippet.text[start:][:4] for start, _ in whole.snippet.marks]
    assert (whole.message_id, whole.covered) == ("uploader", 1.0)
    assert marked == ["uplo", "fore", "atte"]
    assert partial and all(hit.covered < 1 for hit in partial)


def test_days_of_a_question_are_those_of_its_hits(history: HistorySearch) -> None:
    query = parse_query("retrying")
    *_, results = history.search(query, limit=50)
    overview = history.overview(query, results.where, results.others)
    assert overview and (overview.total, overview.sessions) == (2, 2)


def test_copies_of_a_message_are_one_hit_with_its_places(
    library: SessionLibrary, history: HistorySearch
) -> None:
    for name in ("copy", "fork"):
        said = Message("uploader", "user", (Text(SAID["uploader"]),), AT.format(20))
        begin(library.store, name, said)
    history.refresh()
    [hit] = hits(history, '"upload job"')
    places = {hit.session_id, *(place.session_id for place in hit.places)}
    assert places == {"uploader", "copy", "fork"}
    overview = history.overview(parse_query('"upload job"'))
    assert overview and (overview.total, overview.sessions) == (1, 3)


@pytest.mark.parametrize(
    ("one", "other", "far"),
    (("retry", "retry", 0), ("rerty", "retry", 1), ("rety", "retry", 1), ("retrx", "reply", 3)),
)
def test_typos_are_counted_as_people_make_them(one: str, other: str, far: int) -> None:
    assert distance(one, other) == far
