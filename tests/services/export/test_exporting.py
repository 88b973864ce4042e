"""Exports: JSON that comes back equal, Markdown that keeps the words, HTML that is only text."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from msgspec.structs import replace

from ollm_tui.core.intake import UNSAFE, clean
from ollm_tui.core.session.compression import CompressedContext
from ollm_tui.core.session.encoding import decode_session
from ollm_tui.core.session.message import (
    Approval,
    Attachment,
    Message,
    Part,
    Reasoning,
    Retrieval,
    Status,
    Text,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
)
from ollm_tui.core.session.session import Session, ToolCall, ToolResult
from ollm_tui.services.export.exporting import export_session
from ollm_tui.services.export.markdown_html import markdown_html
from tests.cases import every, some
from tests.conftest import LONG
from tests.snapshot_samples import checkpoint, compression

HOSTILE = [
    *("<", ">", '"', "'", "&", "&lt;", "<script>", "</pre>", "</style>", "<!--", "-->", "]]>"),
    *('" onclick="x', "javascript:x", "[a](", ")", "[", "]", "http://x", "https://y?a&b", "//"),
    *("*", "**", "_", "`", "```", "~~~", "\n", "\n\n", "# ", "- ", "1. ", " ", "word", "é", "字"),
    *("|", "\n| a | b |\n|---|:-:|\n|", "\\|", "> ", "\n>"),
    *("![a](", "~~", "    ", "\\", "&#8238;", "&#27;]0;", "&#x2028;", "<http://", '(http://x "'),
    *("\x1b]0;x\x07", "\u202e", "\ud800", "\r", "\x00", "</details>", "---"),
]
hostile = st.lists(st.sampled_from(HOSTILE) | st.text(max_size=4), max_size=25).map("".join)


def _session(*messages: Message, title: str = "A title") -> Session:
    return Session(
        session_id="550e8400-e29b-41d4-a716-446655440000",
        start_time="2026-01-27T10:00:00.000000Z",
        last_activity="2026-01-27T11:30:00.000000Z",
        model="llama3.2:3b",
        provider="ollama",
        messages=messages,
        title=title,
    )


def _message(*parts: Part, status: Status = "complete", error: str | None = None) -> Message:
    return Message(
        id="m",
        role="assistant",
        parts=parts,
        timestamp="2026-01-27T12:00:05.250000+02:00",
        model="llama3.2:3b",
        status=status,
        error=error,
    )


def _everywhere(text: str) -> Session:
    """A session with the same foreign text in every place that can hold one."""
    message = _message(
        Text(text=text),
        Reasoning(text=text),
        ToolCallPart(call_id=text, name=text, args={text: text}),
        ToolCallPart(call_id=text, name=text, args={}, raw_arguments=text),
        ToolResultPart(call_id=text, name=text, content=text),
        Attachment(name=text, media_type=text, content=text),
        Retrieval(text=text, session_id=text),
        Approval(call_id=text, decision=text, scope=text),
        UnknownPart(raw={"type": text, "x": text}),
        status="failed",
        error=text,
    )
    message = replace(message, model=text, timestamp=text)
    session = _session(message, title=text)
    return replace(session, session_id=text, model=text, provider=text, start_time=text)


class _Page(HTMLParser):
    """What a browser would see: elements, attributes and text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in ("meta", "hr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")


SMALL = _session(
    replace(
        _message(
            Text(text="How do I *sort*?"), Attachment(name="a.py", media_type="text/x", content="")
        ),
        role="user",
        model=None,
    ),
    _message(
        Reasoning(text="The user wants `sorted`."),
        ToolCallPart(call_id="c", name="read_file", args={"path": "a.py"}),
    ),
    replace(
        _message(ToolResultPart(call_id="c", name="read_file", content="x = ```1```\n")),
        role="tool",
        model=None,
    ),
    _message(Text(text="Use `sorted`."), status="cancelled"),
)


