"""Links show where they lead; only web addresses are links, and nothing in a text is obeyed."""

from __future__ import annotations

import pytest

from ollm_tui.tui.stream.markdown.text import MarkdownText
from tests.tui.stream.markdown.screen import STYLES, drawn, finished, style_of


def links(text: MarkdownText) -> list[str]:
    return [
        segment
        for y in range(text.line_count)
        for segment, style, _ in text.strip(y)
        if style and style.underline
    ]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("[text](https://a.b)", ["text", "https://a.b"]),
        ('[text](<https://a.b> "title")', ["text", "https://a.b"]),
        ("[https://a.b](https://a.b)", ["https://a.b"]),
        ("<https://a.b>", ["https://a.b"]),
        ("![alt](https://a.b/c.png)", ["[image: alt]", "https://a.b/c.png"]),
        ("[text](notes.md)", ["text", "notes.md"]),
        ("[text](javascript:alert)", ["text", "javascript:alert"]),
        ("[a [b](https://c.d) e](https://f.g)", ["[a b e](https://f.g)", "https://c.d"]),
        ("[w](https://e.org/a_(b))", ["w", "https://e.org/a_(b)"]),
    ],
)
def test_the_target_is_shown_below_unless_it_is_the_text(source: str, expected: list[str]) -> None:
    assert drawn(source) == expected


@pytest.mark.parametrize(
    ("source", "url"),
    [
        ("see https://a.b/c.", "https://a.b/c"),
        ("(https://a.b/c_(d))", "https://a.b/c_(d)"),
        ("**https://a.b**", "https://a.b"),
        ("<http://a.b?x=1&y=2>", "http://a.b?x=1&y=2"),
    ],
)
def test_bare_addresses_are_links(source: str, url: str) -> None:
    assert links(finished(source)) == [url]


@pytest.mark.parametrize(
    "source",
    ["[x](file:///etc/passwd)", "[x](javascript:1)", "<mailto:a@b.c>", "xhttps://a", "[x]()"],
)
def test_other_targets_are_text(source: str) -> None:
    text = finished(source)
    assert links(text) == []
    assert style_of(text, "x" if "x" in source else "mailto") == STYLES.text


def test_text_and_target_of_a_link_look_different() -> None:
    text = finished("日 [text](https://a.b)")
    assert links(text) == ["text"]
    assert style_of(text, "text") == STYLES.text + STYLES.link
    assert style_of(text, "https") == STYLES.text + STYLES.link_target


def test_a_link_over_two_lines_is_on_both() -> None:
    text = finished("https://example.org/long", 12)
    assert links(text) == ["https://exam", "ple.org/long"]


def test_markup_of_the_screen_library_is_plain_text() -> None:
    source = "[@click=app.quit()]press[/] [red]no[/red] [link=https://a.b]x[/link]"
    text = finished(source, 100)
    assert drawn(source, 100) == [source]
    assert all(not style or not style.meta for _, style, _ in text.strip(0))


@pytest.mark.parametrize(
    "source", ["&#27;[31m", "&#x9b;31m", "a\x1b]52;c;x\x07b", "&#x202e;x", "\x85"]
)
def test_nothing_that_steers_a_terminal_gets_through(source: str) -> None:
    for wrapped in (source, f"`{source}`", f"```\n{source}\n```", f"|a|\n|-|\n|{source}|"):
        for line in drawn(wrapped):
            assert not set(line) & set("\x07\x1b\x85\x9b\u202e")


def test_a_target_cannot_hide_controls() -> None:
    _, line = drawn("[x](https://a.b/&#27;]52)")
    assert "\x1b" not in line
