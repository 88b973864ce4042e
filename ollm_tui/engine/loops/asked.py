"""How many repetitions the user asked for: "run it 5 times" is an order, not a loop."""

from __future__ import annotations

import re

OPEN_ENDED = 30
"""Repetitions that "poll it every minute" or "run it until it fails" ask for."""
MOST = 10_000
SEARCHED = 1000
"""Characters at either end of a message that are looked at: between them is what was pasted."""

_SMALL = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven")
_WORDS = {word: number for number, word in enumerate(_SMALL, start=1)} | {
    **dict.fromkeys(("twelve", "dozen"), 12),
    **{f"{ten}ty": 10 * n for n, ten in enumerate(("twen", "thir", "for", "fif", "six"), start=2)},
    "fifteen": 15,
    "hundred": 100,
    "thousand": 1000,
}
_VERB = (
    r"(?:re-?)?(?:run|do|repeat|execute|call|invoke|perform|try|test|check|ping|fetch|request|send|"
    r"query|poll|say|write|print|output|type|echo|roll|flip|generate|start|launch|hit|benchmark|"
    r"measure|time|sample|draw|ask|apply|make|build|render|play|count|go|loop|iterate|load|reload|"
    r"submit|post|get|read|curl|click|press|toss|throw|spin|restart|refresh|trigger|compile|simulate|"
    r"evaluate|compute|exercise|scroll|greet|sing)"
)
_BEGINNING = (
    r"(?:^|[.!?;:,\n]|\b(?:please|and|then|you|to|now|just|also|must|should|let's|lets|me)\b)\s*"
)
"""An order begins a clause: "the upload failed 3 times" and "make it retry 5 times" do not ask
for anything to be repeated here."""
_NUMBER = rf"(\d{{1,6}}|(?:an?\s+)?(?:{'|'.join(_WORDS)}))"
_UNIT = (
    r"(?:more\s+)?(?:times|time|x\b|repetitions|repeats|iterations|runs|rounds|attempts|passes"
    r"|copies)"
)
_REST = r"(?>(?<=\s)'[^'\n]{0,80}'|\"[^\"\n]{0,80}\"|[^.!?\n]|[.!?](?=[\w/])){0,80}?"
"""The rest of the sentence; quotations and names of files may hold a full stop."""
_ORDER = re.compile(
    rf"{_BEGINNING}(?!make\s+(?:it|the|sure)\b){_VERB}\b{_REST}"
    rf"(?:\b{_NUMBER}\s*{_UNIT}|\bx\s?(\d{{1,6}})\b|\b(twice)\b|\b(thrice)\b)",
    re.IGNORECASE,
)
_SHORT_ORDER = re.compile(
    rf"\A\W*(?:{_NUMBER}\s*{_UNIT}|(?:and\s+)?again\W+{_NUMBER}\s*{_UNIT})", re.IGNORECASE
)
_WATCHING = r"(?:poll|watch|monitor|tail|wait|keep\s+an\s+eye)"
_TRYING = r"(?:ping|keep\s+\w+ing|(?:re-?)?check|retry|run|repeat)"
_NEAR = r"(?:[^.!?\n]|[.!?](?=[\w/])){0,80}?"
_ENDED = (
    r"\s+(?:it|one|something|any\w*|that|(?:the|all)\s+(?:\w+\s+)?\w+)\s+"
    r"(?:fails?|breaks?|crashes|finishes|ends|(?:comes|goes)\s+(?:back|up|online|live)|responds"
    r"|appears|changes|(?:is|are|has|have)\s+(?:up|back|ready|done|finished|completed?|available|online|deployed))\b"
)
_OPEN_ENDED = re.compile(
    rf"\b(?:{_WATCHING}|{_TRYING})\b{_NEAR}"
    rf"\b(?:every\s+(?:\d+\s*|few\s+)?(?:s|sec|seconds?|min|minutes?|hours?)\b|until{_ENDED})"
    rf"|\b{_WATCHING}\b{_NEAR}\b(?:when|once|as\s+soon\s+as){_ENDED}",
    re.IGNORECASE,
)


def repetitions_asked(text: str) -> int:
    """The largest number of repetitions a message asks for; 0 if it asks for none."""
    if len(text) > 2 * SEARCHED:
        text = f"{text[:SEARCHED]}\n{text[-SEARCHED:]}"
    numbers = [
        _value(group)
        for found in (*_ORDER.finditer(text), *_SHORT_ORDER.finditer(text))
        for group in found.groups()
        if group
    ]
    if _OPEN_ENDED.search(text):
        numbers.append(OPEN_ENDED)
    return min(max(numbers, default=0), MOST)


def _value(written: str) -> int:
    word = written.casefold().split()[-1]
    if word in ("twice", "thrice"):
        return 2 if word == "twice" else 3
    return _WORDS[word] if word in _WORDS else int(word)
