"""The intake filter: nothing that steers a terminal gets through, everything else does."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_tui.core.intake import SEQUENCE_LIMIT, IntakeFilter, clean, visible
from tests.cases import every

_FORBIDDEN = {
    *map(chr, (*range(0x20), *range(0x7F, 0xA0))),
    *map(chr, (0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))),
    *map(chr, (0x2028, 0x2029, 0xFEFF, 0xFFF9, 0xFFFA, 0xFFFB)),
    *map(chr, range(0xE0000, 0xE0080)),
    *map(chr, range(0xD800, 0xE000)),
} - {"\n", "\t"}

_ALPHABET = (
    "a é字👩\u200d\ufe0f;0?[]()\\PX^_#\n\t\r\x00\x07\x18\x1b\x7f\x85\x90\x98\x9b\x9c\x9d\x9e\x9f"
    "\u202e\u2066\u2028\ufeff\ufffa\U000e0041\ud83d\udc69\udb40"
)
hostile = st.text(st.one_of(st.sampled_from(_ALPHABET), st.characters()), max_size=60)
plain = st.text(
    st.characters(exclude_categories=["Cs"]).filter(lambda c: c not in _FORBIDDEN), max_size=60
)


def _in_chunks(chunks: list[str]) -> str:
    intake = IntakeFilter()
    return "".join([*map(intake.feed, chunks), intake.finish()])


@every(
    ("sequence", "name"),
    [
        ("\x1b[31;1m", "CSI"),
        ("\x1b[?1049h", "private CSI"),
        ("\x1b[3\x071m", "CSI with a control inside"),
        ("\x9b31m", "8-bit CSI"),
        ("\x1b]52;c;aGk=\x07", "OSC ended by BEL"),
        ("\x1b]8;;http://x\x1b\\", "OSC ended by ST"),
        ("\x9d0;title\x9c", "8-bit OSC and ST"),
        ("\x1b]0;cut off\x18", "OSC ended by CAN"),
        ("\x1bP1$r0m\x1b\\", "DCS"),
        ("\x90q#0\x9c", "8-bit DCS"),
        ("\x1bXstart of string\x1b\\", "SOS"),
        ("\x1b^privacy\x1b\\", "PM"),
        ("\x1b_Gf=100\x1b\\", "APC"),
        ("\x98a\x9c\x9eb\x9c\x9fc\x9c", "8-bit SOS, PM and APC"),
        ("\x1bPtmux;\x1b\x1b]52;c;aGk=\x07\x1b\\", "OSC inside DCS"),
        ("\x1bc", "reset"),
        ("\x1b(B", "character set"),
        ("\x1b\x1b[A", "ESC twice"),
        ("\x00\x01\x08\x0b\x0c\x7f\x84\x99", "single controls"),
        ("\u202e\u2066\u2069\u200e\u200f\u061c", "bidi controls"),
        ("\ufeff\ufff9\ufffa\ufffb\U000e0041\udb40\udc41", "unseen characters"),
    ],
)
def test_a_control_sequence_leaves_no_trace_wherever_it_is_cut(sequence: str, name: str) -> None:
    text = f"before {sequence}after"
    assert clean(text) == "before after", name
    for cut in range(len(text) + 1):
        assert _in_chunks([text[:cut], text[cut:]]) == "before after", (name, cut)
    assert _in_chunks(list(text)) == "before after", name


@every(
    ("text", "expected"),
    [
        ("a\r\nb\rc\n\rd\r", "a\nb\nc\n\nd\n"),
        ("a\u2028b\u2029c", "a\nb\nc"),
        ("\r\x1b[0m\n", "\n\n"),
        ("a\x1b\nb", "a\nb"),
        ("a\x1bé", "aé"),
        ("a\x1b[3é", "aé"),
        ("a\x1b[31\nb", "a\nb"),
        ("a\x1b]0;never ended\nb", "a\nb"),
        ("a\x1b]0;never ended", "a"),
        ("a\x1b", "a"),
        ("\ud83d\udc69 \ud83d \udc69", "👩 \ufffd \ufffd"),
        ("a\ud83d", "a\ufffd"),
    ],
)
def test_broken_and_unusual_input_has_one_known_result(text: str, expected: str) -> None:
    assert clean(text) == expected
    assert _in_chunks(list(text)) == expected


@pytest.mark.parametrize("introducer", ["\x1b]0;", "\x1bP", "\x9d", "\x1b_", "\x1b[", "\x9b"])
def test_an_unterminated_sequence_swallows_no_more_than_its_limit(introducer: str) -> None:
    text = introducer + "1" * (SEQUENCE_LIMIT * 2) + "the conversation goes on"
    result = clean(text)
    assert result.endswith("the conversation goes on")
    assert SEQUENCE_LIMIT - 1 <= result.count("1") <= SEQUENCE_LIMIT + 2
    assert _in_chunks(list(text)) == result


def test_a_split_surrogate_pair_is_joined() -> None:
    intake = IntakeFilter()
    assert intake.feed("a\ud83d") == "a"
    assert intake.feed("\udc69b") == "👩b"
    assert intake.finish() == ""


def test_a_filter_can_be_used_again_after_it_finished() -> None:
    intake = IntakeFilter()
    assert intake.feed("a\x1b]0;open") + intake.finish() == "a"
    assert intake.feed("b\r") + intake.finish() == "b\n"
    assert intake.feed("\nc") == "\nc"


def test_text_with_nothing_to_do_is_the_same_object() -> None:
    text = "wörter 字 👩\u200d💻 ❤\ufe0f می\u200cخواهم\n\tcode"
    assert clean(text) is text
    assert IntakeFilter().feed(text) is text


@pytest.mark.parametrize("unit", ["\x1b[", "\x1b", "\x1b]", "\x9b1", "\r", "\ud800", "\x1b[1;"])
def test_a_flood_of_hostile_input_is_filtered_in_linear_time(unit: str) -> None:
    assert not set(clean(unit * (200_000 // len(unit)))) & _FORBIDDEN


@given(hostile, st.data())
def test_any_split_gives_the_same_as_the_whole(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    edges = [0, *cuts, len(text)]
    chunks = [text[start:end] for start, end in pairwise(edges)]
    assert _in_chunks(chunks) == clean(text)
    assert _in_chunks(list(text)) == clean(text)


@given(hostile)
def test_the_output_never_holds_a_forbidden_character(text: str) -> None:
    result = clean(text)
    assert not set(result) & _FORBIDDEN
    assert clean(result) is result


@given(plain)
def test_plain_text_is_untouched(text: str) -> None:
    assert clean(text) is text


@given(plain, plain)
def test_a_sequence_takes_nothing_of_the_text_around_it(before: str, after: str) -> None:
    assert clean(f"{before}\x1b]0;x\x07{after}\x1b[0m") == before + after


def test_what_cannot_be_seen_is_made_visible() -> None:
    assert visible("a\x1b[31m\x00\r\n\t\x7f") == "a␛[31m␀␍\n\t␡"
    assert visible("\u202ex\x9b\u200b\ufe0f\U000e0041\ud800") == (
        "⟨U+202E⟩x⟨U+009B⟩⟨U+200B⟩⟨U+FE0F⟩⟨U+E0041⟩⟨U+D800⟩"
    )


@given(hostile)
def test_visible_text_is_safe_to_show(text: str) -> None:
    assert clean(visible(text)) == visible(text)
