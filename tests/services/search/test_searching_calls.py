"""What was run is found as what was said is: commands of the user, and all a tool printed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from ollm_tui.core.events import StoreEvent, ToolCallRecorded
from ollm_tui.core.search import Hit, Query, Term
from ollm_tui.core.session.message import Message, ToolCallPart, ToolResultPart
from ollm_tui.core.session.record import AnyRecord, MessageAdded, ToolCallAdded
from ollm_tui.core.session.session import ToolCall, ToolResult
from ollm_tui.services.search.indexing import IndexFeed
from ollm_tui.services.search.query import parse_query
from ollm_tui.services.search.searchable import END_CHARACTERS, searched_output
from ollm_tui.services.search.searching import HistorySearch
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.services.topic import Topic
from ollm_tui.storage.store_layout import StoreLayout
from tests.crash.samples import begin, user_message
from tests.services.search.test_indexing import Gathered

AT = "2025-10-14T12:00:00.000000Z"


@pytest.fixture
def library(tmp_path: Path) -> SessionLibrary:
    library = SessionLibrary.at(StoreLayout(tmp_path / "sessions"))
    begin(library.store, "one", user_message("m", "about fish"))
    return library


@pytest.fixture
def history(library: SessionLibrary) -> Iterator[HistorySearch]:
    history = HistorySearch(library.store)
    yield history
    history.close()


def command(code: str, printed: str, number: int = 1) -> ToolCallAdded:
    args = {"code": code, "language": "shell"}
    call = ToolCall(f"job-one-{number}", "exec", args, ToolResult(f"{printed}\n[exit 0]"), AT)
    return ToolCallAdded(at=AT, tool_call=call)


def add(library: SessionLibrary, *records: AnyRecord) -> None:
    library.record("one", lambda _: list(records))


def found(history: HistorySearch, text: str) -> list[Hit]:
    history.refresh()
    *_, results = history.search(parse_query(text), limit=50)
    return list(results.hits)


def keys(history: HistorySearch, text: str) -> list[str]:
    return [hit.message_id for hit in found(history, text)]


def test_a_command_of_the_user_is_found_by_what_was_typed_and_what_it_printed(
    library: SessionLibrary, history: HistorySearch
) -> None:
    add(library, command("ls aquarium", "zebrafish\nguppy"))
    [hit] = found(history, "aquarium")
    assert (hit.session_id, hit.message_id, hit.role) == ("one", "job-one-1", "tool")
    assert (hit.timestamp, hit.on_branch, hit.has_tool) == (AT, True, True)
    assert hit.snippet.text == "! ls aquarium"
    [hit] = found(history, "zebra")
    assert "zebrafish" in hit.snippet.text
    assert keys(history, "has:tool") == keys(history, "role:tool") == ["job-one-1"]
    assert keys(history, "in:2025-10") == ["job-one-1"]
    assert keys(history, "fish") == ["m", "job-one-1"]


def test_what_was_cut_for_the_model_is_found_at_the_answer_of_the_tool(
    library: SessionLibrary, history: HistorySearch
) -> None:
    given = "first\n[… 2 lines, 19 characters cut here …]\nlast"
    asked = Message("ask", "assistant", (ToolCallPart("c", "list", {}),), AT)
    answer = Message("answer", "tool", (ToolResultPart("c", "list", given),), AT)
    call = ToolCall("c", "list", {}, ToolResult(given, "first\nzebrafish\nguppy\nlast"), AT)
    added = (MessageAdded(at=AT, message=each) for each in (asked, answer))
    add(library, *added, ToolCallAdded(at=AT, tool_call=call))
    assert keys(history, "zebrafish") == ["answer"]
    assert keys(history, '"guppy last"') == ["answer"]
    assert keys(history, "characters") == []
    assert set(keys(history, "has:tool")) == {"ask", "answer"}


def test_calls_of_the_same_id_are_told_apart(
    library: SessionLibrary, history: HistorySearch
) -> None:
    add(library, command("echo one", "zebrafish"), command("echo two", "guppy"))
    assert [keys(history, word) for word in ("zebrafish", "guppy")] == [
        ["job-one-1"],
        ["job-one-1~2"],
    ]


def test_another_text_for_the_eye_is_found_beside_what_the_model_was_given() -> None:
    assert searched_output("the words of a file", "1 line") == ["the words of a file", "1 line"]
    given = "a\n[… 1 line, 3 characters cut here …]\nc"
    assert searched_output(given, "a\nbbb\nc") == ["a\nbbb\nc"]
    assert searched_output(given, "something else") == [given, "something else"]


def test_of_a_huge_output_the_beginning_and_the_end_are_found(
    library: SessionLibrary, history: HistorySearch
) -> None:
    much = "word " * END_CHARACTERS
    add(library, command("cat huge", f"zebrafish\n{much}\nshark\n{much}\nguppy"))
    assert keys(history, "zebrafish") == keys(history, "guppy") == ["job-one-1"]
    assert keys(history, "shark") == []
    [text] = searched_output(much)
    assert len(text) < 2 * END_CHARACTERS + 10
    assert set(text.split()) == {"word", "…"}


def test_commands_are_no_messages_where_those_are_counted(
    library: SessionLibrary, history: HistorySearch
) -> None:
    add(library, command("ls", "zebrafish"))
    history.refresh()
    assert [day.messages for day in history.activity()] == [1]


def test_an_index_of_an_earlier_version_is_made_anew_with_what_was_run(
    library: SessionLibrary,
) -> None:
    add(library, command("ls", "zebrafish"))
    history = HistorySearch(library.store)
    history.refresh()
    history.close()
    connection = sqlite3.connect(library.store.layout.search)
    connection.executescript(
        "ALTER TABLE messages DROP COLUMN is_call; DELETE FROM messages WHERE role = 'tool';"
        "PRAGMA user_version = 3"
    )
    connection.close()
    history = HistorySearch(library.store)
    assert keys(history, "zebrafish") == ["job-one-1"]
    history.close()


def test_a_command_is_put_into_the_index_without_a_message() -> None:
    topic, gathered = Topic[StoreEvent](), Gathered()
    feed = IndexFeed(topic, gathered.refresh, quiet_seconds=0.01)
    topic.publish(ToolCallRecorded("one", "job-one-1"))
    assert gathered.came.wait(10)
    feed.close()


def test_a_command_that_is_gone_from_its_session_is_gone_from_the_index(
    library: SessionLibrary, history: HistorySearch
) -> None:
    add(library, command("ls", "zebrafish"))
    history.refresh()
    library.delete("one")
    history.refresh()
    assert not next(history.search(Query((Term("zebrafish"),)), limit=5)).total
