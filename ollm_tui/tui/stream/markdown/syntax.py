"""How links, addresses, tags and character references are written, and where HTML blocks begin
and end."""

from __future__ import annotations

import re
from html import unescape

from ollm_tui.core.intake import UNSAFE

# Parentheses in a target may nest; an expression cannot count them, so two levels are written out.
_DEEPEST = r"\((?:\\.|[^\s()\\])*\)"
_DEEPER = rf"\((?:\\.|[^\s()\\]|{_DEEPEST})*\)"
LINK_TAIL = re.compile(
    r"\([ \t]*\n?[ \t]*"
    rf"(?:<(?P<angled>(?:\\.|[^<>\n\\])*)>|(?P<bare>(?!<)(?:\\.|[^\s()\\]|{_DEEPER})*))"
    r"(?:[ \t\n]+(?:\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|\((?:\\.|[^()\\])*\)))?"
    r"[ \t\n]*\)"
)
AUTOLINK = re.compile(
    r"<(?P<address>[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*"
    r"|[\w.!#$%&'*+/=?^`{|}~-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*)>"
)
_ATTRIBUTE = r"""\s+[A-Za-z_:][\w.:-]*(?:\s*=\s*(?:[^\s"'=<>`]+|'[^']*'|"[^"]*"))?"""
TAG_TEXT = rf"<[A-Za-z][A-Za-z0-9-]*(?:{_ATTRIBUTE})*\s*/?>|</[A-Za-z][A-Za-z0-9-]*\s*>"
TAG = re.compile(rf"{TAG_TEXT}|<!--.*?-->|<\?.*?\?>|<![A-Za-z][^>]*>", re.DOTALL)
LINE_BREAK_TAG = re.compile(r"<br\s*/?>", re.IGNORECASE)
BARE_ADDRESS = re.compile(r"https?://[^\s<>\[\]`|]{1,900}")
REFERENCE = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_WEB = re.compile(r"https?://[^\s]", re.IGNORECASE)


def is_web_address(url: str) -> bool:
    """Whether an address is one of the web: only those are links, all others are text."""
    return _WEB.match(url) is not None


def written_target(raw: str) -> str:
    """Return a link's target without escapes and references, fit for the screen."""
    return UNSAFE.sub("", _ESCAPED.sub(r"\1", REFERENCE.sub(_character, raw))).strip()


def character_reference(raw: str) -> str:
    """Return what `&amp;` stands for, itself if unknown, and nothing that steers a terminal."""
    return UNSAFE.sub("\ufffd", unescape(raw)).replace("\n", " ").replace("\t", " ")


def without_trailing_marks(address: str) -> str:
    """Return a bare address without the punctuation of the sentence around it."""
    while address:
        last = address[-1]
        if last in "?!.,:;*_~'\"" or (last == ")" and address.count(")") > address.count("(")):
            address = address[:-1]
        else:
            break
    return address


def _character(found: re.Match[str]) -> str:
    return character_reference(found[0])


LONGEST_START = 200
"""Characters up to which a line that is undecided is held back; a longer one is text."""

_BLANK = "\n"
"""Stands for a blank line as the end of a block."""

_NAMES = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details"
    "|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head"
    "|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option"
    "|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul"
)
# CommonMark's kinds of HTML blocks but the last: how each begins and what ends it.
_STARTS = (
    (re.compile(r"<(?:script|pre|style|textarea)(?:[\s>]|$)", re.I), "</"),
    (re.compile(r"<!--"), "-->"),
    (re.compile(r"<\?"), "?>"),
    (re.compile(r"<!\[CDATA\["), "]]>"),
    (re.compile(r"<![A-Za-z]"), ">"),
    (re.compile(rf"</?(?:{_NAMES})(?:\s|/?>|$)", re.I), _BLANK),
)
_TAG_ALONE = re.compile(rf"(?:{TAG_TEXT})[ \t]*$")
_TAG = re.compile(TAG_TEXT)
_UNFINISHED = re.compile(r"<(?:/?[A-Za-z][A-Za-z0-9-]*/?|/|!-?|!\[[A-Z]{0,5}|)$")
_TAG_BEGUN = re.compile(r"</?[A-Za-z][A-Za-z0-9-]*[\s/>]")
_RAW_END = re.compile(r"</(?:script|pre|style|textarea)>", re.I)


def html_end(rest: str, is_complete: bool, in_paragraph: bool) -> str | None:
    """Return what ends the HTML block that a line begins; "" if none begins, None if undecided."""
    if not is_complete and _UNFINISHED.match(rest) and len(rest) < LONGEST_START:
        return None
    for start, end in _STARTS:
        if start.match(rest):
            return end
    # The last kind, any tag alone on its line, does not interrupt a paragraph.
    if in_paragraph or not _TAG_BEGUN.match(rest) or len(rest) >= LONGEST_START:
        return ""
    if is_complete:
        return _BLANK if _TAG_ALONE.match(rest) else ""
    tag = _TAG.match(rest)
    return "" if tag and rest[tag.end() :].strip(" \t") else None


def ends_html(line: str, end: str) -> bool:
    """Whether a line is the last one of a block that is not ended by a blank line."""
    if end == "</":
        return _RAW_END.search(line) is not None
    return end != _BLANK and end in line


def is_ended_by_blank(end: str) -> bool:
    """Whether a blank line ends the block."""
    return end == _BLANK