def test_markdown_shows_the_whole_conversation() -> None:
    assert export_session(SMALL, SMALL.messages, "md") == (
        "# A title\n\n"
        "- Model: llama3.2:3b (ollama)\n"
        "- Started: 2026-01-27 10:00:00 UTC\n"
        "- Last activity: 2026-01-27 11:30:00 UTC\n"
        "- Messages: 4\n"
        "- Tool calls: 0\n"
        "- Session: 550e8400-e29b-41d4-a716-446655440000\n\n"
        "---\n\n## User · 2026-01-27 10:00:05 UTC\n\n"
        "How do I *sort*?\n\n"
        "**Attachment** `a.py (text/x)`\n\n"
        "---\n\n## Assistant (llama3.2:3b) · 2026-01-27 10:00:05 UTC\n\n"
        "<details>\n<summary>Reasoning</summary>\n\n"
        "```\nThe user wants `sorted`.\n```\n\n</details>\n\n"
        '**Tool call** `read_file`\n\n```json\n{\n  "path": "a.py"\n}\n```\n\n'
        "---\n\n## Tool · 2026-01-27 10:00:05 UTC\n\n"
        "**Tool result** `read_file`\n\n````\nx = ```1```\n````\n\n"
        "---\n\n## Assistant (llama3.2:3b) · 2026-01-27 10:00:05 UTC\n\n"
        "Use `sorted`.\n\n"
        "**Cancelled before the end.**\n"
    )


def test_the_head_tells_of_messages_on_other_branches() -> None:
    page = export_session(SMALL, SMALL.messages[:1], "md")
    assert "- Messages: 1 (of 4 on all branches)" in page


def test_a_session_without_a_title_is_named_after_its_first_words() -> None:
    session = replace(SMALL, title="")
    assert export_session(session, session.messages, "md").startswith("# How do I sort?\n")


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("cancelled", "Cancelled before the end."),
        ("failed", "Failed before the end."),
        ("interrupted", "Interrupted before the end."),
        ("length", "Cut off at the length limit."),
        ("streaming", "Not finished yet."),
    ],
)
def test_a_message_that_did_not_end_well_says_so(status: Status, words: str) -> None:
    session = _session(_message(Text(text="a"), status=status, error="the server is gone"))
    for page in (
        export_session(session, session.messages, "md"),
        export_session(session, session.messages, "html"),
    ):
        assert words in page
        assert "the server is gone" in page


@given(hostile.map(clean))
def test_markdown_keeps_the_words_unaltered(text: str) -> None:
    session = _session(
        _message(Text(text=text), ToolResultPart(call_id="c", name="n", content=text))
    )
    assert export_session(session, session.messages, "md").count(text) >= 2


@given(hostile)
def test_no_text_ends_the_fence_it_stands_in(text: str) -> None:
    session = _session(
        _message(ToolResultPart(call_id="c", name="n", content=text), Text(text="after"))
    )
    page = export_session(session, session.messages, "md")
    opening = page.index("\n```") + 1
    mark = page[opening : page.index("\n", opening)]
    assert page.index(f"\n{mark}\n", opening) == page.index(f"\n{mark}\n\nafter")


@pytest.mark.parametrize(
    ("text", "added"),
    [
        ("```python\nx = 1", "\n```"),
        ("1. do\n   ~~~~\n   x", "\n   ~~~~"),
        ("````\n```\nx", "\n````"),
        ("```\nx\n```", ""),
        ("no code", ""),
        ("- ```\n  x", ""),
        ("> ```\n> x", ""),
        ("1. do\n   ```\n   x\n\nend", ""),
        ("```\nx\n    ```", "\n```"),
    ],
)
def test_an_unfinished_code_block_does_not_take_the_rest_along(text: str, added: str) -> None:
    session = _session(_message(Text(text=text)), _message(Text(text="after")))
    page = export_session(session, session.messages, "md")
    assert f"\n\n{text}{added}\n\n---" in page


@given(st.lists(st.sampled_from(["```", "~~~~", "\n", "   ", "- ", "> ", "x"]), max_size=12))
def test_what_follows_a_text_is_never_part_of_its_code(pieces: list[str]) -> None:
    session = _session(_message(Text(text=f"x{''.join(pieces)}")), _message(Text(text="after")))
    page = MarkdownIt().parse(export_session(session, session.messages, "md"))
    assert [token.level for token in page if token.content == "after"] == [1]


def test_json_can_be_imported_again() -> None:
    call = ToolCall(
        id="c", name="ls", args={"n": 10**30}, result=ToolResult(llm_content="x"), timestamp="t"
    )
    session = replace(SMALL, tool_calls=(call,), extra={"later": [1]}, tags=("a",))
    text = export_session(session, session.messages[:1], "json")
    assert decode_session(text.encode()) == session
    assert text.startswith('{\n  "sessionId": "550e8400')


