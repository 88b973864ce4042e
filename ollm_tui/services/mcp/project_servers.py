"""The MCP servers that a project asks for in its .mcp.json; they count only after trust."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

import msgspec

from ollm_tui.core.intake import clean
from ollm_tui.services.mcp.offer import one_line
from ollm_tui.services.safety.project_trust import digest_of
from ollm_tui.settings.schema import McpServer
from ollm_tui.storage.files.beneath import Beneath

FILE = ".mcp.json"
LARGEST_BYTES = 100_000
MOST_SERVERS = 20
_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")
_FIELDS = ("command", "args", "env", "url", "headers")
"""What is read of an entry; the rest says nothing about how to reach a server."""


class ProjectServers(NamedTuple):
    """The servers of a project as its file is now."""

    entries: Mapping[str, McpServer]
    digest: str
    """A hash of the file: trust holds for exactly this content."""
    problems: tuple[str, ...] = ()
    """What of it cannot be used, one line each."""

    @property
    def lines(self) -> tuple[str, ...]:
        """One line for each server: what would be started, or which address asked."""
        return tuple(
            one_line(f"{name}: {entry.url or ' '.join((entry.command or '', *entry.args))}")
            for name, entry in self.entries.items()
        )

    @property
    def text(self) -> str:
        """All that would be started, with the variables and headers it gets."""
        blocks: list[str] = []
        for line, entry in zip(self.lines, self.entries.values(), strict=True):
            given = {**entry.env, **entry.headers}
            blocks.append("\n".join((line, *(f"  {key}={value}" for key, value in given.items()))))
        return clean("\n\n".join((*blocks, *self.problems)))


def read_project_servers(project: Path) -> ProjectServers | None:
    """Return the servers of a project; None if it asks for none."""
    try:
        root = project.resolve()
        file = Beneath(root).read(
            (root / FILE).resolve().relative_to(root).as_posix(), LARGEST_BYTES
        )
    except (OSError, ValueError, RuntimeError):
        return None
    data = file.data if file else None
    if not data:
        return None
    digest = digest_of((data,))
    try:
        tree: Any = msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ProjectServers({}, digest, (f"{FILE} is not JSON",))
    listed: Any = cast(dict[str, Any], tree).get("mcpServers") if isinstance(tree, dict) else None
    if not isinstance(listed, dict) or not listed:
        return None
    return _checked(cast(dict[str, Any], listed), digest)


def _checked(listed: Mapping[str, Any], digest: str) -> ProjectServers:
    entries: dict[str, McpServer] = {}
    problems: list[str] = []
    for name, given in list(listed.items())[:MOST_SERVERS]:
        shown = one_line(name)[:40]
        if not _NAME.fullmatch(name):
            problems.append(f"skipped a server: invalid name {shown!r}")
        elif not isinstance(given, dict):
            problems.append(f"skipped {shown}: not a mapping")
        else:
            fields = {key: value for key, value in given.items() if key in _FIELDS}  # pyright: ignore[reportUnknownVariableType] - any JSON
            try:
                entry = msgspec.convert(fields, McpServer)
            except msgspec.ValidationError as error:
                problems.append(f"skipped {shown}: {one_line(str(error))}")
                continue
            if entry.command or entry.url:
                entries[name] = entry
            else:
                problems.append(f"skipped {shown}: neither command nor url")
    return ProjectServers(entries, digest, tuple(problems))
