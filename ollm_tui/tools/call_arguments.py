"""The arguments of a tool call: their schema for the model, and lenient reading of what it sends.

Each tool declares a subclass of Arguments; the schema is made from its fields.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeVar

import msgspec

from ollm_tui.core.errors import ToolError
from ollm_tui.core.intake import visible
from ollm_tui.core.provider import ToolSpec
from ollm_tui.core.tool import Action, Tell, ToolOutcome

Work = Callable[[Tell], Awaitable[ToolOutcome]]


@dataclass(frozen=True)
class Planned:
    """A planned call made of an action and a function."""

    action: Action
    work: Work

    async def run(self, tell: Tell) -> ToolOutcome:
        """Do what the action says."""
        return await self.work(tell)


ALIASES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "path": ("file_path", "filename", "filepath", "file", "file_name", "directory"),
        "content": ("contents", "text", "file_text", "data"),
        "old": ("old_string", "old_str", "old_text", "search"),
        "new": ("new_string", "new_str", "new_text", "replace", "replacement"),
        "all": ("replace_all",),
        "pattern": ("query", "regex", "glob", "name"),
        "start": ("offset", "line", "start_line", "from"),
        "end": ("to", "end_line"),
        "call": ("call_id", "id"),
        "find": ("pattern", "text", "query", "search"),
        "lines": ("limit", "count", "line_count"),
        "limit": ("max_results", "max"),
        "code": ("command", "cmd", "script"),
        "job": ("job_id", "jobId", "id"),
        "args": ("arguments", "argv", "command"),
        "text": ("task", "goal", "title", "description"),
    }
)
"""Other names that models use for a field, by the name it has here."""

_FIELD = re.compile(r" - at `\$\.?(\w*)")
_KINDS = {
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list of strings",
}


class Arguments(msgspec.Struct, frozen=True, kw_only=True):
    """Base of the arguments of one tool."""


A = TypeVar("A", bound=Arguments)


def spec_of(name: str, description: str, kind: type[Arguments]) -> ToolSpec:
    """Return what a model is told about a tool; the schema is kept short for small windows."""
    schema = _schema(kind)
    properties = {field: _described(about) for field, about in schema["properties"].items()}
    parameters = {"type": "object", "properties": properties, "required": schema["required"]}
    return ToolSpec(name, description, parameters)


def understood(tool: str, kind: type[A], args: Mapping[str, Any]) -> A:
    """Read the arguments of a call. ToolError, in one line, if one is missing or wrong."""
    schema = _schema(kind)
    fields: dict[str, dict[str, Any]] = schema["properties"]
    given = {name: _given(args, name, fields) for name in fields}
    # null counts as left out, and so does "" unless the field is a text, which may be empty.
    usable = {
        name: _as_meant(value, fields[name])
        for name, value in given.items()
        if value is not None and (value != "" or _type(fields[name]) == "string")
    }
    for name in schema["required"]:
        if name not in usable:
            about = fields[name].get("description", "")
            raise ToolError(f"{tool} needs {name}{': ' * bool(about)}{about}")
    try:
        # Not strict, so that numbers and booleans may come as strings.
        return msgspec.convert(usable, kind, strict=False)
    except msgspec.ValidationError as error:
        field = _FIELD.search(str(error))
        about = fields.get(field[1], {}) if field else {}
        if not field or not about:
            raise ToolError(f"{tool}: {error}") from error
        raise ToolError(f"{tool}: {field[1]} must be {_expected(about)}") from error


def _schema(kind: type[Arguments]) -> dict[str, Any]:
    _, found = msgspec.json.schema_components([kind])
    schema = found[kind.__name__]
    return {"properties": schema.get("properties", {}), "required": schema.get("required", [])}


def _type(about: Mapping[str, Any]) -> str:
    """Return the JSON type of a field; for a nullable field, the type besides null."""
    if "anyOf" in about:
        return next(each["type"] for each in about["anyOf"] if each["type"] != "null")
    return about.get("type", "string")


def _described(about: Mapping[str, Any]) -> dict[str, Any]:
    described: dict[str, Any] = {"type": _type(about)}
    for key in ("enum", "items", "description"):
        if key in about:
            described[key] = about[key]
    return described


def _expected(about: Mapping[str, Any]) -> str:
    if "enum" in about:
        return f"one of {', '.join(about['enum'])}"
    return _KINDS[_type(about)]


def _given(args: Mapping[str, Any], name: str, fields: Mapping[str, Any]) -> Any:
    """Return the value of a field, also under an alias that is no other field of this tool."""
    names = (name, *(alias for alias in ALIASES.get(name, ()) if alias not in fields))
    return next((args[each] for each in names if args.get(each) is not None), None)


def _as_meant(value: Any, about: Mapping[str, Any]) -> Any:
    if _type(about) == "string":
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        if isinstance(value, str) and "enum" in about:
            return value.strip().lower()
    if _type(about) == "array" and isinstance(value, list | tuple):
        each: list[Any] = list(value)  # pyright: ignore[reportUnknownArgumentType] any JSON
        return [str(one) if isinstance(one, int | float) else one for one in each]
    return value


def one_line(text: str) -> str:
    """Return foreign text fit for the inside of a sentence: one line, nothing invisible."""
    return visible(text).replace("\n", "␊").replace("\t", "␉")
