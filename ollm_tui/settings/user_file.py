"""Writing one setting into the user's file; every other line of it stays as it is.

The position is found in the parsed document and the text is changed there. The result is parsed
again and written only if that key, and no other, has changed.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, cast

from yaml.nodes import MappingNode, Node, ScalarNode

from ollm_tui.core.errors import SettingsError
from ollm_tui.settings.config_file import UnusableFile, compose, read_config
from ollm_tui.settings.given import NULLS, Given, GivenText
from ollm_tui.settings.keys import ALIAS_GROUPS, resolved
from ollm_tui.settings.loaded import KeyPath
from ollm_tui.settings.warning import dotted, printable
from ollm_tui.settings.yaml_source import read_yaml

Scalar = str | int | float | bool | None
BY_HAND = "nothing changed; edit the file by hand"
_PLAIN_WORD = re.compile(r"[A-Za-z_~./][A-Za-z0-9_./-]*")
"""Texts that need no quotes in YAML, unless they are among `_NOT_WORDS`."""
_NOT_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n", "~"})


class _Pair(NamedTuple):
    key: ScalarNode
    value: Node


def set_user_value(file: Path, path: KeyPath, value: Scalar) -> None:
    """Set one key. SettingsError if the file cannot be read, changed safely or written."""
    text, before = _read(file)
    changed = _with_value(text, path, _scalar(value))
    given = _only_change(file, path, before, changed)
    if not isinstance(given, GivenText) or not _says(given, value):
        raise _unsafe(file, path)
    _write(file, changed)


def unset_user_value(file: Path, path: KeyPath) -> None:
    """Remove one key, so that its default counts again. SettingsError as for `set_user_value`."""
    text, before = _read(file)
    found = _find(compose(text), path)
    if found is None:
        return
    start = text.rfind("\n", 0, _start(found.key)) + 1
    end = text.find("\n", _end(found.value))
    changed = text[:start] + ("" if end < 0 else text[end + 1 :])
    if _only_change(file, path, before, changed) is not None:
        raise _unsafe(file, path)
    _write(file, changed)


def _read(file: Path) -> tuple[str, dict[KeyPath, Given]]:
    try:
        text = read_config(file) or ""
        return text, _parsed(text)
    except UnusableFile as error:
        raise SettingsError(f"{printable(str(file))}: {error.problem}", BY_HAND) from error


def _parsed(text: str) -> dict[KeyPath, Given]:
    found, _ = read_yaml(text, "")
    return {assignment.path: assignment.given for assignment in found}


def _only_change(
    file: Path, path: KeyPath, before: dict[KeyPath, Given], changed: str
) -> Given | None:
    """Return what a changed text says about a key. SettingsError if another key changed too."""
    try:
        after = _parsed(changed)
    except UnusableFile as error:
        raise _unsafe(file, path) from error
    given = after.pop(path, None)
    # An entry of a table that is new with its key, or empty without it, is no other change.
    around = {path[:depth] for depth in range(1, len(path) + 1)}
    kept, others = ({k: v for k, v in each.items() if k not in around} for each in (after, before))
    if kept != others:
        raise _unsafe(file, path)
    return given


def _with_value(text: str, path: KeyPath, scalar: str) -> str:
    root = compose(text)
    found = _find(root, path)
    if found:
        gap = "" if text[_start(found.value) - 1 : _start(found.value)].isspace() else " "
        return text[: _start(found.value)] + gap + scalar + text[_end(found.value) :]
    for depth in range(len(path) - 1, 0, -1):
        if group := _find(root, path[:depth]):
            return _within(text, group, path[depth:], scalar)
    break_ = "" if not text or text.endswith("\n") else "\n"
    return f"{text}{break_}{_block(path, scalar)}"


def _block(names: KeyPath, scalar: str, column: int = 0) -> str:
    """The lines that set a key: a line for each group around it, then its own."""
    *groups, key = names
    lines = [f"{name}:" for name in groups] + [f"{key}: {scalar}"]
    return "".join(f"{' ' * (column + 2 * depth)}{line}\n" for depth, line in enumerate(lines))


def _within(text: str, group: _Pair, names: KeyPath, scalar: str) -> str:
    """Insert a key into a group that is there."""
    if not (isinstance(group.value, MappingNode) and group.value.flow_style):
        return _below(text, group, names, scalar)
    *groups, key = names
    pair = "".join(f"{name}: {{" for name in groups) + f"{key}: {scalar}" + "}" * len(groups)
    at = _start(group.value) + 1
    return f"{text[:at]}{pair}{', ' if group.value.value else ''}{text[at:]}"


def _below(text: str, group: _Pair, names: KeyPath, scalar: str) -> str:
    """Insert a key as the first one below the line of its group."""
    column = group.key.start_mark.column + 2
    for key, _ in _pairs(group.value):
        column = key.start_mark.column
        break
    end = text.find("\n", _start(group.key))
    block = _block(names, scalar, column)
    return f"{text}\n{block}" if end < 0 else f"{text[: end + 1]}{block}{text[end + 1 :]}"


def _find(node: Node | None, path: KeyPath, group: KeyPath = ()) -> _Pair | None:
    """Return the pair that sets a key or opens a group, in any spelling; the last one counts."""
    found: _Pair | None = None
    for key, value in _pairs(node):
        name = resolved(group, cast(str, key.value))
        if name == path:
            found = _Pair(key, value)
        elif name == path[: len(name)] or name in ALIAS_GROUPS:
            found = _find(value, path, name) or found
    return found


def _pairs(node: Node | None) -> Iterator[_Pair]:
    if isinstance(node, MappingNode):
        for key, value in cast(list[tuple[Node, Node]], node.value):
            if isinstance(key, ScalarNode):
                yield _Pair(key, value)


def _start(node: Node) -> int:
    return cast(int, node.start_mark.index)


def _end(node: Node) -> int:
    return cast(int, node.end_mark.index)


def _scalar(value: Scalar) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    if _PLAIN_WORD.fullmatch(value) and value.lower() not in _NOT_WORDS:
        return value
    return json.dumps(value, ensure_ascii=False)


def _says(given: GivenText, value: Scalar) -> bool:
    if value is None:
        return not given.quoted and given.text in NULLS
    return any(type(one) is type(value) and one == value for one in given.readings())


def _unsafe(file: Path, path: KeyPath) -> SettingsError:
    return SettingsError(f"{dotted(path)} cannot be changed in {printable(str(file))}", BY_HAND)


def _write(file: Path, text: str) -> None:
    """Replace the file atomically, readable for its owner only."""
    # Resolved first: a link to the file stays a link.
    target = file.resolve()
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            _write_new(temporary, text.encode())
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
        _sync(target.parent)
    except OSError as error:
        reason = error.strerror or str(error)
        raise SettingsError(f"{printable(str(file))} cannot be written: {reason}", "") from error


def _write_new(path: Path, data: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
    with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
