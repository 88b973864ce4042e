"""Lines, server-sent events and JSON from bytes that are cut anywhere."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_tui.providers.wire.json_lines import (
    EventReader,
    LineSplitter,
    UnreadableError,
    decode_json,
)


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(p % (len(data) + 1) for p in places), len(data)]
    return [data[a:b] for a, b in pairwise(edges)]


def lines_of(chunks: list[bytes]) -> list[bytes]:
    splitter = LineSplitter()
    lines = [line for chunk in chunks for line in splitter.feed(chunk)]
    return lines + splitter.finish()


@given(st.binary(max_size=60), st.lists(st.integers(0, 60), max_size=8))
def test_lines_do_not_depend_on_where_the_bytes_are_cut(data: bytes, places: list[int]) -> None:
    assert lines_of(cut(data, places)) == lines_of([data])


def test_only_a_newline_ends_a_line() -> None:
    text = "a\u2028b\u2029c\x85d\x0ce\rf"
    assert lines_of([f"{text}\r\nnext".encode()]) == [text.encode(), b"next"]


def test_a_line_without_end_is_refused_at_the_limit() -> None:
    splitter = LineSplitter(max_bytes=10)
    splitter.feed(b"123456789\n12345")
    with pytest.raises(UnreadableError):
        splitter.feed(b"678901")


def events_of(text: str) -> list[bytes]:
    reader = EventReader()
    found = [reader.feed(line) for line in text.encode().split(b"\n")]
    return [data for data in [*found, reader.finish()] if data is not None]


def test_events_come_without_comments_and_other_fields() -> None:
    text = ': ping\n\nevent: x\nid: 1\ndata: {"a":1}\n\ndata:{"b":2}\n\ndata: one\ndata: two\n\n'
    assert events_of(text) == [b'{"a":1}', b'{"b":2}', b"one\ntwo"]


def test_an_event_at_the_very_end_needs_no_empty_line() -> None:
    assert events_of("data: [DONE]") == [b"[DONE]"]


def test_an_error_field_is_data() -> None:
    assert events_of('error: {"message":"x"}\n\n') == [b'{"message":"x"}']


@given(st.recursive(st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(), st.lists))
def test_json_is_read_as_it_was_written(value: object) -> None:
    assert decode_json(json.dumps(value)) == value


@pytest.mark.parametrize("broken", [b'{"a": "\\ud83d"}', b'{"a": "\xff"}'])
def test_halves_of_characters_become_one_that_can_be_saved(broken: bytes) -> None:
    assert decode_json(broken) == {"a": "\ufffd"}


@pytest.mark.parametrize("broken", [b"", b"{", b"hello", b"[" * 100_000, b'{"a":1}{'])
def test_what_is_no_json_is_said_to_be_none(broken: bytes) -> None:
    with pytest.raises(UnreadableError):
        decode_json(broken)
