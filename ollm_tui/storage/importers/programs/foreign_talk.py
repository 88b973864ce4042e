"""Builds a session from the messages of another program, in the order they were said."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, cast
from uuid import UUID, uuid5

from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.intake import clean
from ollm_tui.core.session.message import (
    Message,
    Part,
    Reasoning,
    Role,
    Text,
    ToolCallPart,
    ToolResultPart,
)
from ollm_tui.core.session.session import Session, ToolCall, ToolResult
from ollm_tui.core.session.titles import title_of
from ollm_tui.storage.importers.foreign_fields import derived_id, time_of

IMPORTED = "imported"
"""The tag of sessions that came from another program."""
_SPACE = UUID("5d5f7a52-3c0c-4b52-8f43-6d0f5f1b6b53")
"""The name space of their ids: the same conversation has the same id every time."""
LONGEST_TITLE = 200

Tree = Mapping[str, Any]


class ForeignTalk:
    """One conversation of another program while it is read."""

    def __init__(self, program: str, identifier: str) -> None:
        self.program = program
        self.identifier = identifier
        self.title = ""
        self.project: str | None = None
        self.model = ""
        self.skipped = 0
        """How many lines or entries could not be read."""
        self._messages: list[Message] = []
        self._calls: dict[str, ToolCallPart] = {}
        self._answered: list[ToolCall] = []
        self._last_time = ""

    def say(self, role: Role, parts: list[Part], *, at: object = None, model: str = "") -> None:
        """Add a message; one without any content is left out."""
        parts = [part for part in parts if not (isinstance(part, Text) and not part.text.strip())]
        if not parts:
            return
        moment = self._last_time = time_of(at) or self._last_time or clock.EPOCH
        self.model = model or self.model
        last = self._messages[-1] if self._messages else None
        if last and role == last.role == "assistant":
            # One reply may be stored in pieces; in one message, parallel calls stay together.
            self._messages[-1] = replace(last, parts=(*last.parts, *parts))
            return
        head = self._messages[-1].id if self._messages else None
        self._messages.append(
            Message(
                id=derived_id(self.session_id, len(self._messages)),
                role=role,
                parts=tuple(parts),
                timestamp=moment,
                parent_id=head,
                model=(model or None) if role == "assistant" else None,
                provider=self.program if role == "assistant" else None,
            )
        )

    def call(self, call_id: object, name: object, args: object) -> ToolCallPart:
        """Return the part for a tool call; its arguments may be a JSON text."""
        key = str(call_id or derived_id(self.session_id, "call", len(self._calls)))
        given = _parsed(args)
        part = ToolCallPart(key, clean(str(name or "tool")), given)
        self._calls[key] = part
        return part

    def answer(
        self, call_id: object, content: object, *, is_error: bool = False, at: object = None
    ) -> None:
        """Add what a tool answered; an answer to no call is left out."""
        key = str(call_id)
        asked = self._calls.pop(key, None)
        if asked is None:
            self.skipped += 1
            return
        text = text_of(content) or "[no output]"
        result = ToolResultPart(key, asked.name, text, is_error=is_error)
        self.say("tool", [result], at=at)
        moment = self._messages[-1].timestamp
        self._answered.append(ToolCall(key, asked.name, asked.args, ToolResult(text), moment))

    @property
    def session_id(self) -> str:
        """The id it has here: always the same for the same conversation."""
        return str(uuid5(_SPACE, clean(f"{self.program}:{self.identifier}")))

    def session(self) -> Session | None:
        """The session; None if nothing was said in it."""
        for key in tuple(self._calls):  # every call needs an answer before the model goes on
            self.answer(key, "[no answer was stored]", is_error=True)
        asked = next((each.text for each in self._messages if each.role == "user"), "")
        if not asked.strip():
            return None
        first, last = self._messages[0].timestamp, self._messages[-1].timestamp
        title = " ".join(clean(self.title).split())[:LONGEST_TITLE]
        return Session(
            session_id=self.session_id,
            start_time=first,
            last_activity=max(first, last),
            model=self.model or "unknown",
            provider=self.program,
            messages=tuple(self._messages),
            tool_calls=tuple(self._answered),
            title=title or title_of(asked),
            project=self.project,
            head=self._messages[-1].id,
            tags=(IMPORTED, self.program),
        )


def said(text: object) -> Text:
    """Return words of the user or a model as a part."""
    return Text(text_of(text))


def thought(text: object) -> Reasoning:
    """Return thoughts of a model as a part."""
    return Reasoning(text_of(text))


def text_of(content: object) -> str:
    """Return the text in a content, whatever its shape: text, blocks, or any JSON."""
    if isinstance(content, str):
        return clean(content)
    if content is None:
        return ""
    if isinstance(content, list):
        pieces = [text_of(each) for each in cast(list[object], content)]
        return "\n".join(piece for piece in pieces if piece)
    if isinstance(content, dict):
        tree = cast(dict[str, object], content)
        if "data" in tree and "media_type" in tree:
            return "[picture]"
        for name in ("text", "output", "content", "error"):
            if name in tree:
                return text_of(tree[name])
        if tree.get("type") in ("image", "input_image"):
            return "[picture]"
    return clean(json.dumps(content, ensure_ascii=False, default=str))


def lines_of(data: bytes, talk: ForeignTalk) -> Iterator[Tree]:
    """Yield the JSON objects of a file with one a line; others are skipped and counted."""
    for line in data.split(b"\n"):
        if not line.strip():
            continue
        try:
            tree: object = json.loads(line)
        except (ValueError, RecursionError):
            talk.skipped += 1
            continue
        if isinstance(tree, dict):
            yield cast(Tree, tree)
        else:
            talk.skipped += 1


def tree_in(tree: Tree, name: str) -> Tree:
    """Return the object of that name in another; empty if it is none."""
    value: object = tree.get(name)
    return cast(Tree, value) if isinstance(value, dict) else {}


def trees_in(tree: Tree, name: str) -> list[Tree]:
    """Return the objects in the list of that name; empty if it is none."""
    value: object = tree.get(name)
    found = cast(list[object], value) if isinstance(value, list) else []
    return [cast(Tree, each) for each in found if isinstance(each, dict)]


def _parsed(args: object) -> dict[str, Any]:
    if isinstance(args, str):
        try:
            args = json.loads(args)
        except (ValueError, RecursionError):
            return {"input": clean(str(args))}
    if isinstance(args, dict):
        # Once more through JSON: what came as another type must not break the file later.
        return cast(dict[str, Any], json.loads(json.dumps(args, default=str)))
    return {} if args is None else {"input": text_of(args)}
