"""The judgement about a command: only when all of it is known to just read, it is read-only."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from ollm_tui.core.intake import visible
from ollm_tui.services.safety.places import Places
from ollm_tui.services.safety.plain_words import PlainCommand, plain_code
from ollm_tui.services.safety.python_dangers import python_danger
from ollm_tui.services.safety.reading import refusal
from ollm_tui.services.safety.shell_dangers import shell_danger

LONGEST_CODE = 10_000
"""Characters that are looked through; longer code always asks. The grammar takes a second for
so much code that was made to keep it busy, and four times that for twice as much."""
LONGEST_READING = 4_000
"""Characters of a command that may run unasked: nobody types more to look at something."""

LONGEST_REASON = 200

Level = Literal["read-only", "ordinary", "dangerous"]


class CommandJudgement(msgspec.Struct, frozen=True):
    """What a command is, and why."""

    level: Level
    reason: str
    """One line, fit for the user."""
    argvs: tuple[tuple[str, ...], ...] = ()
    """Its commands word by word, where it is nothing but plain words."""


def judge(code: str, place: Path, scope: Sequence[Path]) -> CommandJudgement:
    """Judge shell code that would run in a place, where only the scope may be touched."""
    if len(code) > LONGEST_CODE:
        return CommandJudgement("dangerous", "it is too long to be looked through")
    places = Places(place, scope)
    plain = plain_code(code)
    argvs = tuple(tuple(word.text for word in command.words) for command in plain.commands)
    why = plain.refusal or _refusal(plain.commands, places)
    if not why and len(code) > LONGEST_READING:
        why = "it is too long to run unasked"
    if not why:
        return CommandJudgement("read-only", "it only reads files of the project", argvs)
    if danger := shell_danger(code, places):
        return CommandJudgement("dangerous", danger, argvs)
    return CommandJudgement("ordinary", _line(why), argvs)


def judge_python(code: str, place: Path, scope: Sequence[Path]) -> CommandJudgement:
    """Judge Python code: it always asks, and some is known to be dangerous."""
    if len(code) > LONGEST_CODE:
        return CommandJudgement("dangerous", "it is too long to be looked through")
    if danger := python_danger(code, Places(place, scope)):
        return CommandJudgement("dangerous", danger)
    return CommandJudgement("ordinary", "it runs Python code")


def _refusal(commands: Sequence[PlainCommand], places: Places) -> str:
    left: list[Places] = []
    sure = True
    for at, command in enumerate(commands):
        # What does not follow by && or | also runs where it was, should cd fail.
        sure = sure and command.after in ("", "&&", "|")
        if command.words[0] == ("cd", False, False):
            moved = places.moved(command.words[1].text) if _is_plain_cd(command) else None
            if not _leads(commands, at) or moved is None:
                return "it goes to another directory"
            left.append(places)
            places = moved
            continue
        for place in (places,) if sure else (places, *left):
            if why := refusal(command, place):
                return why
    return ""


def _leads(commands: Sequence[PlainCommand], at: int) -> bool:
    """Whether a cd stands at the start: with && each, or alone."""
    before = [command.words[0].text for command in commands[:at]]
    after = commands[at + 1].after if at + 1 < len(commands) else "&&"
    alone = at == 0 and all(command.words[0].text != "cd" for command in commands[1:])
    return set(before) <= {"cd"} and (after == "&&" or (alone and after in (";", "\n")))


def _line(reason: str) -> str:
    """In one line: words of the command stand in it."""
    return " ".join(visible(reason).split())[:LONGEST_REASON]


def _is_plain_cd(command: PlainCommand) -> bool:
    """To a directory below; the shell takes .. for another one than the kernel behind links."""
    words = command.words
    if len(words) != 2 or words[1].glob or not words[1].text.strip("-"):
        return False
    return ".." not in words[1].text.split("/")
