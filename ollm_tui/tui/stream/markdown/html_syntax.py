"""Where a block of HTML begins and ends, after CommonMark. It is shown, never interpreted."""

from __future__ import annotations

import re

from ollm_tui.tui.stream.markdown.syntax import TAG_TEXT

LONGEST_START = 200
"""A line longer than this is text, whatever it begins with: until then it is held back."""

_BLANK = "\n"
"""Stands for a blank line as the end of a block."""

_NAMES = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details"
    "|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head"
    "|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option"
    "|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul"
)
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
    """What ends the HTML block that a line begins; "" if it begins none, None if undecided."""
    if not is_complete and _UNFINISHED.match(rest) and len(rest) < LONGEST_START:
        return None
    for start, end in _STARTS:
        if start.match(rest):
            return end
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
