"""Tool calls that a small model wrote into its answer as JSON instead of making them properly."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, cast

from ollm_tui.core.session.message import ToolCallPart

LONGEST_TEXT = 20_000
"""A longer text is a real answer: no model writes calls of that length into it by mistake."""
MOST_CALLS = 8

_FENCED = re.compile(r"```(?:json|tool_call|tool)?\s*\n(.*?)```", re.DOTALL)
_TAGGED = re.compile(r"<(tool_call|function_call)>(.*?)(?:</\1>|\Z)", re.DOTALL)
_BETWEEN = re.compile(r"[\s,;]*")
_DECODER = json.JSONDecoder()

IsTool = Callable[[str], bool]


class _Found(NamedTuple):
    """A JSON value, and where it stands in the text, with its tags or its fence."""

    value: Any
    start: int
    end: int


def stray_calls(text: str, is_tool: IsTool) -> list[ToolCallPart]:
    """The calls in an answer: in tags, else in fences, else where the answer begins with JSON."""
    if len(text) > LONGEST_TEXT or "{" not in text:
        return []
    calls = [call for found in _objects(text) for call in _calls(found.value, is_tool)]
    return calls[:MOST_CALLS]


def without_call(text: str, asked: ToolCallPart) -> str:
    """An answer without the JSON of one call, because the call is shown by itself."""
    if len(text) > LONGEST_TEXT or "{" not in text:
        return text
    for found in _objects(text):
        if any(call.args == asked.args for call in _calls(found.value, lambda _: True)):
            around = text[: found.start].rstrip(), text[found.end :].lstrip(" \t\r\n,;")
            return "\n\n".join(filter(None, around))
    return text


def _objects(text: str) -> Iterator[_Found]:
    """The JSON values in tags, else in fences, else at the start of the text."""
    tagged = [(match, 2) for match in _TAGGED.finditer(text)]
    matches = tagged or [(match, 1) for match in _FENCED.finditer(text)]
    if not matches:
        yield from _values(text)
    # The tags or the fence belong to the call: `without_call` takes them out with it.
    for match, group in matches:
        for found in _values(match[group]):
            yield _Found(found.value, match.start(), match.end())


def _values(text: str) -> Iterator[_Found]:
    """The JSON values a text begins with, one after the other."""
    start = _after_gap(text, 0)
    while text[start : start + 1] in ("{", "["):
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            return
        yield _Found(value, start, end)
        start = _after_gap(text, end)


def _after_gap(text: str, at: int) -> int:
    found = _BETWEEN.match(text, at)
    return found.end() if found else at


def _calls(value: Any, is_tool: IsTool) -> Iterator[ToolCallPart]:
    """The calls in a JSON value, in any of the shapes that models write."""
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