@given(hostile)
def test_json_holds_any_text_and_is_safe_to_print(text: str) -> None:
    session = _everywhere(text)
    exported = export_session(session, session.messages, "json")
    assert decode_session(exported.encode()) == session
    assert not UNSAFE.search(exported)


@given(hostile)
def test_every_export_can_be_written_and_printed(text: str) -> None:
    session = _everywhere(text)
    for page in (
        export_session(session, session.messages, "md"),
        export_session(session, session.messages, "html"),
    ):
        assert not UNSAFE.search(page)
        assert page.encode()


@given(hostile)
def test_foreign_text_never_becomes_markup_of_the_page(text: str) -> None:
    session = _everywhere(text)
    page = _Page(export_session(session, session.messages, "html"))
    allowed = {
        *("html", "head", "meta", "title", "style", "body", "main", "h1", "dl", "dt", "dd"),
        *("article", "h2", "h3", "h4", "h5", "h6", "time", "div", "p", "ul", "ol", "li", "hr"),
        *("pre", "code", "strong", "em", "a", "details", "summary", "aside", "blockquote"),
        *("table", "thead", "tbody", "tr", "th", "td", "s"),
    }
    assert set(page.elements) <= allowed
    assert page.open == []
    for tag in ("html", "head", "title", "style", "body", "main", "article"):
        assert page.elements.count(tag) == 1
    for tag, name, value in page.attributes:
        assert (tag, name) in {
            *(("html", "lang"), ("h1", "dir"), ("div", "dir"), ("article", "class")),
            *(("meta", "charset"), ("meta", "http-equiv"), ("meta", "content"), ("meta", "name")),
            *(("p", "class"), ("ol", "start"), ("a", "class"), ("a", "title")),
            *(("a", "href"), ("a", "rel"), ("div", "class"), ("td", "class"), ("th", "class")),
        }
        if name == "href":
            assert re.fullmatch(r"""https?://[^\s"'<>]+""", value or "")
        if name == "rel":
            assert value == "noopener noreferrer"


@given(st.text(st.characters(exclude_categories=["C"]), max_size=40).map(clean))
def test_html_shows_every_character_of_data(text: str) -> None:
    session = _session(_message(ToolResultPart(call_id="c", name="n", content=f"<<{text}>>")))
    assert f"<<{text}>>" in "".join(_Page(export_session(session, session.messages, "html")).words)


def test_the_page_may_load_nothing_but_its_own_style() -> None:
    page = export_session(SMALL, SMALL.messages, "html")
    style = re.search("<style>(.*?)</style>", page, re.DOTALL)
    assert style
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert f"content=\"default-src 'none'; style-src 'sha256-{digest}';" in page
    assert "prefers-color-scheme: dark" in page
    for forbidden in ("<script", "<link", "<img", "src=", "url(", "@import", "http://", "https://"):
        assert forbidden not in page


