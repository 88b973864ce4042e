"""Whether one plain command only reads: its options are known and its paths lie in the project."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ollm_tui.services.command_safety.places import Places
from ollm_tui.services.command_safety.plain_words import Word
from ollm_tui.services.command_safety.read_only import (
    FIND_PLAIN,
    FIND_VALUED,
    RULES,
    VERSIONS,
    WHOLE,
    Rule,
)

_NUMBER = re.compile(r"-\d+")
_LINES_OF_SED = re.compile(r"(?:(?:\d+|\$)(?:,(?:\d+|\$|\+\d+))?p;?)+")
_PATTERN_IN_VALUE = re.compile(r"--[a-z-]+=.*")
"""Files that match it begin with the same option."""
_COUNTS_INTO_VARIABLE = re.compile(r"%[^A-Za-z%]*n")
_FILE_TESTS = frozenset(("-e", "-f", "-d", "-r", "-w", "-x", "-s", "-L", "-h"))
_HOLDS_PATTERN = frozenset(("-e", "regexp", "files", "type-list"))
GIT = "git in a shell may run programs the repository names; the git tool does not"


class _Operands(NamedTuple):
    """The paths among the words of a command, or why it may do more than read."""

    paths: tuple[Word, ...] = ()
    refusal: str = ""


def refusal(words: Sequence[Word], places: Places) -> str:
    """Why a command may do more than read the project; empty if it only does that."""
    name, *rest = words
    argv = tuple(word.text for word in words)
    if name.quoted or name.glob:
        return "the name of its program is not written plainly"
    if argv in WHOLE or (len(argv) == 2 and argv[1] in VERSIONS.get(argv[0], ())):
        return ""
    if argv[0] == "git":
        return GIT
    own = _OWN_RULES.get(argv[0])
    rule = RULES.get(argv[0])
    if own is None and rule is None:
        return f"{argv[0]} is not on the list of commands that only read"
    operands = own(rest) if own else _operands(argv[0], rest, rule or Rule())
    if operands.refusal:
        return operands.refusal
    if argv[0] == "diff" and any(places.real(word.text).is_dir() for word in operands.paths):
        return "it compares directories, and would follow links in them"
    leads = rule is not None and rule.globs
    return next(filter(None, (_path(word, places, leads) for word in operands.paths)), "")


def _path(word: Word, places: Places, leads: bool) -> str:
    if not word.glob:
        return places.refusal(word.text)
    if word.quoted or (word.text[0] in "*?-" and not leads):
        return "its pattern could stand for a file that is called like an option"
    return places.refusal_of_matches(word.text)


def _operands(name: str, words: Sequence[Word], rule: Rule) -> _Operands:
    """Go through the words as getopt does; options must be spelled out."""
    others: list[Word] = []
    given: set[str] = set()
    ended = skip = False
    for word in words:
        text = word.text
        if skip:
            skip = False
            if word.glob:
                return _Operands(refusal="a value of an option has a pattern")
        elif ended or text == "-" or not text.startswith("-"):
            others.append(word)
        elif text == "--":
            ended = True
        elif word.glob and not _PATTERN_IN_VALUE.fullmatch(text):
            return _Operands(refusal="its pattern could stand for an option")
        elif rule.number and _NUMBER.fullmatch(text):
            continue
        else:
            option, skip = _option(text, rule)
            if not option:
                return _Operands(refusal=f"{name} {text} is not on the list of what only reads")
            given.add(option)
    return _sorted_out(others, given, rule)


def _sorted_out(others: list[Word], given: set[str], rule: Rule) -> _Operands:
    if len(others) > (0 if rule.operands == "none" else rule.most):
        return _Operands(refusal="it has more words than it takes for reading")
    texts = len(others) if rule.operands == "text" else 0
    if rule.operands == "pattern" and not given & _HOLDS_PATTERN:
        texts = 1
    if any(word.glob for word in others[:texts]):
        return _Operands(refusal="the shell would replace its pattern by names of files")
    if rule.most == 1 and any(word.glob for word in others):
        return _Operands(refusal="its second file would be written")
    return _Operands(tuple(others[texts:]))


def _option(text: str, rule: Rule) -> tuple[str, bool]:
    """Which option a word is, empty if an unknown one; whether the next word is its value."""
    if text.startswith("--"):
        name, equals, _ = text[2:].partition("=")
        if name in rule.long_valued.split():
            return name, not equals
        return (name if name in rule.long.split() else ""), False
    option = ""
    for at, letter in enumerate(text[1:], 2):
        if letter in rule.valued:
            return f"-{letter}", at == len(text)
        if letter not in rule.short:
            return "", False
        option = f"-{letter}"
    return option, False


def _find(words: Sequence[Word]) -> _Operands:
    if any(word.glob for word in words):
        return _Operands(refusal="quote the pattern, or the shell replaces it by names of files")
    paths: list[Word] = []
    rest = list(words)
    while rest and rest[0].text in ("-H", "-P"):
        rest.pop(0)
    while rest and not rest[0].text.startswith(("-", "(", "!")):
        paths.append(rest.pop(0))
    skip = False
    for word in rest:
        if skip:
            skip = False
        elif word.text in FIND_VALUED:
            skip = True
        elif word.text not in FIND_PLAIN:
            return _Operands(refusal=f"find {word.text} is not on the list of what only reads")
    return _Operands(tuple(paths))


def _sed(words: Sequence[Word]) -> _Operands:
    texts = [word.text for word in words]
    if len(words) < 2 or texts[0] != "-n" or not _LINES_OF_SED.fullmatch(texts[1]):
        return _Operands(refusal="sed can write files and run programs; only sed -n '1,20p' reads")
    if any(text.startswith("-") or words[at + 2].glob for at, text in enumerate(texts[2:])):
        return _Operands(refusal="sed takes options after its files too")
    return _Operands(tuple(words[2:]))


def _echo(words: Sequence[Word]) -> _Operands:
    if any(word.glob for word in words):
        return _Operands(refusal="the shell would replace its pattern by names of files")
    return _Operands()


def _printf(words: Sequence[Word]) -> _Operands:
    if not words or words[0].text.startswith("-") or any(word.glob for word in words):
        return _Operands(refusal="printf with options can set variables")
    if _COUNTS_INTO_VARIABLE.search(words[0].text):
        return _Operands(refusal="printf with %n sets a variable")
    return _Operands()


def _test(words: Sequence[Word]) -> _Operands:
    if len(words) != 2 or words[0].text not in _FILE_TESTS or words[1].glob:
        return _Operands(refusal="only a test for one file is known to just read")
    return _Operands((words[1],))


def _date(words: Sequence[Word]) -> _Operands:
    rule = Rule("uR", "d", "utc iso-8601 rfc-3339 rfc-email", "date", operands="text")
    found = _operands("date", words, rule)
    if found.refusal:
        return found
    known = [word.text for word in words]
    skip = [at for at, text in enumerate(known) if text in ("-d", "--date")]
    others = [t for at, t in enumerate(known) if t[:1] != "-" and at - 1 not in skip]
    if any(not text.startswith("+") for text in others):
        return _Operands(refusal="date can set the clock")
    return _Operands()


_OWN_RULES: Mapping[str, Callable[[Sequence[Word]], _Operands]] = {
    "echo": _echo,
    "find": _find,
    "sed": _sed,
    "printf": _printf,
    "test": _test,
    "date": _date,
}
