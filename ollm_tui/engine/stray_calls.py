"""Calls of tools that a small model wrote into its answer as JSON instead of asking properly."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, cast

from ollm_tui.core.message import ToolCallPart

LONGEST_TEXT = 20_000
"""A longer answer is one; nobody writes a call of that length by mistake."""
MOST_CALLS = 8

_FENCED = re.compile(r"```(?:json|tool_call|tool)?\s*\n(.*?)```", re.DOTALL)
_TAGGED = re.compile(r"<(tool_call|function_call)>(.*?)(?:</\1>|\Z)", re.DOTALL)
_DECODER = json.JSONDecoder()

IsTool = Callable[[str], bool]


def stray_calls(text: str, is_tool: IsTool) -> list[ToolCallPart]:
    """The calls in an answer that consists of them, apart from a sentence or two around them."""
    if len(text) > LONGEST_TEXT or "{" not in text:
        return []
    calls = [call for found in _objects(text) for call in _calls(found, is_tool)]
    return calls[:MOST_CALLS]


def _objects(text: str) -> Iterator[Any]:
    """JSON in tags, else in fences, else all of the text."""
    pieces = [match[2] for match in _TAGGED.finditer(text)]
    pieces = pieces or [match[1] for match in _FENCED.finditer(text)] or [text]
    for piece in pieces:
        rest = piece.strip()
        while rest[:1] in ("{", "["):
            try:
                value, end = _DECODER.raw_decode(rest)
            except (ValueError, RecursionError):
                break
            yield value
            rest = rest[end:].lstrip(" \t\r\n,;")


def _calls(value: Any, is_tool: IsTool) -> Iterator[ToolCallPart]:
    if isinstance(value, list):
        for each in cast(list[Any], value):
            yield from _calls(each, is_tool)
    if not isinstance(value, dict):
        return
    tree = cast(dict[str, Any], value)
    inner = tree.get("function")
    if isinstance(inner, dict):
        tree = cast(dict[str, Any], inner)
    name = tree.get("name") or tree.get("tool")
    args = tree.get("arguments", tree.get("parameters", tree.get("args", {})))
    if isinstance(args, str):
        try:
            args = json.loads(args)
        except ValueError:
            return
    if isinstance(name, str) and is_tool(name) and isinstance(args, dict):
        yield ToolCallPart(call_id="", name=name, args=cast(dict[str, Any], args))
