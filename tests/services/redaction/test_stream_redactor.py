"""Redacting in chunks: however a text is cut, the result is the same and nothing leaks early."""

from __future__ import annotations

import random
from itertools import pairwise

from hypothesis import example, given, settings
from hypothesis import strategies as st

from ollm_tui.services.redaction.redactor import Redactor
from ollm_tui.services.redaction.rule import REACH
from ollm_tui.services.redaction.stream_redactor import StreamRedactor
from tests.services.redaction.fake_secrets import FORMATS, SETTINGS, fill, placed
from tests.services.redaction.further_texts import FURTHER_SETTINGS
from tests.services.redaction.harmless_texts import HARMLESS

KNOWN = "two words\nand ünicode"
REDACTOR = Redactor([KNOWN, "abcd1234efgh"])
PIECES = (
    *(" ", "\n", '"', "'", "=", ": ", ":", ",", "-", "_", "&", "\\n", "%3D", "…", "字", "is ", ">"),
    *("password", "token", "api_key", "secret", "KEY", "auth", "Bearer ", "Authorization: "),
    *("-----BEGIN ", "PRIVATE KEY-----", "-----END ", "value", "cookie: a=", "identified by '"),
    *("://me:", "@host", " -u me:", "\x1b[1m", "\r\n", "hunter2", "abc123def456", KNOWN, KNOWN[:7]),
    *("str = ", "x" * 40, "A1b2" * 80, "abcd1234efgh", "\ud800", "Private-Lines: 3\n"),
)


@st.composite
def secretive_texts(draw: st.DrawFn) -> str:
    """Secrets, harmless look-alikes and the pieces of which both are made, in any order."""
    rng = random.Random(draw(st.integers(0, 10**6)))
    piece = st.one_of(
        st.sampled_from(PIECES),
        st.sampled_from(sorted(FORMATS)).map(lambda name: FORMATS[name](rng)),
        st.sampled_from((*SETTINGS, *FURTHER_SETTINGS)).map(lambda where: placed(where, rng)[0]),
        st.sampled_from(HARMLESS),
        st.text(max_size=3),
    )
    return "".join(draw(st.lists(piece, max_size=12)))


def cut(text: str, places: list[int]) -> list[str]:
    borders = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    return [text[start:end] for start, end in pairwise(borders)]


def streamed(chunks: list[str]) -> str:
    stream = StreamRedactor(REDACTOR)
    return "".join([stream.feed(chunk) for chunk in chunks] + [stream.end()])


@settings(max_examples=400)
@given(secretive_texts(), st.lists(st.integers(0, 10**9), max_size=30))
@example("password: hunter2 = 5", [17])
@example("a password i", [11])
@example(f"X-Api-Key: uxgoCnrrl7Q1ERn7CNeInMMC_key=True, 'users.id'ops_eyJ{'aB3d' * 80}", [53])
def test_any_cut_gives_the_same_as_the_whole(text: str, places: list[int]) -> None:
    assert streamed(cut(text, places)) == REDACTOR.redact(text)


@settings(max_examples=100)
@given(secretive_texts())
@example(f">ops_eyJ{'aB3d' * 80}")
@example(f"..F.s.{'CAESIAo4' * 3}")
@example("....sk_live_4eC39HqLyjWDarjtT1zdp7dc")
def test_one_character_at_a_time_gives_the_same_as_the_whole(text: str) -> None:
    assert streamed(list(text[:3000])) == REDACTOR.redact(text[:3000])


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.lists(st.integers(0, 10**9), max_size=8))
def test_runs_longer_than_anything_held_back_make_no_difference(
    seed: int, places: list[int]
) -> None:
    rng = random.Random(seed)
    names = rng.choices(sorted(FORMATS), k=6)
    filling = [fill(rng, ("a", rng.randint(0, 20_000))) for _ in names]
    text = "".join(f"{pad}-{FORMATS[name](rng)}:" for name, pad in zip(names, filling, strict=True))
    assert streamed(cut(text, places)) == REDACTOR.redact(text)


def test_harmless_words_come_out_at_once() -> None:
    stream = StreamRedactor(REDACTOR)
    assert stream.feed("Continue? [y/N] ") == "Continue? [y/N] "
    assert stream.feed("The key to it all, ") == "The key to it all, "
    assert stream.feed("line\nnext wo") == "line\nnext "
    assert stream.feed("rd 字") == "word 字"
    assert stream.end() == ""


def test_what_is_held_back_is_bounded() -> None:
    stream = StreamRedactor(REDACTOR)
    for chunk in ("-----BEGIN PRIVATE KEY-----\n", *(["Ab1 " * 250] * 60), *(["Ab1x" * 250] * 60)):
        stream.feed(chunk)
    assert len(stream.end()) <= 2 * REACH


def test_a_stream_can_be_used_again_after_its_end() -> None:
    stream = StreamRedactor(REDACTOR)
    stream.feed("password = ")
    assert stream.end() == "password = "
    assert stream.feed("hunter2 ") == "hunter2 "
