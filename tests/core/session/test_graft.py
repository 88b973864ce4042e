"""Messages that are brought along: numbered, kept through drafts, sent as retrievals."""

from __future__ import annotations

from ollm_tui.core.session.graft import GRAFTED, as_sent, as_written, grafted
from ollm_tui.core.session.message import (
    Attachment,
    Message,
    Part,
    Retrieval,
    Text,
    ToolCallPart,
    ToolResultPart,
)
from tests.snapshot_samples import MOMENT, message

PICTURE = Attachment(name="p.png", media_type="image/png", content="iVBORw0KGgo=", path="p.png")
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


def brought(*parts: Part) -> list[Attachment]:
    return grafted([Message("u1", "user", parts, MOMENT)], "s1")


def test_what_came_along_with_words_is_brought_with_them() -> None:
    [carried] = brought(Text("look at this"), PASTE, Retrieval(text="older", session_id="s0"))
    assert carried.content == "look at this\n\npaste 1:\nlog\n\nolder"


def test_a_picture_is_brought_as_a_picture_and_never_as_text() -> None:
    [alone] = brought(PICTURE)
    assert (alone.media_type, alone.content) == ("image/png", PICTURE.content)
    assert as_sent(alone) is alone, "a picture needs no other form"
    words, picture = brought(Text("what is this?"), PICTURE)
    assert (words.media_type, words.content) == (GRAFTED, "what is this?")
    assert picture.content == PICTURE.content and words.name in picture.name


def test_pictures_of_several_messages_have_names_of_their_own() -> None:
    first = brought(PICTURE, PICTURE)
    more = grafted([Message("u2", "user", (PICTURE,), MOMENT)], "s1", first)
    assert len({part.name for part in (*first, *more)}) == 3
    [last] = grafted([message("u3", "user")], "s1", [*first, *more])
    assert last.name == "earlier message 3"


def test_a_picture_whose_bytes_are_gone_is_left_out_with_a_word() -> None:
    [carried] = brought(Attachment(name="p.png", media_type="image/png", content=""))
    assert carried.content == "[the picture p.png is left out]"


def test_of_tools_their_answers_are_brought_and_else_what_they_were_asked() -> None:
    call = ToolCallPart("x", "read_file", {"path": "a"})
    [result] = brought(ToolResultPart("x", "read_file", "content of a"))
    assert result.content == "read_file answered:\ncontent of a"
    [failed] = brought(ToolResultPart("x", "read_file", "no such file", is_error=True))
    assert failed.content == "read_file answered with an error:\nno such file"
    [asked] = brought(call)
    assert asked.content == 'read_file was called with {"path": "a"}'
    [said] = brought(Text("I look at it."), call)
    assert said.content == "I look at it."


def test_no_message_is_brought_as_nothing() -> None:
    [carried] = brought()
    assert carried.content == "[a message without words]"
