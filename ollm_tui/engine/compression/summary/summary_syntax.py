"""Removes from a summary what it must not carry: syntax that programs or models act on, and
orders to the model. The functions are made for texts of a few thousand words."""

from __future__ import annotations

import json
import re
from typing import Any, cast

from ollm_tui.core.intake import clean
from ollm_tui.core.session.compression import GAP

_TEMPLATE_TOKEN = re.compile(
    r"<[|｜][^<>\s]{0,80}[|｜]>"  # <|im_start|>, <｜tool▁calls▁begin｜>
    r"|</?s>|<(?:bos|eos|pad|unk)>|</?(?:start|end)_of_(?:turn|image)>|<</?SYS>>"
    r"|\[/?(?:INST|TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS|SYSTEM_PROMPT|TOOL_CONTENT|ARGS)\]",
    re.IGNORECASE,
)
_TAGS = (
    r"(?:\w+:)?(?:tool_calls?|tool_responses?|tools?|function_calls?|function_results?|function"
    r"|invoke|parameter|think(?:ing)?)"
)
_BLOCK = re.compile(rf"<({_TAGS})\b[^<>\n]*>.*?</\1\s*>", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(rf"</?{_TAGS}(?:[\s=][^<>\n]*)?/?>", re.IGNORECASE)
_TAG_BEGINNING = re.compile(rf"<(?=/?{_TAGS}\b)", re.IGNORECASE)
_CALL_KEYS = ("arguments", "parameters", "args", "input")
_CALL_KEY = re.compile(
    r"[\"'](name|arguments|parameters|tool_calls?|function(?:_call)?)[\"'](?=\s*:)", re.IGNORECASE
)
_CALL_ARGUMENTS = re.compile(
    r"[\"'](?:arguments|parameters|tool_calls?|function_call)[\"']\s*:", re.I
)
_FENCE_LINE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[^`\n]*$", re.MULTILINE)
_FENCE = re.compile(r"`{3,}|~{3,}")
_SECTION = re.compile(
    r"^[ \t]*#{1,6}[ \t]*(?:instructions?|response|input|output|system|user|assistant|summary)"
    r"[ \t]*(?::|$)"
    r"|^[ \t*_]*(?:instructions?|response|summary)[ \t*_]*(?::[ \t*_]*|$)",
    re.IGNORECASE | re.MULTILINE,
)
_HEADING = re.compile(r"^[ \t]*(?:#{2,}|#(?=\s|$))[ \t]*", re.MULTILINE)
_RULE = re.compile(r"^[ \t]*([-=*_])(?:[ \t]*\1){2,}[ \t]*$", re.MULTILINE)
_SYSTEM_MARK = re.compile(r"^[ \t>*_]*(?:system|developer)[ \t*_]*:[ \t*_]*", re.I | re.MULTILINE)
_SPEAKER = re.compile(
    r"^[ \t>*_]*(user|human|assistant|tool|ai|model)[ \t*_]*:[ \t*_]*", re.I | re.MULTILINE
)
_CUT_MARK = re.compile(r"\[…[^\[\]\n]{0,60}…\]")
"""The mark that a transcript has where something was left out."""
_LEFT_OUT = (_TEMPLATE_TOKEN, _BLOCK, _TAG, _TAG_BEGINNING, _CALL_ARGUMENTS, _FENCE, _SYSTEM_MARK)
"""What a quote has a gap for. Headings and speakers stay: they are harmless within a line."""
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9 .,;%()/'+=&_-]*")
"""A line without any sign that syntax begins with: only an order may have to be removed."""
_FEW_WORDS = 4
_BLANKS = re.compile(r"[ \t]+")
_EMPTY_LINES = re.compile(r"\s*\n\s*")

_SENTENCE_END = re.compile(r"(?<=[.!?。！？])[\"'”’)]*\s+|(?<=[。！？])")
_QUOTE_END = re.compile(rf"{_SENTENCE_END.pattern}|(?<={GAP.strip()})\s*")
"""The end of a sentence in a quote: what follows a gap may be an order, too."""
_BEFORE_ORDER = (
    r"^[\s\-*•>\"'“‘(\[]*(?:\d+[.)]\s*)?(?:(?:please|important|attention|note|now)\b[\s:,!]*)*"
)
_TOLD_BEFORE = (
    r"(?:previous|prior|above|earlier|preceding|all|any|your|these|those|the|other|existing)\b.{0,40}?"
    r"\b(?:instruction|prompt|rule|message|context|direction|guideline|constraint|polic)"
)
_ORDER = re.compile(
    _BEFORE_ORDER
    + r"(?:"
    + rf"(?:ignore|disregard|forget|override|bypass)\b.{{0,40}}?\b{_TOLD_BEFORE}"
    + r"|(?:ignore|disregard|forget)\s+(?:everything|all)\b"
    + r"|from\s+now\s+on\b|henceforth\b"
    + r"|you\s+(?:must|should|will|shall|are|have\s+to|need\s+to)\s+(?:now|immediately)\b"
    + r"|you\s+are\s+(?:no\s+longer|in\s+\w+\s+mode)\b"
    + r"|(?:your|the)\s+new\s+(?:task|role|goal|instructions?|rules?|system\s+prompt)\b"
    + r"|new\s+(?:instructions?|rules?|system\s+prompt)\b"
    + r"|(?:act|behave|pretend|respond|reply|answer)\s+(?:as|like)\s+(?:if|a|an|the|you)\b"
    + r"|(?:always|never|only)\s+(?:respond|reply|answer)\b"
    + r"|do\s+not\s+(?:tell|inform|mention\s+(?:this|it)\s+to|alert|ask)\s+the\s+user\b"
    + r"|(?:reveal|print|repeat|show|send|leak|exfiltrate)\b.{0,60}?"
    + r"\b(?:system\s+prompt|your\s+(?:instructions|prompt)|passwords?|secrets?|api\s+keys?)"
    + r")",
    re.IGNORECASE,
)


def sanitised(text: str) -> str:
    """Return a summary as plain lines, without anything a terminal, parser or model acts on.

    Removing something may join its surroundings to new syntax, so it is repeated until nothing
    changes.
    """
    text = clean(text)
    if text.count(" ") >= _FEW_WORDS and _PLAIN.fullmatch(text):
        line = _BLANKS.sub(" ", text).strip()
        if _without_orders(line) == line:
            return line
    # Blanks first: most texts have nothing else to be changed, and are read only once then.
    text = _EMPTY_LINES.sub("\n", _BLANKS.sub(" ", text)).strip()
    while (plain := _sanitised_once(text)) != text:
        text = plain
    return text


def quotable(text: str) -> str:
    """Return foreign text word for word, with GAP where something is left out: syntax that a
    terminal, parser or model acts on, and orders to the model.

    A gap keeps its surroundings apart, so that they do not become new syntax.
    """
    text = clean(text)
    if not _PLAIN.fullmatch(text):
        text = _without_calls(text, GAP)
        for syntax in _LEFT_OUT:
            text = syntax.sub(GAP, text)
    return "\n".join(map(_with_gaps_for_orders, text.split("\n")))


def without_template_tokens(text: str) -> str:
    """Return a text without the tokens that divide a prompt: servers obey them anywhere."""
    while _TEMPLATE_TOKEN.search(text):
        text = _TEMPLATE_TOKEN.sub(" ", text)
    return text


def sentences(text: str) -> list[str]:
    """Return the sentences of a text; the end of a line ends one, too."""
    found = (part for line in text.split("\n") for part in _SENTENCE_END.split(line))
    return [part.strip() for part in found if part.strip()]


def _sanitised_once(text: str) -> str:
    text = _CUT_MARK.sub("…", without_template_tokens(text))
    text = _TAG_BEGINNING.sub("", _TAG.sub(" ", _BLOCK.sub(" ", text)))
    text = _CALL_KEY.sub(r"\1", _without_calls(text))
    text = _FENCE.sub(" ", _RULE.sub("", _FENCE_LINE.sub("", text)))
    text = _SYSTEM_MARK.sub("", _HEADING.sub("", _SECTION.sub("", text)))
    text = _SPEAKER.sub(lambda found: f"({found[1].lower()}) ", text)
    lines = (_without_orders(line) for line in text.split("\n"))
    text = _BLANKS.sub(" ", "\n".join(lines))
    return _EMPTY_LINES.sub("\n", text).strip()


def _without_orders(line: str) -> str:
    """Return a line without the sentences that begin like an order."""
    if not any(map(_ORDER.match, said := sentences(line))):
        return line
    return " ".join(sentence for sentence in said if not _ORDER.match(sentence))


def _with_gaps_for_orders(line: str) -> str:
    """Return a line with a gap for each sentence that begins like an order."""
    starts = [0, *(found.end() for found in _QUOTE_END.finditer(line))]
    spans = zip(starts, [*starts[1:], len(line)], strict=True)
    said = [line[start:end] for start, end in spans]
    return "".join(GAP if _ORDER.match(sentence) else sentence for sentence in said)


def _without_calls(text: str, instead: str = " ") -> str:
    """Return a text without JSON objects that call a tool."""
    kept: list[str] = []
    decoder, at, start = json.JSONDecoder(), 0, text.find("{")
    while start >= 0:
        if end := _end_of_call(decoder, text, start):
            kept.append(text[at:start])
            at = end
        start = text.find("{", end or start + 1)
    return instead.join((*kept, text[at:]))


def _end_of_call(decoder: json.JSONDecoder, text: str, start: int) -> int:
    """Return the index behind the call that begins here; 0 if none does."""
    try:
        value, end = cast(tuple[dict[str, Any], int], decoder.raw_decode(text, start))
    except (json.JSONDecodeError, RecursionError):
        return 0
    keys = value.keys()
    calls = "name" in keys and any(key in keys for key in _CALL_KEYS)
    return end if calls or keys & {"tool_call", "tool_calls", "function_call"} else 0
