"""Reading a settings file: its text, and the YAML mapping it holds; neither is trusted."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any, cast

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode

from ollm_tui.settings.warning import printable

MAX_BYTES = 256 * 1024

# Far more than settings need. The file may come from anywhere: a project brings its own.
MAX_DEPTH = 30
MAX_EVENTS = 20_000

# Any, because the published types of these classes leave out what they return.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class UnusableFile(Exception):
    """A settings file has to be skipped; `problem` says why."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line


def read_config(path: Path) -> str | None:
    """Return the text of a file; None if there is none. UnusableFile if it cannot be read."""
    try:
        # Checked before it is opened: opening a pipe would wait for ever.
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise UnusableFile("it is a directory, not a file")
        if not stat.S_ISREG(mode):
            raise UnusableFile("it is not a regular file")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UnusableFile(f"cannot be read ({error.strerror or error})") from error
    if len(data) > MAX_BYTES:
        raise UnusableFile(f"it is larger than {MAX_BYTES // 1024} KB")
    return _decoded(data)


def compose(text: str) -> MappingNode | None:
    """Return the mapping of a document; None if it is empty. UnusableFile otherwise."""
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
    """Return the line a node starts on, counted from 1."""
    return cast(int, node.start_mark.line) + 1


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UnusableFile("it is not UTF-8 text", line) from error


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
