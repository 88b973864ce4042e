"""Sealed bytes: they open with the right key in the right place, and never otherwise."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_tui.storage.files.cipher import KEY_BYTES, MARK, AesGcm, CannotOpenError, Plain

KEY, OTHER_KEY = bytes(KEY_BYTES), bytes([1]) * KEY_BYTES
places = st.text(st.characters(codec="utf-8"), max_size=20)


@given(st.binary(), places)
def test_what_is_sealed_opens_again(data: bytes, place: str) -> None:
    cipher = AesGcm(KEY)
    sealed = cipher.seal(data, place)
    assert cipher.open(sealed, place) == data
    assert sealed.startswith(MARK) and sealed.isascii() and b"\n" not in sealed


@given(st.binary(min_size=12), places)
def test_the_same_bytes_are_never_sealed_alike_and_do_not_show(data: bytes, place: str) -> None:
    cipher = AesGcm(KEY)
    first, second = cipher.seal(data, place), cipher.seal(data, place)
    assert first != second
    assert data not in first[len(MARK) :]


@given(st.binary(), places, places, st.integers(0, 10**6))
def test_another_key_place_or_bit_does_not_open(
    data: bytes, place: str, elsewhere: str, at: int
) -> None:
    sealed = AesGcm(KEY).seal(data, place)
    with pytest.raises(CannotOpenError):
        AesGcm(OTHER_KEY).open(sealed, place)
    with pytest.raises(CannotOpenError):
        Plain().open(sealed, place)
    if elsewhere != place:
        with pytest.raises(CannotOpenError):
            AesGcm(KEY).open(sealed, elsewhere)
    body = bytearray(sealed)
    at = len(MARK) + at % (len(sealed) - len(MARK))
    body[at] = body[at] ^ 1
    with pytest.raises(CannotOpenError):
        assert AesGcm(KEY).open(bytes(body), place) != data


def test_bytes_that_were_never_sealed_are_read_as_they_are() -> None:
    assert AesGcm(KEY).open(b'{"a":1}', "x") == b'{"a":1}'
    assert Plain().open(Plain().seal(b"abc", "x"), "x") == b"abc"
