"""Whether `… | xargs COMMAND` only reads: what prints the names, and which names there are.

xargs splits its input at blanks, quotes and backslashes, so one file can be called like two paths.
Therefore the names come from a program that prints names of files below known folders and nothing
else, and every file there has a plain name and is one that may be read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ollm_tui.services.safety.git_reading import git_words, lists_plain_names
from ollm_tui.services.safety.option_words import sorted_words
from ollm_tui.services.safety.particular_programs import PARTICULAR
from ollm_tui.services.safety.places import PLAIN_NAME, Places, names_secrets
from ollm_tui.services.safety.plain_words import PlainCommand, Word
from ollm_tui.services.safety.read_only import RULES, Rule

_OPTION = re.compile(r"-[0rtx]+|-[0rtx]*[nLP]\d+|-d\\n|--(null|no-run-if-empty|verbose)")
_NUMBERED = re.compile(r"-[0rtx]*[nLP]")
_MAY_MEET_SECRETS = frozenset(
    (
        *("wc", "ls", "du", "stat", "md5sum", "sha1sum", "sha256sum", "sha512sum"),
        *("grep", "egrep", "fgrep"),
    )
)
"""Programs for files that may keep secrets: they tell of them what they tell of whole folders."""

_NAMES_OF_GREP = Rule(
    "rlinwEFPsIZ",
    long="recursive files-with-matches ignore-case word-regexp fixed-strings null",
    long_valued="include exclude exclude-dir",
    operands="pattern",
)
_NAMES: Mapping[str, Rule] = {
    "grep": _NAMES_OF_GREP,
    "egrep": _NAMES_OF_GREP,
    "rg": Rule(
        "linwFsS0",
        "gtT",
        "files files-with-matches ignore-case null",
        "glob type type-not",
        operands="pattern",
    ),
}
"""Searches, with the options with which they print names only, if there is one that says so."""
_ASKS_FOR_NAMES = re.compile(r"-[rinwEFPsISZ0]*l[rinwEFPsISZ0]*|--files|--files-with-matches")
_OF_GIT = frozenset(("-z", "-c", "--cached"))
_FIND_PRINTS_MORE = frozenset(("-printf", "-ls"))
_PASSES_LINES: Mapping[str, Rule] = {
    "sort": Rule("ruzV", operands="none"),
    "head": Rule("z", "n", long_valued="lines", operands="none", number=True),
    "tail": Rule("z", "n", long_valued="lines", operands="none", number=True),
    "grep": Rule("vEFiwz", long="invert-match", operands="text", most=1),
}
"""Programs that pass on whole lines, with the options with which they do."""
_WILD = re.compile(r"[*?\[]")
_UNKNOWN = "xargs would read words that are not known"


class Piped(NamedTuple):
    """The command that xargs runs, with a word for what it reads, or why it may do more."""

    command: PlainCommand
    refusal: str = ""


def piped(command: PlainCommand, before: Sequence[PlainCommand], places: Places) -> Piped:
    """Look at a command of xargs; `before` are the commands of its pipeline up to it."""
    rest = list(command.words[1:])
    while rest and rest[0].text.startswith("-"):
        option = rest.pop(0).text
        value = rest[0].text if rest else ""
        if (_NUMBERED.fullmatch(option) and value.isdecimal()) or (option, value) == ("-d", "\\n"):
            rest.pop(0)
        elif not _OPTION.fullmatch(option):
            return Piped(command, f"xargs {option} is not on the list of what only reads")
    rule = RULES.get(rest[0].text) if rest else None
    if rule is None or not rule.globs or any(word.glob for word in rest):
        return Piped(command, "xargs may run more than what only reads")
    if command.inputs or not before or any(each.inputs or each.mixed for each in before):
        return Piped(command, _UNKNOWN)
    why = _refusal(before, places, secrets=rest[0].text in _MAY_MEET_SECRETS)
    return Piped(PlainCommand((*rest, Word("./name")), command.after), why)


def _refusal(pipeline: Sequence[PlainCommand], places: Places, *, secrets: bool) -> str:
    """Why a pipeline may print other words than names of files to read; empty if it does not."""
    first, *filters = pipeline
    if any(names_secrets(word.text) for word in first.words[1:]):
        return "it looks for places where secrets are kept"
    if not all(map(_passes_lines, filters)):
        return _UNKNOWN
    if first.words[0].text == "git":
        known = _lists_index(first.words[1:], places)
        plain = known and lists_plain_names(places, secrets=secrets)
    else:
        folders = _folders(first)
        known = bool(folders)
        plain = all(_is_plain(folder, places, secrets=secrets) for folder in folders)
    if not known:
        return _UNKNOWN
    return "" if plain else "some of its files are elsewhere, keep secrets or have unusual names"


def _passes_lines(command: PlainCommand) -> bool:
    name, *words = command.words
    rule = _PASSES_LINES.get(name.text)
    if rule is None:
        return False
    found = sorted_words(name.text, words, rule)
    return not found.refusal and len(found.others) <= (1 if rule.operands == "text" else 0)


def _lists_index(words: Sequence[Word], places: Places) -> bool:
    """Whether git would list what is in its index at or below this place."""
    texts = [word.text for word in words]
    options = {text for text in texts if text.startswith("-")}
    inside = not any(text.startswith((".", "/", ":")) for text in texts)
    listed = texts[:1] == ["ls-files"] and options <= _OF_GIT and inside
    return listed and not git_words(words, places).refusal


def _folders(command: PlainCommand) -> list[str]:
    """Below which folders a command prints names of files; none if it may print other words."""
    name, *words = command.words
    texts = [word.text for word in words]
    if {"-", "--"} & set(texts):
        return []
    if name.text == "find":
        paths = PARTICULAR["find"](words).others
        return [] if _FIND_PRINTS_MORE & set(texts) else [word.text for word in paths] or ["."]
    rule = _NAMES.get(name.text)
    if rule is None or not any(map(_ASKS_FOR_NAMES.fullmatch, texts)):
        return []
    found = sorted_words(name.text, words, rule)
    if found.refusal or any(value.startswith("-") for _, value in found.values):
        return []
    pattern = 0 if "--files" in texts else 1
    return [_above(word) for word in found.others[pattern:]] or ["."]


def _above(word: Word) -> str:
    """A path, or for a pattern the folder in which its files are."""
    return (_WILD.split(word.text)[0].rpartition("/")[0] or ".") if word.glob else word.text


def _is_plain(path: str, places: Places, *, secrets: bool) -> bool:
    parts = [part for part in path.split("/") if part]
    real = places.real(path)
    return (
        all(map(PLAIN_NAME.fullmatch, parts))
        and places.is_plain_name(real, secrets=secrets)
        and places.has_plain_names(real, secrets=secrets)
    )
