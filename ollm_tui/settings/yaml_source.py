"""Turning a settings file in YAML into assignments, one per key, and warnings for the rest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from ollm_tui.settings.config_file import UnusableFile, compose, line_of
from ollm_tui.settings.given import (
    NULLS,
    Assignment,
    Given,
    GivenEntry,
    GivenList,
    GivenOther,
    GivenText,
)
from ollm_tui.settings.keys import (
    ALIAS_GROUPS,
    KeyPath,
    accepts_name,
    is_branch,
    is_table,
    resolved,
    shape,
    unknown_key,
)
from ollm_tui.settings.warning import SettingsWarning, dotted, printable

MAX_PAIRS = 5_000
"""Bounds the work, since merge keys can multiply what a small file holds."""

MAX_MERGES = 20
"""Bounds the depth, since a mapping can merge itself."""

_STANDARD_TAG = "tag:yaml.org,2002:"
_MERGE_TAG = _STANDARD_TAG + "merge"

Pair = tuple[Node, Node]


def read_yaml(text: str, file: str) -> tuple[list[Assignment], list[SettingsWarning]]:
    """Return the keys a file sets, and warnings. UnusableFile if all of it has to be skipped."""
    document = compose(text)
    walk = _Walk(file)
    if document is not None:
        walk.group(document, (), ())
    return _settled(walk.found, walk.warnings), walk.warnings


class _Walk:
    """Walks through a document along the schema and collects what it finds."""

    def __init__(self, file: str) -> None:
        self.found: list[Assignment] = []
        self.warnings: list[SettingsWarning] = []
        self._file = file
        self._pairs_seen = 0

    def group(self, node: MappingNode, path: KeyPath, written: KeyPath) -> None:
        """Collect what stands below a group; `written` is how the file spells the group."""
        lines: dict[str, int] = {}
        for key, value in self._pairs(node, written):
            name = cast(str, key.value)
            spelling = (*written, name)
            if name in lines:
                again = f"given again, first on line {lines[name]}; the later one is used"
                self._warn(key, spelling, again)
            lines[name] = line_of(key)
            self._pair(key, value, path, spelling)

    def _pair(self, key: Node, value: Node, group: KeyPath, written: KeyPath) -> None:
        path = resolved(group, written[-1])
        known = accepts_name(group, path[-1]) if is_table(group) else shape(path) is not None
        if not known and path not in ALIAS_GROUPS:
            self._warn(key, written, unknown_key(path))
        elif is_branch(path) or path in ALIAS_GROUPS:
            self._branch(key, value, path, written)
        else:
            self._found(key, path, written, _given(value))

    def _branch(self, key: Node, value: Node, path: KeyPath, written: KeyPath) -> None:
        if not isinstance(value, MappingNode) and not _is_null(value):
            self._warn(key, written, "expected keys below it; it is ignored")
            return
        if is_table(path[:-1]):
            self._found(key, path, written, GivenEntry())
        if isinstance(value, MappingNode):
            self.group(value, path, written)

    def _pairs(self, node: MappingNode, written: KeyPath, depth: int = 0) -> list[Pair]:
        """Return the pairs of a mapping after those it merges, as far as it does not set them."""
        pairs = cast(list[Pair], node.value)
        self._pairs_seen += len(pairs) + 1
        if self._pairs_seen > MAX_PAIRS or depth > MAX_MERGES:
            raise UnusableFile("it holds too many keys", line_of(node))
        own = [pair for pair in pairs if pair[0].tag != _MERGE_TAG and self._named(pair, written)]
        taken = {cast(str, key.value) for key, _ in own}
        merged: list[Pair] = []
        for source in self._merge_sources(pairs, written):
            for pair in self._pairs(source, written, depth + 1):
                if cast(str, pair[0].value) not in taken:
                    taken.add(cast(str, pair[0].value))
                    merged.append(pair)
        return merged + own

    def _merge_sources(self, pairs: list[Pair], written: KeyPath) -> Iterator[MappingNode]:
        for key, value in pairs:
            if key.tag != _MERGE_TAG:
                continue
            sources = cast(list[Node], value.value) if isinstance(value, SequenceNode) else [value]
            for source in sources:
                if isinstance(source, MappingNode):
                    yield source
                else:
                    self._warn(key, (*written, "<<"), "expected a mapping to merge; it is ignored")

    def _named(self, pair: Pair, written: KeyPath) -> bool:
        if isinstance(pair[0], ScalarNode):
            return True
        self._warn(pair[0], written, "a key must be a plain word; it is ignored")
        return False

    def _found(self, key: Node, path: KeyPath, written: KeyPath, given: Given) -> None:
        self.found.append(Assignment(path, dotted(written), given, self._file, line_of(key)))

    def _warn(self, node: Node, written: KeyPath, problem: str) -> None:
        warning = SettingsWarning(self._file, line_of(node), dotted(written), problem)
        self.warnings.append(warning)


def _settled(found: list[Assignment], warnings: list[SettingsWarning]) -> list[Assignment]:
    """Keep one assignment per key: the spelling of the schema wins, then the later one."""
    winners: dict[KeyPath, Assignment] = {}
    for one in found:
        before = winners.get(one.path)
        if before is None or _is_own_spelling(one) or not _is_own_spelling(before):
            winners[one.path] = one
    for one in found:
        winner = winners[one.path]
        if one.written != winner.written:
            problem = f"also given as {winner.written} on line {winner.line}, which is used"
            warnings.append(SettingsWarning(one.source, one.line, one.written, problem))
    return list(winners.values())


def _is_own_spelling(assignment: Assignment) -> bool:
    return assignment.written == dotted(assignment.path)


def _given(node: Node) -> Given:
    if not node.tag.startswith(_STANDARD_TAG):
        return GivenOther(f"the tag {printable(node.tag)[:60]}")
    if isinstance(node, ScalarNode):
        return GivenText(cast(str, node.value), quoted=bool(node.style))
    if not isinstance(node, SequenceNode):
        return GivenOther("a mapping")
    items = cast(list[Node], node.value)
    if all(isinstance(item, ScalarNode) and not _is_null(item) for item in items):
        return GivenList(tuple(cast(str, item.value) for item in items))
    return GivenOther("a list with items that are no words")


def _is_null(node: Node) -> bool:
    return isinstance(node, ScalarNode) and not node.style and node.value in NULLS
