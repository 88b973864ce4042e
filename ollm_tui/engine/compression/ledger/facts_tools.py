"""Facts in tool calls: the files and commands of a call, how it ended and what it printed.

What a tool answered is data: no decision, task or constraint is ever read from it.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any, TypeVar, cast

from ollm_tui.core.session.compression import Fact, FactKind
from ollm_tui.engine.compression.ledger.facts_claims import said_in
from ollm_tui.engine.compression.ledger.facts_names import identifiers_in, odd_words, paths_in
from ollm_tui.engine.compression.ledger.facts_output import exit_of, is_error, path_of_diff
from ollm_tui.engine.compression.ledger.facts_prose import (
    COMMAND_LIMIT,
    NAME_LIMIT,
    SENTENCE_LIMIT,
    VALUE_LIMIT,
    facts_said,
)
from ollm_tui.engine.compression.ledger.facts_text import WINDOW, one_line
from ollm_tui.engine.compression.ledger.facts_words import word_set

T = TypeVar("T")

_COMMAND_KEYS = word_set("command cmd shell_command commandline command_line script")
_CODE_KEYS = word_set("code input args argv")
_RUNNERS = ("exec", "shell", "bash", "run", "terminal", "command", "process", "console")
_PATH_KEYS = word_set(
    "path file filepath filename target source src dest destination paths files notebookpath "
    "oldpath newpath targetfile absolutepath relativepath relativeworkspacepath outputpath "
    "directory folder"
)
_PAGING_KEYS = word_set(
    "limit offset line lines start end count depth timeout head tail page startline endline "
    "start_line end_line max_results maxresults max_lines context"
)
_REPLACED_KEYS = ("old", "search", "before")
_SEARCHES = ("find", "search", "grep", "glob", "list", "ls", "tree")
"""Tools that name many files without touching them."""

_MOST_ERRORS, _MOST_VALUES, _MOST_NAMES, _MOST_FILES = 6, 8, 8, 8
"""Facts one output may add of each kind; of errors the first half and the last half."""

_ARGUMENT_LIMIT = 4000
_OUTPUT_HEAD, _OUTPUT_TAIL = 24_000, 24_000


def facts_called(name: str, args: dict[str, Any], source: str) -> Iterator[Fact]:
    """The facts in what a tool was asked to do."""
    command = command_of(name, args)
    if command:
        yield Fact("command", command, source=source)
        yield from _files(command, source)
    for key, text in _strings(args):
        plain = key.lower().replace("_", "").replace("-", "")
        if plain in _PATH_KEYS and text.strip() and "\n" not in text:
            yield Fact("file", one_line(text, NAME_LIMIT), source=source)
        elif key not in _COMMAND_KEYS and not plain.startswith(_REPLACED_KEYS):
            fenced = (
                f"```\n{text[:_ARGUMENT_LIMIT]}\n```" if "\n" in text else text[:_ARGUMENT_LIMIT]
            )
            found = facts_said(fenced, source, from_user=False)
            yield from (fact for fact in found if fact.kind != "command" or not command)


def facts_answered(
    name: str, args: dict[str, Any], output: str, failed: bool, source: str
) -> Iterator[Fact]:
    """The facts in what a tool gave back."""
    command = command_of(name, args)
    code = exit_of(output) if command else ""
    if command and (code or failed):
        yield Fact("command", command, f"exit {code}" if code else "failed", source)
    lines = list(_lines(output))
    errors = [line for line in lines if is_error(line)]
    if not errors and (failed or code not in ("", "0")):
        errors = [line for line in lines if line.strip() and not exit_of(line)][-1:]
    yield from (_fact("error", line, source) for line in _ends(errors, _MOST_ERRORS))
    yield from _told(lines, source, listing=name.lower().startswith(_SEARCHES))


def command_of(name: str, args: dict[str, Any]) -> str:
    """The command a call runs; nothing for a call that runs none."""
    runs = any(runner in name.lower() for runner in _RUNNERS)
    for key, value in args.items():
        if key.lower() in _COMMAND_KEYS or (runs and key.lower() in _CODE_KEYS):
            if isinstance(value, list):
                value = shlex.join(map(str, cast(list[object], value)))
            if isinstance(value, str) and value.strip():
                return one_line(value, COMMAND_LIMIT)
    return ""


def _told(lines: list[str], source: str, listing: bool) -> Iterator[Fact]:
    """Files, values and names in an output, a bounded number of each."""
    files: dict[str, Fact] = {}
    values: dict[str, Fact] = {}
    names: dict[str, Fact] = {}
    for line in lines:
        odd = odd_words(line)
        if not odd:
            continue
        diff = path_of_diff(line)
        for path in (diff,) if diff else () if listing else paths_in(odd):
            files.setdefault(path, _fact("file", path, source))
        if len(values) < _MOST_VALUES:
            claims = [claim for claim in said_in(line).claims if claim.firm or claim.dimension]
            if claims:
                fact = _fact("value", line.strip(), source)
                values.setdefault(fact.text, fact)
        for name in identifiers_in(odd, prose=False) if len(names) < _MOST_NAMES else ():
            names.setdefault(name, _fact("identifier", name, source))
    yield from _ends(list(files.values()), _MOST_FILES)
    yield from values.values()
    yield from list(names.values())[:_MOST_NAMES]


def _fact(kind: FactKind, text: str, source: str) -> Fact:
    limit = {"error": SENTENCE_LIMIT, "value": VALUE_LIMIT}.get(kind, NAME_LIMIT)
    return Fact(kind, one_line(text, limit), source=source)


def _files(text: str, source: str) -> Iterator[Fact]:
    for path in dict.fromkeys(paths_in(text)):
        yield _fact("file", path, source)


def _strings(args: dict[str, Any], depth: int = 3) -> Iterator[tuple[str, str]]:
    """The texts of arguments with the name each was given under."""
    for key, value in args.items():
        if isinstance(value, str):
            yield key, value
        elif isinstance(value, dict) and depth:
            yield from _strings(cast(dict[str, Any], value), depth - 1)
        elif isinstance(value, list) and depth:
            for item in cast(list[object], value)[:50]:
                nested = cast(dict[str, Any], item) if isinstance(item, dict) else {key: item}
                yield from _strings(nested, depth - 1)
        elif isinstance(value, int | float) and key.lower() not in _PAGING_KEYS:
            yield "", f"{key} = {value}"


def _lines(output: str) -> Iterator[str]:
    """The lines of an output; of a very long one its beginning and its end."""
    if len(output) > _OUTPUT_HEAD + _OUTPUT_TAIL:
        output = f"{output[:_OUTPUT_HEAD]}\n{output[-_OUTPUT_TAIL:]}"
    return (line[:WINDOW] for line in output.split("\n"))


def _ends(items: list[T], most: int) -> list[T]:
    distinct = list(dict.fromkeys(items))
    return distinct if len(distinct) <= most else distinct[: most // 2] + distinct[-(most // 2) :]
