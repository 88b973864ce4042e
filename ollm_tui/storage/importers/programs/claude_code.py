"""Sessions of Claude Code: one JSON object a line, in a folder for each project."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from ollm_tui.core.session.message import Part
from ollm_tui.storage.importers.programs.foreign_talk import (
    ForeignTalk,
    Tree,
    lines_of,
    said,
    text_of,
    thought,
    tree_in,
    trees_in,
)

NAME = "claude-code"
_MARKUP = re.compile(r"\s*<(?:command-(?:name|message)|local-command-\w+|system-reminder)\b")
"""How messages begin that the program wrote itself."""


def find(home: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    """Yield the files of sessions; those of subagents are no conversations with the user."""
    root = Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "projects"
    for path in sorted(root.glob("*/*.jsonl")):
        if not path.name.startswith("agent-"):
            yield path


def read(path: Path, data: bytes) -> Iterator[ForeignTalk]:
    """Yield the one session of a file."""
    talk = ForeignTalk(NAME, path.stem)
    seen: set[str] = set()
    titles: dict[str, str] = {}
    for line in lines_of(data, talk):
        kind = str(line.get("type"))
        for name in ("customTitle", "aiTitle", "summary"):
            if isinstance(line.get(name), str):
                titles[name] = line[name]
        if kind not in ("user", "assistant") or line.get("isSidechain") or line.get("isMeta"):
            continue
        key = str(line.get("uuid") or "")
        if key in seen or line.get("teamName"):  # lines may be there twice
            continue
        if key:
            seen.add(key)
        if isinstance(line.get("cwd"), str):
            talk.project = talk.project or line["cwd"]
        _take(talk, kind, line)
    talk.title = next(
        (titles[name] for name in ("customTitle", "aiTitle", "summary") if name in titles), ""
    )
    yield talk


def _take(talk: ForeignTalk, kind: str, line: Tree) -> None:
    message, at = tree_in(line, "message"), line.get("timestamp")
    content: object = message.get("content")
    if isinstance(content, str):
        if not _MARKUP.match(content) and not line.get("isCompactSummary"):
            talk.say("user" if kind == "user" else "assistant", [said(content)], at=at)
        return
    parts: list[Part] = []
    for block in trees_in(message, "content"):
        match block.get("type"):
            case "text" if not (kind == "user" and _MARKUP.match(text_of(block))):
                parts.append(said(block))
            case "thinking":
                parts.append(thought(block.get("thinking")))
            case "tool_use":
                parts.append(talk.call(block.get("id"), block.get("name"), block.get("input")))
            case "tool_result":
                failed = bool(block.get("is_error"))
                talk.answer(block.get("tool_use_id"), block.get("content"), is_error=failed, at=at)
            case "image":
                parts.append(said("[picture]"))
            case _:
                pass
    if line.get("isCompactSummary"):
        return
    model = str(message.get("model") or "")
    talk.say("user" if kind == "user" else "assistant", parts, at=at, model=model)
