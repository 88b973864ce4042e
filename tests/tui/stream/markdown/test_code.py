"""Code keeps its lines, colours and tabs; long lines go on below with a mark."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ollm_tui.tui.stream.markdown.text import CodeBlock
from tests.tui.stream.markdown.screen import STYLES, drawn, finished, grown, lines, style_of


def test_code_has_a_ground_over_the_whole_width() -> None:
    text = finished("```python\nx = 1\n```", 30)
    for y in range(2):
        assert text.strip(y).cell_length == 30
        assert all(style and style.bgcolor for _, style, _ in text.strip(y))


def test_a_long_line_goes_on_with_a_mark() -> None:
    text = finished("```\n0123456789abcdef\n```", 12)
    assert lines(text) == ["  0123456789", "↳ abcdef"]
    assert [text.plain(0), text.plain(1)] == ["0123456789", "abcdef"]


def test_a_line_of_data_grows_as_it_would_be_drawn_at_once() -> None:
    source = "```json\n" + '{"a": "日本", "b": 1}, ' * 60
    text = grown([], 33)
    for at in range(0, len(source), 7):
        text.feed(source[at : at + 7])
    assert lines(text) == lines(grown([source], 33))


def test_tabs_are_shown_as_four_columns_and_copied_as_tabs() -> None:
    text = finished("```make\nall:\n\techo\n```")
    assert lines(text) == ["make · c copy".rjust(59), "  all:", "      echo"]
    assert text.code_blocks()[0].text == "all:\n\techo\n"


def test_blocks_of_code_know_their_lines_language_and_text() -> None:
    text = finished("Do\n\n```python title=x\na = 1\nb = 2\n```\n\n- it\n\n      indented\n")
    first, second = text.code_blocks()
    assert first == CodeBlock(2, 4, "python", "a = 1\nb = 2\n")
    assert second.text == "indented\n"
    assert second.last_line == text.line_count - 1


@pytest.mark.parametrize(
    ("source", "part", "token"),
    [
        ("```python\ndef f():\n    pass", "def", "Keyword"),
        ('```python\n"""doc\nmore\nend"""\nx = 1', "more", "Literal.String"),
        ("```c\n/* one\ntwo\nthree */ int x;", "two", "Comment"),
        ("```js\n/* one\ntwo */ const x = `a`", "two", "Comment"),
        ("```html\n<!-- one\ntwo -->\n<b>", "two", "Comment"),
        ("```php\n/* one\ntwo */ return 1;", "return", "Keyword"),
        ("```diff\n-gone\n+come", "+come", "Generic.Inserted"),
        ("```json\n{\n  'a': 17}", "17", "Literal.Number"),
        ("```csharp\nclass X {}", "class", "Keyword"),
    ],
)
def test_tokens_have_their_colours_over_lines(source: str, part: str, token: str) -> None:
    assert style_of(finished(source), part) == STYLES.code_block + STYLES.tokens[token]


def test_after_a_comment_code_is_code_again() -> None:
    text = finished("```c\n/* one\ntwo */ return 1;\nreturn 2;")
    assert style_of(text, "return").color == STYLES.tokens["Keyword"].color


def test_an_unknown_language_has_no_colours() -> None:
    assert style_of(finished("```nosuch\nx = 1"), "x = 1") == STYLES.code_block


def test_blank_lines_within_indented_code_stay_and_those_after_it_go() -> None:
    assert drawn("    a\n\n\n    b\n\n\ntext") == ["  a", "", "", "  b", "", "text"]


def test_an_empty_fence_can_be_seen() -> None:
    assert finished("```\n```").line_count == 1


def test_pygments_is_loaded_by_the_first_language() -> None:
    program = (
        "import sys\n"
        "from ollm_tui.tui.stream.markdown.text import MarkdownText\n"
        "from ollm_tui.tui.stream.transcript.looks import transcript_styles\n"
        "from ollm_tui.tui.themes import load_theme\n"
        "text = MarkdownText(transcript_styles(load_theme('dark')).markdown, 80)\n"
        "text.feed('```\\ncode\\n```\\n')\n"
        "before = 'pygments.lexers' in sys.modules\n"
        "text.feed('```python\\n')\n"
        "sys.exit(before or 'pygments.lexers' not in sys.modules)\n"
    )
    result = subprocess.run([sys.executable, "-c", program], check=False)
    assert result.returncode == 0
