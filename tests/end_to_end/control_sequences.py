"""What must never reach a terminal from outside: sequences and single characters, and how
to tell them from what the program itself sends."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ollm_tui.core.intake import UNSAFE

_OSC = (
    *("0;TITLE", "1;ICON", "2;TITLE", "4;1;red", "7;file://h/", "8;;http://e.x", "9;NOTE"),
    *("10;red", "11;?", "12;red", "22;pointer", "50;font", "52;c;Y2xpcA==", "52;c;?"),
    *("104;1", "112", "133;A", "777;notify;A;B", "1337;File=:eA==", "99;;NOTE"),
)
_CSI = (
    *("?25h", "?5h", "?12h", "?47h", "?69h", "?1047h", "?1048h", "?9h", "?1002h", "?2026h"),
    *("c", ">c", "=c", "5n", "6n", "?6n", "?15n", "8;1;1t", "21t", "14t", "2t", "22;0t", "3;9;9t"),
    *("5;6;7;38;5;201m", "8m", "97;105m", "0;9;9m", "999;999H", "777G", "777d", "9A", "9B", "9C"),
    *("9D", "9E", "9F", "2J", "3J", "1K", "9L", "9M", "9P", "9S", "9T", "9X", "9Z", "9@", "7b"),
    *("2;3r", "s", "u", "3 q", "!p", '1"q', "?1$p", ">31u", "?u", "=5;1u", ">q", ">4;2m", "5i"),
    *("4i", "3g", "20h", "4h", "2*x", "1;2;3;4$r", "'z", "1 @", "#{", "201~", "200~"),
)
_STRINGS = ("P$qm", "P+q544e", "Pq#0;2;0;0;0", "_Ga=T;eA==", "^PRIVATE", "XSTART", "P1$tx", "k_")
_ESCAPES = (
    *"c78DEHMNOZ=>no|}~lm\\6",
    *("(0", ")0", "(B", "*A", "+A", "#8", "%G", "%@", " F", " G", "-A", "!!0"),
)
_SINGLE = (
    *map(chr, (*range(9), *range(11, 27), *range(28, 32), *range(127, 160))),
    *"\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
    *"\u2028\u2029\ufeff\ufff9\ufffa\ufffb\U000e0001\U000e0041\U000e007f",
)

WHOLE = (
    *(f"\x1b]{text}{end}" for text in _OSC for end in ("\x07", "\x1b\\")),
    *(f"\x9d{text}\x9c" for text in _OSC[::3]),
    *(f"\x1b[{text}" for text in _CSI),
    *(f"\x9b{text}" for text in _CSI[::6]),
    *(f"\x1b{text}\x1b\\" for text in _STRINGS),
    *("\x90+q544e\x9c", "\x9fGa=T;eA==\x9c", "\x1bPtmux;\x1b\x1b]52;c;eA==\x07\x1b\\"),
    *(f"\x1b{text}" for text in _ESCAPES),
    *("over\rwritten", "over\x08\x08\x08\x08hidden", "a\x1b\x1b[2Jb", "\x1b]0;a\x1b[31mb\x07"),
    *(mark for mark in _SINGLE if mark not in "\x90\x98\x9b\x9d\x9e\x9f"),
)
"""Sequences with their ends, over 200 of them."""
CUT_OFF = (
    *("\x1b", "\x1b[", "\x1b[?", "\x1b[38;5", "\x1b]", "\x1b]52;c;", "\x1b]8;;", "\x1b]0;T\x1b"),
    *("\x1bP", "\x1bPq", "\x1b_G", "\x1b^", "\x1bX", "\x1b(", "\x1b#", "\x1b ", "\x9b", "\x9b38;"),
    *("\x9d", "\x9d52;c;", "\x90", "\x98", "\x9e", "\x9f"),
)
"""Sequences that end too early: they may take the rest of their line with them."""
SURROGATES = ("\ud800", "\udfff", "\ud83d x", "\ude00\ud83d")

OWN = re.compile(
    r"\r\x1b\[K|\x1b\[[\d;]*[mH]"
    r"|\x1b\[\?(?:7|25|1000|1003|1004|1006|1015|1049|2004|2026|2048)[hl]"
    r"|\x1b\[\?(?:2026|2048)\$p|\x1b\[>25u|\x1b\[<u"
    r"|\x1b\]22;(?:default|text|pointer)\x07|\r\n|\r"
)
"""All that Textual itself sends, and how a line of progress is taken away."""


def marked(sequences: Iterable[str], name: str = "w") -> str:
    """The sequences in one text, each behind a word that tells whether it was shown."""
    return "".join(
        f"{name}{number:03}{sequence}z" + ("\n" if sequence in CUT_OFF else " ")
        for number, sequence in enumerate(sequences)
    )


def words(sequences: Iterable[str], name: str = "w") -> set[str]:
    """The words of `marked`."""
    return {f"{name}{number:03}" for number, _ in enumerate(sequences)}


def split_everywhere(sequences: Iterable[str], name: str = "w") -> Iterator[tuple[str, str]]:
    """Each sequence cut in two at every place, as two chunks each, marked in the same way."""
    for number, sequence in enumerate(sequences):
        end = "z\n" if sequence in CUT_OFF else "z "
        for cut in range(1, max(len(sequence), 2)):
            yield f"{name}{number:03}{sequence[:cut]}", f"{sequence[cut:]}{end}"


def leaks(output: str, sequences: Iterable[str] = (*WHOLE, *CUT_OFF), name: str = "w") -> list[str]:
    """Controls in the output of the program that are not its own, with what is around them."""
    found = [
        f"{name}{number:03}{sequence}"
        for number, sequence in enumerate(sequences)
        if UNSAFE.search(sequence) and f"{name}{number:03}{sequence}z" in output
    ]
    rest = OWN.sub(" ", output)
    return found + [rest[max(at.start() - 20, 0) : at.end() + 20] for at in UNSAFE.finditer(rest)]
