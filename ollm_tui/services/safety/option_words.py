"""Sorts the words of a command as getopt does: options with their values, and the others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ollm_tui.services.safety.plain_words import Word
from ollm_tui.services.safety.read_only import Rule

_NUMBER = re.compile(r"-\d+")
_PATTERN_IN_VALUE = re.compile(r"--[a-z-]+=.*")
"""A pattern that is harmless: files that match it begin with the same option."""


class Sorted(NamedTuple):
    """The sorted words of a command, or why it may do more than read."""

    others: tuple[Word, ...] = ()
    """Words that are neither options nor their values."""
    values: tuple[tuple[str, str], ...] = ()
    """Options, short ones with their dash and long ones without, each with its value. One whose
    value is the next word is in here twice: first with an empty value."""
    refusal: str = ""

    @property
    def options(self) -> frozenset[str]:
        """The names of the options that were given."""
        return frozenset(name for name, _ in self.values)


def sorted_words(name: str, words: Sequence[Word], rule: Rule) -> Sorted:
    """Sort the words of a command; options must be in the rule, and long ones spelled out."""
    others: list[Word] = []
    values: list[tuple[str, str]] = []
    ended, waiting = False, ""
    for word in words:
        text = word.text
        if waiting:
            if word.glob:
                return Sorted(refusal="a value of an option has a pattern")
            values.append((waiting, text))
            waiting = ""
        elif ended or text == "-" or not text.startswith("-"):
            others.append(word)
        elif text == "--":
            ended = True
        elif word.glob and not _PATTERN_IN_VALUE.fullmatch(text):
            return Sorted(refusal="its pattern could stand for an option")
        elif rule.number and _NUMBER.fullmatch(text):
            continue
        else:
            option, value, waits = _option(text, rule)
            if not option:
                return Sorted(refusal=f"{name} {text} is not on the list of what only reads")
            if waits:
                waiting = option
            values.append((option, value))
    return Sorted(tuple(others), tuple(values))


def _option(text: str, rule: Rule) -> tuple[str, str, bool]:
    """The option of a word, empty if unknown; its value; whether that is the next word.

    Of several letters in a word the last option is returned.
    """
    if text.startswith("--"):
        name, equals, value = text[2:].partition("=")
        if name in rule.long_valued.split():
            return name, value, not equals
        return (name if name in rule.long.split() else ""), value, False
    option = ""
    for at, letter in enumerate(text[1:], 2):
        option = f"-{letter}"
        if letter in rule.valued:
            return option, text[at:], at == len(text)
        if letter in rule.attached:
            return option, text[at:], False
        if letter not in rule.short:
            return "", "", False
    return option, "", False
