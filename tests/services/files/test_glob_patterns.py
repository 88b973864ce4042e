"""Globs that would take too long are refused; the others never do."""

from __future__ import annotations

import pytest

from ollm_tui.core.errors import UsageError
from ollm_tui.services.files.glob_patterns import PathChoice


@pytest.mark.parametrize(
    "pattern",
    (
        "/".join(["**"] * 11),
        "**/a/" * 11 + "b",
        "a*" * 33,
        "x" * 1_001,
        "{a,b}" * 8,
        "nul\0",
    ),
)
def test_a_glob_that_is_too_much_is_refused(pattern: str) -> None:
    with pytest.raises(UsageError):
        PathChoice((pattern,))


def test_stars_that_usually_take_exponential_time_do_not() -> None:
    """It would not end within a lifetime if every star were tried at every place."""
    stars = PathChoice(("*a" * 30 + "b",))
    assert stars.kept(["a" * 2_000, "a" * 2_000 + "b"]) == ["a" * 2_000 + "b"]


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    (
        ("*.py", "deep/down/x.py", True),
        ("src/*.py", "other/src/x.py", False),
        ("src/**/x.py", "src/x.py", True),
        ("docs", "docs/a/b", True),
        ("[!a]*", "b", True),
        ("é?", "éa", True),
        ("\\{a,b\\}", "{a,b}", True),
        ("{a,b/c}.{x,y}", "b/c.y", True),
    ),
)
def test_a_glob_reads_as_in_an_ignore_file(pattern: str, path: str, fits: bool) -> None:
    assert PathChoice((pattern,)).kept([path]) == ([path] if fits else [])
