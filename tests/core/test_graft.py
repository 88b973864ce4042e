"""Messages that are brought along: numbered, kept through drafts, sent as retrievals."""

from __future__ import annotations

from ollm_tui.core.graft import GRAFTED, as_sent, as_written, grafted
from ollm_tui.core.message import Attachment, Message, Retrieval, Text
from tests.snapshot_samples import MOMENT, message

PASTE = Attachment(name="paste 1", media_type="text/plain", content="log")


def test_a_message_is_sent_as_a_retrieval_that_says_where_it_is_from() -> None:
    [carried] = grafted([message("u1", "user")], "s1")
    assert as_sent(carried) == Retrieval(text="words of u1", session_id="s1", message_id="u1")
    assert not as_sent(carried).trusted
    assert as_sent(PASTE) is PASTE


def test_more_of_them_are_numbered_on() -> None:
    first = grafted([message("u1", "user"), message("u2", "user")], "s1")
    more = grafted([message("u3", "user")], "s2", [PASTE, *first])
    names = [part.name for part in (*first, *more)]
    assert names == ["earlier message 1", "earlier message 2", "earlier message 3"]


def test_without_words_what_it_brought_along_is_brought() -> None:
    [carried] = grafted([Message("u1", "user", (PASTE,), MOMENT)], "s1")
    assert carried.content == "log"


def test_a_message_that_is_edited_has_them_again_under_the_same_names() -> None:
    parts = (
        Text("see [earlier message 1]"),
        PASTE,
        Retrieval(text="old", session_id="s1", message_id="u1"),
    )
    again = as_written(Message("u9", "user", parts, MOMENT))
    assert again == [
        PASTE,
        Attachment(name="earlier message 1", media_type=GRAFTED, content="old", path="s1/u1"),
    ]
    assert as_sent(again[1]) == parts[2]
