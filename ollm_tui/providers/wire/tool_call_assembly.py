"""Tools as requests offer them, and tool calls put together from the pieces servers stream."""

from __future__ import annotations

import json
from collections.abc import Sequence

import msgspec

from ollm_tui.core.provider import ToolSpec
from ollm_tui.core.session.message import ToolCallPart, new_id
from ollm_tui.providers.wire.json_lines import (
    Tree,
    UnreadableError,
    as_tree,
    decode_json,
    int_at,
    text_at,
    tree_at,
)


def offered_tools(tools: Sequence[ToolSpec]) -> list[Tree]:
    """Return the `tools` field of a request, in the form that OpenAI and Ollama share."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
            },
        }
        for tool in tools
    ]


class _Unfinished:
    """A call of which some pieces have come."""

    def __init__(self, index: int | None) -> None:
        self.index = index
        self.call_id = ""
        self.name = ""
        self.arguments = ""


class ToolCallAssembly:
    """Collects the `tool_calls` deltas of one answer.

    Servers differ: some leave out the index or the id, some give every call index 0, some
    repeat the name in each piece, some send the arguments as an object.
    """

    def __init__(self) -> None:
        self._calls: list[_Unfinished] = []

    def feed(self, pieces: list[Tree]) -> None:
        """Take in the pieces of one chunk."""
        for piece in pieces:
            self._take(piece)

    def finish(self) -> list[ToolCallPart]:
        """Return the complete calls, each with an id of its own."""
        calls = [tool_call(c.call_id, c.name, c.arguments) for c in self._calls]
        self._calls.clear()
        return with_own_ids(calls)

    def _take(self, piece: Tree) -> None:
        fields = tree_at(piece, "function")
        call_id, name = text_at(piece, "id"), text_at(fields, "name")
        call = self._call_for(int_at(piece, "index"), call_id, name)
        call.call_id = call.call_id or call_id
        # A name may come in pieces, or whole with each piece.
        if name != call.name:
            call.name += name
        arguments = fields.get("arguments")
        if isinstance(arguments, str):
            call.arguments += arguments
        elif arguments is not None:
            call.arguments = json.dumps(arguments)

    def _call_for(self, index: int | None, call_id: str, name: str) -> _Unfinished:
        """Return the call that a piece belongs to; a new one if it belongs to none."""
        fitting = [call for call in self._calls if call.index == index]
        if call_id:
            ids = {call_id} if index is None else {call_id, ""}
            fitting = [call for call in fitting if call.call_id in ids]
        elif index is None and name:
            fitting = []
        if not fitting:
            fitting = [_Unfinished(index)]
            self._calls += fitting
        return fitting[-1]


def with_own_ids(calls: list[ToolCallPart]) -> list[ToolCallPart]:
    """Return the calls of one answer, with new ids where one is missing or used twice."""
    seen = {""}
    owned: list[ToolCallPart] = []
    for call in calls:
        call_id = call.call_id if call.call_id not in seen else f"call_{new_id()}"
        seen.add(call_id)
        owned.append(msgspec.structs.replace(call, call_id=call_id))
    return owned


def tool_call(call_id: str, name: str, arguments: str) -> ToolCallPart:
    """Make a call from its JSON arguments; what is no object is kept in `raw_arguments`."""
    name = name or "unnamed"
    try:
        args = decode_json(arguments.strip() or "{}")
    except UnreadableError:
        args = None
    if isinstance(args, dict):
        return ToolCallPart(call_id=call_id, name=name, args=as_tree(args))
    return ToolCallPart(call_id=call_id, name=name, args={}, raw_arguments=arguments)
