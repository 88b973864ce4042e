"""The written forms of links, addresses, tags and character references within a line."""

from __future__ import annotations

import re
from html import unescape

from ollm_tui.core.intake import UNSAFE

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
    """Only these are links; everything else is shown as text."""
    return _WEB.match(url) is not None


def written_target(raw: str) -> str:
    """A link's target without escapes and references, fit for the screen."""
    return UNSAFE.sub("", _ESCAPED.sub(r"\1", REFERENCE.sub(_character, raw))).strip()


def character_reference(raw: str) -> str:
    """What `&amp;` stands for; itself if it is none, and never anything that steers a terminal."""
    return UNSAFE.sub("\ufffd", unescape(raw)).replace("\n", " ").replace("\t", " ")


def without_trailing_marks(address: str) -> str:
    """A bare address without the punctuation of the sentence around it."""
    while address:
        last = address[-1]
        if last in "?!.,:;*_~'\"" or (last == ")" and address.count(")") > address.count("(")):
            address = address[:-1]
        else:
            break
    return address


def _character(found: re.Match[str]) -> str:
    return character_reference(found[0])
