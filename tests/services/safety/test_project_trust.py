"""What the user agreed to is remembered as it was, and only so."""

from __future__ import annotations

from pathlib import Path

import pytest

from ollm_tui.services.safety.project_trust import FILE, Trust, digest_of


def test_an_answer_holds_for_the_content_it_was_given_for(home: Path) -> None:
    Trust(home).keep("instructions:/a", "one", "always")
    Trust(home).keep("hook:ls", "two", "never")
    trust = Trust(home)
    assert trust.verdict("instructions:/a", "one") == "always"
    assert trust.verdict("instructions:/a", "changed") is None
    assert trust.verdict("instructions:/b", "one") is None
    assert trust.verdict("hook:ls", "two") == "never"
    trust.keep("instructions:/a", "changed", "never")
    assert Trust(home).verdict("instructions:/a", "one") is None


def test_nobody_else_can_read_or_change_the_file(home: Path) -> None:
    Trust(home).keep("a", "b", "always")
    assert (home / FILE).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", (b"", b"{", b'{"version": 2, "answers": {}}', b"\xff"))
def test_a_damaged_file_means_that_nothing_is_trusted(home: Path, content: bytes) -> None:
    home.mkdir(parents=True)
    (home / FILE).write_bytes(content)
    trust = Trust(home)
    assert trust.verdict("a", "b") is None
    trust.keep("a", "b", "always")
    assert Trust(home).verdict("a", "b") == "always"


def test_where_nothing_may_be_written_it_is_remembered_until_the_end(home: Path) -> None:
    trust = Trust(home, writes=False)
    trust.keep("a", "b", "always")
    assert trust.verdict("a", "b") == "always"
    assert not (home / FILE).exists()


def test_contents_are_not_mistaken_for_one_another() -> None:
    assert digest_of([b"ab", b"c"]) != digest_of([b"a", b"bc"])
    assert digest_of([b"ab"]) == digest_of(iter([b"ab"]))
