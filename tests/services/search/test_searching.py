"""Searching: what comes first, what is shown of it, and that it can be stopped."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from ollm_tui.core.search import Hit, Order, Query, Term
from ollm_tui.core.session.message import Message, Role, Text, ToolCallPart, ToolResultPart
from ollm_tui.services.search.query import parse_query
from ollm_tui.services.search.searching import HistorySearch
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.files.cipher import AesGcm
from ollm_tui.storage.store_layout import StoreLayout
from tests.crash.samples import begin, empty_session, go_on


def message(
    key: str, text: str, role: Role = "user", day: int = 14, parent: str | None = None
) -> Message:
    at = f"2025-10-{day:02}T12:00:00.000000Z"
    return Message(key, role, (Text(text),), at, parent_id=parent)


@pytest.fixture
def library(tmp_path: Path) -> SessionLibrary:
    return SessionLibrary.at(StoreLayout(tmp_path / "sessions"))


@pytest.fixture
def history(library: SessionLibrary) -> Iterator[HistorySearch]:
    history = HistorySearch(library.store)
    yield history
    history.close()


def found(history: HistorySearch, text: str, order: Order = "relevance") -> list[Hit]:
    history.refresh()
    *_, results = history.search(parse_query(text), limit=50, order=order)
    return list(results.hits)


def keys(history: HistorySearch, text: str, order: Order = "relevance") -> list[str]:
    return [hit.message_id for hit in found(history, text, order)]


def test_the_users_words_weigh_more_than_the_models(
    library: SessionLibrary, history: HistorySearch
) -> None:
    begin(library.store, "one", message("user", "about retries", day=1))
    begin(library.store, "two", message("model", "about retries", "assistant", day=2))
    result = ToolResultPart("c", "read_file", "about retries")
    begin(library.store, "three", replace(message("tool", "", "tool", day=3), parts=(result,)))
    assert keys(history, "retries") == ["user", "model", "tool"]
    assert keys(history, "retries", "time") == ["tool", "model", "user"]


def test_beginnings_of_words_come_before_what_is_inside_of_them(
    library: SessionLibrary, history: HistorySearch
) -> None:
    begin(library.store, "one", message("inside", "def getUserName(): ...", day=3))
    begin(library.store, "two", message("begins", "a username", day=1))
    assert keys(history, "username") == ["begins", "inside"]
    first, last = history.search(parse_query("username"), limit=50)
    assert [hit.message_id for hit in first.hits] == ["begins"]
    assert last.where == "anywhere"


def test_whole_words_come_before_beginnings_of_words(
    library: SessionLibrary, history: HistorySearch
) -> None:
    begin(library.store, "one", message("longer", "selfish selfish selfish", day=3))
    begin(library.store, "two", message("whole", "by its self and so on and on", day=1))
    assert keys(history, "self") == ["whole", "longer"]
    assert keys(history, "self", "time") == ["longer", "whole"]
    [first] = history.search(Query((Term("self"),)), limit=1)
    assert [hit.message_id for hit in first.hits] == ["whole"]
    assert first.at_least


def test_hits_are_grouped_by_session_with_its_title(
    library: SessionLibrary, history: HistorySearch
) -> None:
    for name in ("one", "two"):
        session = replace(
            empty_session(name, title=f"title of {name}"),
            messages=(
                message(f"{name}-1", f"retry {name}"),
                message(f"{name}-2", f"retry {name} again"),
            ),
        )
        library.add(session)
    history.refresh()
    [results] = history.search(Query((Term("retry"),)), limit=2, order="time")
    assert (len(results.hits), results.total, results.at_least) == (2, 4, False)
    *_, results = history.search(Query((Term("retry"),)), limit=50)
    titles = {session.title: len(session.hits) for session in results.sessions}
    assert titles == {"title of one": 2, "title of two": 2}


def test_a_hit_on_another_branch_says_so(library: SessionLibrary, history: HistorySearch) -> None:
    begin(
        library.store, "one", message("root", "question"), message("old", "banana", parent="root")
    )
    go_on(library.store, "one", message("new", "cherry", parent="root"))
    assert [(hit.message_id, hit.on_branch) for hit in found(history, "banana")] == [("old", False)]
    assert found(history, "cherry")[0].on_branch
    assert keys(history, "branch:other") == ["old"]
    library.change("one", head="old")
    assert found(history, "banana")[0].on_branch


def test_tools_are_found_by_what_they_were_asked_and_what_they_answered(
    library: SessionLibrary, history: HistorySearch
) -> None:
    call = ToolCallPart("c", "read_file", {"path": "src/upload.py", "lines": [1, {"to": "end"}]})
    result = ToolResultPart("c", "read_file", "def upload(): pass")
    said = message("plain", "please upload")
    begin(
        library.store,
        "one",
        said,
        replace(said, id="call", role="assistant", parts=(call,)),
        replace(said, id="result", role="tool", parts=(result,)),
    )
    assert set(keys(history, "upload")) == {"plain", "call", "result"}
    assert set(keys(history, "upload has:tool")) == {"call", "result"}
    assert keys(history, "upload role:tool") == ["result"]
    assert keys(history, "end") == ["call"]


def test_projects_and_models_narrow_a_search(
    library: SessionLibrary, history: HistorySearch
) -> None:
    for name, project in (("one", "/work/api"), ("two", "/work/api/inner"), ("three", "/x/a_i")):
        session = replace(empty_session(name), project=project, model=f"model-{name}")
        library.add(replace(session, messages=(message(name, f"retry {name}"),)))
    assert set(keys(history, "project:api")) == {"one"}
    assert set(keys(history, "project:/work/api")) == {"one", "two"}
    assert keys(history, "project:a_i") == ["three"]
    assert keys(history, "retry model:TWO") == ["two"]


def test_a_snippet_shows_the_place_with_marks_on_the_words(
    library: SessionLibrary, history: HistorySearch
) -> None:
    text = "nothing here\n" * 40 + "The Café retries.\nIt backs off.\n" + "more\n" * 40
    begin(library.store, "one", message("m", text))
    [hit] = found(history, "cafe retr")
    marked = [hit.snippet.text[start:end] for start, end in hit.snippet.marks]
    assert marked == ["Café", "retr"]
    assert "It backs off." in hit.snippet.text
    assert len(hit.snippet.text) < 300


def test_controls_never_come_out_of_a_snippet(
    library: SessionLibrary, history: HistorySearch
) -> None:
    begin(library.store, "one", message("m", "a \x1b[31mred\x07 word \x1b]52;c;x\x07 here"))
    [hit] = found(history, "red word")
    assert "\x1b" not in hit.snippet.text
    assert "\x07" not in hit.snippet.text


def test_days_are_counted_for_a_timeline(library: SessionLibrary, history: HistorySearch) -> None:
    begin(library.store, "one", *(message(f"a{n}", f"retry {n}", day=3) for n in range(3)))
    begin(library.store, "two", message("b", "retry", day=9), message("c", "other", day=9))
    history.refresh()
    overview = history.overview(Query((Term("retry"),)))
    assert overview
    noon = [datetime.fromisoformat(f"2025-10-{day}T12:00:00Z") for day in ("03", "09")]
    days = [moment.astimezone().date() for moment in noon]
    assert overview.days == tuple(zip(days, (3, 1), strict=True))
    assert (overview.total, overview.sessions) == (4, 2)


def test_an_empty_search_lists_the_latest(library: SessionLibrary, history: HistorySearch) -> None:
    begin(library.store, "one", message("old", "x", day=1), message("new", "y", day=2))
    assert keys(history, "") == ["new", "old"]


def test_what_is_deleted_is_gone_from_the_index_at_once(
    library: SessionLibrary, history: HistorySearch
) -> None:
    begin(library.store, "one", message("m", "unforgettable passphrase"))
    history.refresh()
    assert b"unforgettable passphrase" in library.store.layout.search.read_bytes()
    library.delete("one")
    assert b"unforgettable passphrase" not in library.store.layout.search.read_bytes()


def test_sealed_sessions_are_searched_in_memory_only(tmp_path: Path) -> None:
    layout = StoreLayout(tmp_path / "sessions")
    plain = HistorySearch(SessionLibrary.at(layout).store)
    plain.refresh()
    plain.close()
    assert layout.search.exists()
    library = SessionLibrary.at(layout, AesGcm(b"k" * 32))
    begin(library.store, "one", message("m", "secret plans"))
    history = HistorySearch(library.store)
    assert keys(history, "secret") == ["m"]
    history.close()
    assert not layout.search.exists()


def test_another_process_finds_what_this_one_indexed(
    library: SessionLibrary, history: HistorySearch
) -> None:
    begin(library.store, "one", message("m", "retry"))
    history.refresh()
    other = HistorySearch(library.store)
    assert [r.total for r in other.search(Query((Term("retry"),)), limit=5)] == [1]
    go_on(library.store, "one", message("n", "retry once more"))
    assert set(keys(other, "retry")) == {"m", "n"}
    assert set(keys(history, "retry")) == {"m", "n"}
    other.close()


def test_a_cancelled_search_ends_with_nothing(
    library: SessionLibrary, history: HistorySearch
) -> None:
    begin(library.store, "one", message("m", "retry"))
    history.refresh()
    search = history.search(Query((Term("etr"),)), limit=5)
    assert next(search).total == 0
    history.cancel()
    assert list(search) == []
    assert next(history.search(Query((Term("retry"),)), limit=5)).total == 1


def test_searching_and_indexing_at_the_same_time_do_not_disturb_each_other(
    library: SessionLibrary, history: HistorySearch
) -> None:
    begin(library.store, "first", message("m", "retry"))
    history.refresh()
    totals: list[int] = []

    def write() -> None:
        for number in range(20):
            begin(library.store, f"s{number}", message(f"m{number}", f"retry {number}"))
            history.refresh()

    writer = threading.Thread(target=write)
    writer.start()
    while writer.is_alive():
        totals += [results.total for results in history.search(Query((Term("retry"),)), limit=99)]
    writer.join()
    assert totals == sorted(totals)
    assert keys(history, "retry role:user")
    assert len(keys(history, "retry")) == 21


def test_a_rebuild_tells_how_far_it_is(library: SessionLibrary, history: HistorySearch) -> None:
    for number in range(3):
        begin(library.store, f"s{number}", message("m", "retry"))
    seen: list[tuple[int, int]] = []
    history.refresh(lambda done, total: seen.append((done, total)))
    assert seen[-1] == (3, 3)
    history.refresh(lambda done, total: seen.append((done, total)))
    assert len(seen) == 1
