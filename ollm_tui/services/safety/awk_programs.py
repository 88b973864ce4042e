"""Programs of awk: whether one does nothing but print what it reads."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ollm_tui.services.safety.option_words import Sorted, sorted_words
from ollm_tui.services.safety.plain_words import Word
from ollm_tui.services.safety.read_only import Rule

LONGEST = 1_000
"""Characters of a program: nobody needs more to look at a file."""

_AWK = Rule(valued="Fv", operands="text")
_REACHES_OUT = re.compile(
    r"getline|system|close|fflush|ENVIRON|PROCINFO|SYMTAB|FUNCTAB|ARG[CV]|extension|@|\\[\r\n]"
)
"""What runs programs, reads the environment, chooses other files, or hides such a word."""
_VARIABLE = re.compile(r"[a-zA-Z_]\w*=[^\r\n]*")


def only_prints(program: str) -> bool:
    """Whether a program writes to nothing but its output, and reads nothing but its input.

    It is looked through as text and not as a program, so that nothing depends on where awk sees a
    string, a pattern or a division: a pipe is none only as ||, and > compares only before the first
    print, as it redirects only behind one.
    """
    if len(program) > LONGEST or _REACHES_OUT.search(program):
        return False
    if "|" in program.replace("||", ""):
        return False
    printing = program.find("print")
    return printing < 0 or ">" not in program[printing:]


def awk_words(words: Sequence[Word]) -> Sorted:
    """The files that awk reads, or why it may do more than read."""
    found = sorted_words("awk", words, _AWK)
    if found.refusal:
        return found
    if not found.others or any(word.glob for word in found.others[:1]):
        return Sorted(refusal="awk without a program is not known to just read")
    given = [value for name, value in found.values if name == "-v" and value]
    if not all(map(_VARIABLE.fullmatch, given)):
        return Sorted(refusal="awk -v takes a name and a value")
    program, *files = found.others
    if not all(map(only_prints, (program.text, *given))):
        return Sorted(refusal="awk can write files and run programs; this program may do that")
    if any(word.glob and not word.text[0].isalnum() for word in files):
        return Sorted(refusal="its pattern could stand for a file that is called like an option")
    # A word with = gives a variable its value, as -v does, and names no file.
    if any("=" in word.text for word in files):
        return Sorted(refusal="awk takes a word with = for a variable")
    return Sorted(tuple(files))
