"""What an MCP server offers, as far as it can be used: its tools, resources and prompts.

Everything in it is foreign: names are checked, texts cleaned and cut, schemas made harmless.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import msgspec

from ollm_tui.core.intake import clean

MOST_ENTRIES = 500
"""More tools, resources or prompts than this of one server are not looked at."""
LONGEST_DESCRIPTION = 400
"""Characters of a description that the model and the user are shown."""
LARGEST_SCHEMA = 20_000
"""Characters of a schema; a tool with a larger one would fill a window by itself."""
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]{0,63}")


class ServerTool(NamedTuple):
    """A tool of a server."""

    name: str
    description: str
    schema: dict[str, Any]


class ServerResource(NamedTuple):
    """Something a server can be asked for by its address."""

    uri: str
    name: str
    description: str = ""


class ServerPrompt(NamedTuple):
    """A text that a server makes from a few words."""

    name: str
    description: str = ""
    arguments: tuple[str, ...] = ()
    required: tuple[str, ...] = ()


class Offer(NamedTuple):
    """All that a server offers."""

    tools: tuple[ServerTool, ...] = ()
    resources: tuple[ServerResource, ...] = ()
    prompts: tuple[ServerPrompt, ...] = ()
    problems: tuple[str, ...] = ()
    """What is left out, and why, one line each."""


def offer_of(
    tools: Sequence[Any], resources: Sequence[Any], prompts: Sequence[Any], allowed: object
) -> Offer:
    """Check what a server listed; `allowed` are the names of the tools the settings want, or
    None for all."""
    problems: list[str] = []
    usable: dict[str, ServerTool] = {}
    for each in tools[:MOST_ENTRIES]:
        name = str(each.name)
        if isinstance(allowed, tuple) and name not in allowed:
            continue
        schema = _schema(each.input_schema)
        if not _NAME.fullmatch(name) or name in usable:
            problems.append(f"skipped a tool: invalid name {one_line(name)[:40]!r}")
        elif schema is None:
            problems.append(f"skipped {name}: invalid schema")
        else:
            usable[name] = ServerTool(name, _short(each.description or each.title), schema)
    listed = tuple(
        ServerResource(one_line(str(each.uri)), one_line(each.name), _short(each.description))
        for each in resources[:MOST_ENTRIES]
    )
    asked = tuple(
        ServerPrompt(
            each.name,
            _short(each.description or each.title),
            tuple(one_line(one.name) for one in each.arguments or ()),
            tuple(one_line(one.name) for one in each.arguments or () if one.required),
        )
        for each in prompts[:MOST_ENTRIES]
        if _NAME.fullmatch(each.name)
    )
    return Offer(tuple(usable.values()), listed, asked, tuple(problems))


def one_line(text: str) -> str:
    """Return foreign text as one line without controls."""
    return " ".join(clean(text).split())


def _short(text: str | None) -> str:
    line = one_line(text or "")
    return line if len(line) <= LONGEST_DESCRIPTION else f"{line[: LONGEST_DESCRIPTION - 1]}…"


def _schema(given: object) -> dict[str, Any] | None:
    """Return the schema of a tool's arguments; None if it is none, or too large."""
    if not isinstance(given, Mapping):
        return None
    schema = cast(dict[str, Any], given)
    properties: object = schema.get("properties") or {}
    if schema.get("type") != "object" or not isinstance(properties, Mapping):
        return None
    try:
        text = clean(msgspec.json.encode(schema).decode())
        kept: dict[str, Any] = msgspec.json.decode(text)
    except (msgspec.MsgspecError, TypeError, RecursionError):
        return None
    kept.pop("$schema", None)
    kept["properties"] = kept.get("properties") or {}
    return kept if len(text) <= LARGEST_SCHEMA else None
