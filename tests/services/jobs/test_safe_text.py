"""What a job printed, in parts: no secret is shown, wherever a part begins or ends."""

from __future__ import annotations

import random
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_tui.core.job import StreamPart
from ollm_tui.services.jobs.safe_text import LEAD_BYTES, hidden, safe_part, settled_part
from ollm_tui.services.redaction.redactor import Redactor
from tests.services.redaction.fake_secrets import fill, pem

TOKEN = fill(random.Random(5), "gh", "p_", ("a", 36))
OUTPUT = f"first line\nthe token: {TOKEN}\nwörter, and {TOKEN} again\nlast line\n"


def read_in_parts(data: bytes, cuts: list[int]) -> list[str]:
    """As one does who asks again and again while the job goes on printing."""
    texts: list[str] = []
    since = 0
    for end in (*sorted(cuts), len(data)):
        start = max(since - LEAD_BYTES, 0)
        part = StreamPart(start, data[start:end])
        text, since = safe_part(part, Redactor(), since, ended=end == len(data))
        texts.append(text)
    return texts


@given(st.lists(st.integers(0, len(OUTPUT.encode())), max_size=8))
def test_parts_are_together_what_the_whole_is(cuts: list[int]) -> None:
    text = "".join(read_in_parts(OUTPUT.encode(), cuts))
    # Some letters that may begin any word are given out before the rest tells what they are.
    assert re.sub(r"gh?p?(?=\[REDACTED)", "", text) == Redactor().redact(OUTPUT)


@given(st.lists(st.integers(0, len(OUTPUT)), max_size=8))
def test_pieces_of_a_text_hide_what_the_text_hides(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(OUTPUT)]
    pieces = [OUTPUT[start:end] for start, end in pairwise(edges)]
    assert "".join(hidden(pieces, Redactor())) == Redactor().redact(OUTPUT)


def test_progress_is_shown_before_its_line_ends() -> None:
    for shown in (b"test_a.py ....F..", b"[=====>", b".....", b"45 % "):
        assert settled_part(shown, Redactor()) == shown


@pytest.mark.parametrize("secret", [TOKEN, "correct horse battery staple"])
def test_nothing_of_a_secret_is_shown_before_the_rest_of_it_comes(secret: str) -> None:
    redactor = Redactor(["correct horse battery staple"])
    for cut in range(1, len(secret)):
        assert settled_part(b"it is " + secret[:cut].encode(), redactor) == b"it is "


def test_the_rest_of_a_key_whose_beginning_is_gone_is_not_shown() -> None:
    key = pem(random.Random(2))
    part = StreamPart(5000, f"{key[200:]}\nafter\n".encode(), truncated=True)
    assert safe_part(part, Redactor(), ended=True).text == "\nafter\n"
