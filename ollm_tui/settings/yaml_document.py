"""YAML text to nodes with line numbers. Nothing is constructed, so no tag can do anything."""

from __future__ import annotations

from typing import Any, cast

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode

from ollm_tui.settings.config_file import UnusableFile
from ollm_tui.settings.warning import printable

MAX_DEPTH = 30
MAX_EVENTS = 20_000

# Any, because the published types of these classes leave out what they return.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def compose(text: str) -> MappingNode | None:
    """The mapping a document consists of; None if it is empty. UnusableFile otherwise."""
    try:
        _refuse_extremes(text)
        node = cast(Node | None, _LOADER(text).get_single_node())
    except yaml.YAMLError as error:
        raise UnusableFile(f"it is not YAML ({_problem(error)})", _line(error)) from error
    if node is None or (isinstance(node, ScalarNode) and not node.value):
        return None
    if not isinstance(node, MappingNode):
        raise UnusableFile("it must consist of keys and values", line_of(node))
    return node


def line_of(node: Node) -> int:
    """The line a node starts on, counted from 1."""
    return cast(int, node.start_mark.line) + 1


def _refuse_extremes(text: str) -> None:
    # Composing recurses in C without a limit: 200,000 brackets end the whole process.
    loader = _LOADER(text)
    depth = count = 0
    while loader.check_event():
        event = loader.get_event()
        count += 1
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH or count > MAX_EVENTS:
            line = int(event.start_mark.line) + 1
            raise UnusableFile("it is nested too deeply or too long", line)


def _problem(error: yaml.YAMLError) -> str:
    words: Any = getattr(error, "problem", None) or getattr(error, "reason", None)
    return printable(str(words or "unknown problem"))[:120]


def _line(error: yaml.YAMLError) -> int | None:
    mark: Any = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    return None if mark is None else int(mark.line) + 1
