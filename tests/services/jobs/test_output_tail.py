"""The tail of a stream: the last bytes exactly, at the right offsets, cut between characters."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ollm_tui.core.job import StreamPart
from ollm_tui.services.jobs.output_tail import OutputTail

chunks = st.lists(st.binary(max_size=40), max_size=20)


@given(chunks, st.integers(1, 60), st.integers(0, 900))
def test_a_tail_gives_the_last_bytes_from_any_offset(
    parts: list[bytes], most: int, start: int
) -> None:
    tail = OutputTail(most)
    for part in parts:
        tail.add(part)
    whole = b"".join(parts)
    first = max(0, len(whole) - most)
    read = tail.read(start)
    assert tail.total == len(whole)
    assert read.data == whole[max(start, first) :]
    assert read.end == len(whole)
    assert read.start == min(max(start, first), len(whole))
    assert read.truncated == (start < first)
    assert tail.truncated == (first > 0)


@given(chunks, st.integers(1, 60))
def test_settling_changes_nothing_that_can_be_read(parts: list[bytes], most: int) -> None:
    tail = OutputTail(most)
    for part in parts:
        tail.add(part)
    before = tail.read()
    tail.settle()
    assert tail.read() == before
    assert tail.kept <= most


@given(chunks, chunks)
def test_a_forgotten_tail_keeps_counting(before: list[bytes], after: list[bytes]) -> None:
    tail = OutputTail()
    for part in before:
        tail.add(part)
    tail.forget()
    for part in after:
        tail.add(part)
    total = sum(map(len, before + after))
    assert tail.read() == StreamPart(total, b"", total > 0)


@given(st.text(max_size=60), st.data())
def test_reading_on_and_on_gives_every_character_once(text: str, data: st.DataObject) -> None:
    stream = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace").encode()
    tail = OutputTail()
    seen, at, offset = "", 0, 0
    while at < len(stream):
        step = data.draw(st.integers(1, 7))
        tail.add(stream[at : at + step])
        at += step
        part = tail.read(offset).on_character_borders(ended=False)
        seen += part.data.decode()
        offset = part.end
    seen += tail.read(offset).on_character_borders(ended=True).data.decode()
    assert seen.encode() == stream


@given(st.text(min_size=1, max_size=60), st.integers(1, 50))
def test_a_tail_is_never_decoded_from_the_middle_of_a_character(text: str, most: int) -> None:
    stream = text.encode("utf-8", "replace")
    tail = OutputTail(most)
    tail.add(stream)
    part = tail.read().on_character_borders(ended=True)
    assert stream.decode().endswith(part.data.decode())


def test_text_for_the_screen_has_no_terminal_controls() -> None:
    part = StreamPart(0, b"a\x1b[31mred\x1b]52;c;eHg=\x07\r\n\xff")
    assert part.text() == "ared\n\ufffd"