@every(
    ("text", "expected"),
    [
        ("one\ntwo\n\nthree", "<p>one\ntwo</p>\n<p>three</p>"),
        ("# A\n### B ##\n# C#", "<h3>A</h3>\n<h5>B</h5>\n<h3>C#</h3>"),
        (
            "- a\n  more\n  - b\n- c",
            '<ul>\n<li>\n<p class="tight">a\nmore</p>\n'
            '<ul>\n<li>\n<p class="tight">b</p>\n</li>\n</ul>\n</li>\n'
            '<li>\n<p class="tight">c</p>\n</li>\n</ul>',
        ),
        (
            "3. a\n\n4. b",
            '<ol start="3">\n<li>\n<p>a</p>\n</li>\n<li>\n<p>b</p>\n</li>\n</ol>',
        ),
        ("a\n---\nb", "<p>a</p>\n<hr>\n<p>b</p>"),
        ("```py\n<b> *x*\n```\nafter", "<pre><code>&lt;b&gt; *x*\n</code></pre>\n<p>after</p>"),
        ("~~~\nx", "<pre><code>x</code></pre>"),
        (
            "**a** *b* _c_ `**d**`",
            "<p><strong>a</strong> <em>b</em> <em>c</em> <code>**d**</code></p>",
        ),
        (
            "**`a`** snake_case_name 2 * 3 * 4",
            "<p><strong><code>a</code></strong> snake_case_name 2 * 3 * 4</p>",
        ),
        (
            "[docs](https://x.org/a?b&c) http://y.org.",
            '<p><a class="named" href="https://x.org/a?b&amp;c" rel="noopener noreferrer">docs</a> '
            '<a href="http://y.org" rel="noopener noreferrer">http://y.org</a>.</p>',
        ),
        (
            "| a | b |\n|---|--:|\n| `x\\|y` | <i> | too many |\n|",
            '<div class="wide">\n<table>\n'
            '<thead>\n<tr>\n<th>a</th>\n<th class="right">b</th>\n</tr>\n</thead>\n<tbody>\n'
            '<tr>\n<td><code>x|y</code></td>\n<td class="right">&lt;i&gt;</td>\n</tr>\n'
            '<tr>\n<td></td>\n<td class="right"></td>\n</tr>\n'
            "</tbody>\n</table>\n</div>",
        ),
        ("| no table |\n| at all |", "<p>| no table |\n| at all |</p>"),
        (
            "> **a**\n>> # b\n\nc",
            "<blockquote>\n<p><strong>a</strong></p>\n<blockquote>\n<h3>b</h3>\n</blockquote>\n"
            "</blockquote>\n<p>c</p>",
        ),
        ("a  \nb\\\n\\*c\\* ~~d~~ &amp;", "<p>a\nb\n*c* <s>d</s> &amp;</p>"),
        ("a\n\n    <b>", "<p>a</p>\n<pre><code>&lt;b&gt;\n</code></pre>"),
        ("[x](javascript:alert(1))", "<p>[x](javascript:alert(1))</p>"),
        (
            '[x](http://a"onclick="b)',
            '<p><a class="named" href="http://a%22onclick=%22b" '
            'rel="noopener noreferrer">x</a></p>',
        ),
    ],
)
def test_markdown_becomes_html(text: str, expected: str) -> None:
    assert markdown_html(text) == expected


@every(
    "text",
    [
        *("[x](JavaScript:a)", "[x](data:text/html,a)", "[x](file:///etc)", "[x](//y.org)"),
        *("[x](mailto:a@b.c)", "<ftp://y.org>", "![x](data:image/png;base64,AA)", "javascript:a"),
        *("<script>a</script>", "<img src=x>", "<!-- a -->", "www.y.org", "[x]: y"),
    ],
)
def test_what_leads_elsewhere_or_is_markup_is_shown_as_it_was_written(text: str) -> None:
    page = _Page(markdown_html(text))
    assert page.elements == ["p"]
    assert "".join(page.words) == text


def test_a_picture_becomes_a_link() -> None:
    page = _Page(markdown_html("![x](http://y.org/z.png)"))
    assert page.elements == ["p", "a"]


@pytest.mark.parametrize(
    ("text", "shown", "target"),
    [
        ("[http://a.org](http://b.org)", "http://a.org", "http://b.org"),
        ("http://аpple.com/é", "http://аpple.com/é", "http://xn--pple-43d.com/%C3%A9"),
        ("[](http://a.org)", "", "http://a.org"),
        ("[a](http://b.org/it's)", "a", "http://b.org/it%27s"),
    ],
)
def test_a_link_that_is_not_its_target_shows_it(text: str, shown: str, target: str) -> None:
    page = _Page(markdown_html(text))
    assert "".join(page.words) == shown
    assert page.attributes[:2] == [("a", "class", "named"), ("a", "href", target)]


@pytest.mark.parametrize("address", ["http://a.org/%E2%80%AEb", "<http://a.org/%E2%80%AEb>"])
def test_no_address_is_decoded(address: str) -> None:
    assert "".join(_Page(markdown_html(address)).words) == "http://a.org/%E2%80%AEb"


def test_characters_that_steer_are_visible_also_as_entities() -> None:
    assert markdown_html("a &#8238;b &#27;]0; c") == "<p>a �b �]0; c</p>"


MARKS = [
    *("> ", "- ", "1. ", "# ", "\n", "\n\n", "    ", "*", "_", "~~ ", "[", "](http://x)", "` "),
    *("]: http://y", "<b>", "<!-- ", "&", "![", "\\", "---", "<http://"),
]
"""None begins a code block, whose language is not shown."""


@given(st.lists(st.sampled_from([*MARKS, "word"]), max_size=40).map("".join))
def test_no_word_gets_lost(text: str) -> None:
    shown = "".join(_Page(markdown_html(text)).words)
    assert shown.count("word") == text.count("word")


