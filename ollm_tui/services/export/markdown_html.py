"""Converts foreign Markdown to HTML that is only text: nothing in it can run, load or hide.

markdown-it reads it, with tables, strikethrough and bare web addresses besides CommonMark. Left
out is what does not show all that was written, or shows it otherwise than the chat: raw HTML and
images (their source is shown), link definitions, underlined headings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from ollm_tui.core.intake import UNSAFE

_DEEPEST = 40
"""How deep blocks are nested, where a list counts twice. A flood of opening brackets takes time in
proportion to it: 200,000 of them four seconds."""

_WEB = re.compile(r"""https?://[^\s"<>]+""")
# At a colon, because the words before it are read as text. Each address stops at marks that end
# one in Markdown, so that no input takes more than linear time; the finder of addresses that
# markdown-it has as an extra takes a minute for 200 kB of "http://.".
_AFTER_SCHEME = re.compile(r"""://[^\s()\[\]`*"'<>\\]+(?<![.,;:!?])""")
_ALIGNED = {"text-align:right": "right", "text-align:center": "middle"}


def markdown_html(text: str) -> str:
    """Return foreign Markdown as HTML; markup in the text itself is escaped."""
    tokens = _READER.parse(text)
    if any(token.level >= _DEEPEST - 1 for token in tokens):
        # The reader leaves out what is nested any deeper; here nothing gets lost.
        return f"<pre><code>{escape(text)}</code></pre>"
    page: str = _READER.renderer.render(list(_fitted(tokens)), _READER.options, {})
    # Entities such as &#8238; can stand for characters that were removed from the text itself.
    return UNSAFE.sub("\ufffd", page).strip("\n")


def _web_address(state: StateInline, silent: bool) -> bool:
    """Make a link of an address that stands in the text; a rule for the reader."""
    # While it looks for the end of a label, the reader keeps no text to take the scheme from.
    if silent or state.linkLevel or state.src[state.pos] != ":":
        return False
    found = _AFTER_SCHEME.match(state.src, state.pos, state.posMax)
    scheme = next((word for word in ("https", "http") if state.pending.endswith(word)), "")
    if not found or not scheme:
        return False
    address = scheme + found[0]
    target = state.md.normalizeLink(address)
    if not state.md.validateLink(target):
        return False
    state.pending = state.pending.removesuffix(scheme)
    state.push("link_open", "a", 1).attrs = {"href": target}
    state.push("text", "", 0).content = address
    state.push("link_close", "a", -1)
    state.pos = found.end()
    return True


def _reader() -> MarkdownIt:
    options = {"html": False, "xhtmlOut": False, "maxNesting": _DEEPEST}
    reader = MarkdownIt("commonmark", options)
    normalized = reader.normalizeLink
    reader.normalizeLink = lambda url: normalized(url).replace("'", "%27")
    # The text of an address is what was written: decoded, it could look like another one.
    reader.normalizeLinkText = lambda link: link
    reader.validateLink = lambda url: _WEB.fullmatch(url) is not None
    reader.enable(["table", "strikethrough"])
    # A link definition is not shown, and a long one could be used ten thousand times.
    reader.disable(["html_block", "html_inline", "image", "lheading", "reference"])
    reader.inline.ruler.before("newline", "web_address", _web_address)
    return reader


_READER = _reader()


def _fitted(tokens: Iterable[Token]) -> Iterator[Token]:
    """Yield what was read in the form that suits the page, its style sheet and its policy."""
    for token in tokens:
        match token.type:
            case "heading_open" | "heading_close":
                # The first two levels are those of the page itself: its title and the speakers.
                token.tag = f"h{min(6, int(token.tag[1:]) + 2)}"
            case "paragraph_open" if token.hidden:
                # Spaces and line ends are kept in paragraphs only, also in those of a tight list.
                token.hidden, token.attrs = False, {"class": "tight"}
            case "paragraph_close":
                token.hidden = False
            case "th_open" | "td_open":
                # The page's policy allows no style in an element.
                kind = _ALIGNED.get(str(token.attrs.pop("style", "")))
                token.attrs |= {"class": kind} if kind else {}
            case "table_open":
                yield Token("wide_open", "div", 1, {"class": "wide"}, block=True)
            case "fence":
                token.info = ""
            case "inline":
                _fit_inline(token.children or [])
            case _:
                pass
        yield token
        if token.type == "table_close":
            yield Token("wide_close", "div", -1, block=True)


def _fit_inline(tokens: list[Token]) -> None:
    for place, token in enumerate(tokens):
        if token.type == "hardbreak":
            token.type = "softbreak"  # every line end is shown
        elif token.type == "link_open":
            # The style sheet shows the target of a named link behind it.
            is_address = tokens[place + 1].content == token.attrs["href"]
            kind: dict[str, str | int | float] = {} if is_address else {"class": "named"}
            token.attrs = kind | token.attrs | {"rel": "noopener noreferrer"}
