"""Generated Markdown: fragments in any order, and documents made of whole lines."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

_FRAGMENTS = (
    *("a", "word ", "two words", " ", "  ", "    ", "\t", "\n", "\n", "\n\n", "é", "e\u0301"),
    *("- ", "* ", "+ ", "1. ", "2) ", "10. ", ">", "> ", "# ", "###", "[x] ", "[ ] ", "-", "="),
    *("```", "~~~", "``", "`", "*", "**", "_", "__", "~~", "\\", "\\|", "&amp;", "&", "&#27;"),
    *("[", "]", "(", "](http://x.y)", "![", "<", ">", "<b>", "<div>", "<br>", "<!--", "-->"),
    *("|", "| a | b |", "|---|:-:|", "---", "===", "***", ":", "[l]: http://u", "#" * 50),
    *("https://e.org/a", "http", "日本", "👩‍💻", "❤️", "x" * 30, "y" * 410),
    *("python", "def f():", '"""', "/*", "*/", "<script>", "</script>", "\x1b[31m", "\u202e"),
)
fragments = st.lists(st.sampled_from(_FRAGMENTS), max_size=30).map("".join)

_INLINE = (
    *("word ", "plain text that goes on for a while, ", "*", "**", "_", "`", "``", "~~", "日本"),
    *("[", "](http://x.y) ", "](", "<b", " > ", "\n", "  \n", "https://e.org/", "![", "&am", "p;"),
)
long_paragraphs = st.lists(st.sampled_from(_INLINE), min_size=100, max_size=500).map("".join)

_LINES = (
    *("para text", "**strong** and *em*", "_under_ snake_case_x", "`code` ``a`b``", "", "", ""),
    *("- item", "* star", "+ plus", "1. one", "2. two", "7) seven", "- ", "1.", "- - x", "> - q"),
    *("> quote", "> > nested", "- > i", "1. - a", "   - nested item", "     deeper", "\ttab"),
    *("# head", "## head two ##", "***", "---", "===", "    indented", "  two spaces"),
    *("```\ncode\n```", "~~~py\nx = 1\n~~~", "|a|b|\n|-|-|\n|1|2|", "a | b", "line  ", "back\\"),
    *("[a](http://x.y)", '[b *c*](<http://z> "t")', "![i](u.png)", "<http://auto.link>"),
    *("a\\*b\\_", "&amp; &copy;", "x*y*z **a*b** ***c***", "*a **b* c**", "~~gone~~", "a_b_c"),
    *("<div>", "</div>", "<b>x</b> y", "**unclosed", "`open", "[not](link", "foo*", "*bar"),
)
_LEADS = ("", "", "", "", "", " ", "  ", "   ", "> ", "- ")


def _document(parts: Sequence[tuple[str, str]]) -> str:
    """Lines joined; markdown-it differs from CommonMark on code after a lazy line, so none is."""
    lines: list[str] = []
    for lead, text in parts:
        line = lead + text
        if line.startswith(("    ", "\t")) and lines and lines[-1]:
            lines.append("")
        lines.append(line)
    return "\n".join(lines)


documents = st.lists(
    st.tuples(st.sampled_from(_LEADS), st.sampled_from(_LINES)), min_size=1, max_size=8
).map(_document)