@pytest.mark.parametrize("mark", [">", "> ", "- ", "1. ", "- > "])
def test_no_word_gets_lost_in_any_depth(mark: str) -> None:
    for depth in (1, 5, 18, 19, 20, 21, 38, 39, 40, 41, 10_000):
        assert "word" in "".join(_Page(markdown_html(f"{mark * depth}word")).words)


FLOODS = [
    *("`", "*a", "**a", "[a](http://x", "_a ", "http://.", "- ", "#", "``` ", "|", ">", "|-|\n"),
    *("&", "<", "~~a", "[a]", "<http://", "> - ", "\\"),
]


@some(6, "unit", FLOODS)
def test_a_flood_of_marks_is_rendered_in_linear_time(unit: str) -> None:
    assert _Page(markdown_html(unit * ((200_000 if LONG else 50_000) // len(unit)))).open == []


@pytest.mark.parametrize(
    "text",
    [
        *("[" * 10_000, "![" * 10_000, "[" * 10_000 + "]" * 10_000, "*" * 10_000, "_*" * 10_000),
        "[" * 5_000 + "a" + "](http://x)" * 5_000,
        "|a" * 1_000 + "|\n" + "|-" * 1_000 + "|\n" + "|b\n" * 1_000,
        "\n".join("  " * depth + "- a" for depth in range(300)),
    ],
    ids=["labels", "images", "brackets", "stars", "both", "links", "columns", "lists"],
)
def test_hostile_input_is_rendered(text: str) -> None:
    assert _Page(markdown_html(text)).open == []


def compressed_session(note: str = "") -> Session:
    """Two compressions on the branch, one on another, and one that a restore brought along."""
    said = tuple(replace(message, id=f"m{n}") for n, message in enumerate(SMALL.messages))
    done = compression(CompressedContext(checkpoints=("c",)), checkpoint("c", "m1", "m2"))
    done = replace(done, last="m2", folded=("m1", "m2"), elisions={}, note=note)
    elsewhere = replace(done, last="gone", before_tokens=7777)
    brought = replace(done, before=done.after, before_tokens=8888)
    by_time = replace(done, last=None, at="2026-01-27T13:00:00.000000Z", undone_at="t", created=())
    history = (done, elsewhere, brought, replace(by_time, before_tokens=900))
    metadata = replace(SMALL.metadata, compression_history=history)
    return replace(SMALL, messages=said, metadata=metadata)


@pytest.mark.parametrize("kind", ("md", "html"))
def test_compressions_stand_where_they_happened(kind: Literal["md", "html"]) -> None:
    session = compressed_session("no model could be asked")
    page = export_session(session, session.messages, kind)
    words = "Compressed: 2 messages folded into a checkpoint: 500 → 200 tokens; no model could be"
    places = [
        page.index("read_file</code></summary>\n<pre><code>x" if kind == "html" else "x = ```1"),
        page.index(words),
        page.index("Checkpoint for 2 messages (100 → 20 tokens)"),
        page.index("what was said in m1, m2"),
        page.index("Use "),
        page.index("900 → 200 tokens; no model could be asked; undone later"),
    ]
    assert places == sorted(places)
    assert "7,777" not in page and "8,888" not in page


@given(hostile)
def test_foreign_text_in_a_checkpoint_never_becomes_markup(text: str) -> None:
    session = compressed_session(text)
    [done, *_] = session.metadata.compression_history
    made = replace(done.created[0], summary=text, facts=text)
    metadata = replace(session.metadata, compression_history=(replace(done, created=(made,)),))
    session = replace(session, metadata=metadata)
    page = _Page(export_session(session, session.messages, "html"))
    assert (page.open, page.elements.count("aside"), page.elements.count("script")) == ([], 1, 0)
    assert not UNSAFE.search(export_session(session, session.messages, "md"))


def test_what_was_pasted_is_in_the_file_and_pictures_are_named() -> None:
    pasted = Attachment(name="log.txt", media_type="text/plain", content="line <1>\n```\n")
    picture = Attachment(name="p.png", media_type="image/png", content="AAAA")
    session = _session(_message(pasted, picture))
    page = export_session(session, session.messages, "md")
    assert "**Attachment** `log.txt (text/plain)`\n\n````\nline <1>\n```\n````" in page
    assert page.endswith("**Attachment** `p.png (image/png)`\n")
    assert "line &lt;1&gt;" in export_session(session, session.messages, "html")
