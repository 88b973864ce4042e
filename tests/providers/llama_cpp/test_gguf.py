"""Reading what a model file says about itself, also when it is damaged."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_tui.core.errors import Unavailable
from ollm_tui.providers.llama_cpp.gguf import ModelHeader, read_header

NUMBER, TEXT, LIST, FLOAT = 4, 8, 9, 6


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def entry(key: str, kind: int, value: bytes) -> bytes:
    return text(key) + struct.pack("<I", kind) + value


def header(*entries: bytes) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(entries)) + b"".join(entries)


WHOLE = header(
    entry("general.architecture", TEXT, text("llama")),
    entry("general.size_label", TEXT, text("135M")),
    entry("general.tags", LIST, struct.pack("<IQ", TEXT, 2) + text("a") + text("b")),
    entry("llama.rope.freq_base", FLOAT, struct.pack("<f", 1.0)),
    entry("llama.layers", LIST, struct.pack("<IQ", NUMBER, 2) + struct.pack("<II", 1, 2)),
    entry("llama.context_length", NUMBER, struct.pack("<I", 8192)),
    entry("tokenizer.ggml.tokens", LIST, b"not read"),
)


def test_the_window_and_size_are_found_between_values_of_other_kinds(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(WHOLE)
    assert read_header(path) == ModelHeader("llama", "135M", 8192)


def test_names_lose_what_a_terminal_would_obey(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(header(entry("general.size_label", TEXT, text("\x1b[2J1B"))))
    assert read_header(path).parameters == "[2J1B"


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(b"<html>not found</html>")
    with pytest.raises(Unavailable, match=r"model\.gguf is not a model file"):
        read_header(path)


@given(cut=st.integers(0, WHOLE.index(b"tokenizer")))
def test_a_header_that_ends_early_is_refused(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(WHOLE[:cut])
    with pytest.raises(Unavailable):
        read_header(path)


@given(place=st.integers(4, len(WHOLE) - 1), value=st.binary(min_size=1, max_size=9))
def test_any_damage_ends_in_a_header_or_a_plain_error(
    tmp_path: Path, place: int, value: bytes
) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(WHOLE[:place] + value + WHOLE[place + len(value) :])
    try:
        read_header(path)
    except Unavailable as error:
        assert error.message.startswith("model.gguf")
