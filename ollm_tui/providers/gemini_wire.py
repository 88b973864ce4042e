"""Gemini's format: requests become JSON, chunks of the answer become events."""

from __future__ import annotations

from collections.abc import Mapping

from ollm_tui.core.provider import (
    ChatRequest,
    Completed,
    Finish,
    PromptMessage,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
    Thinking,
    ToolCallArrived,
)
from ollm_tui.core.session.message import ToolCallPart, Usage
from ollm_tui.providers.wire.hosted import own_items
from ollm_tui.providers.wire.json_lines import Tree, int_at, text_at, tree_at, trees_at
from ollm_tui.providers.wire.prompt_turns import Ids, system_text, turns_of

_FINISH: Mapping[str, Finish] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "CONTINUATION": "length",
    "SAFETY": "filtered",
    "RECITATION": "filtered",
    "BLOCKLIST": "filtered",
    "PROHIBITED_CONTENT": "filtered",
    "SPII": "filtered",
}
_ROLES: Mapping[str, str] = {"user": "user", "assistant": "model"}
_BUDGETS: Mapping[Thinking, int] = {
    False: 0,
    "low": 2048,
    "medium": 8192,
    "high": 24_576,
    "max": 32_768,
}
"""Tokens to think with, for the models that want a number."""
_LEVELS: Mapping[Thinking, str] = {
    False: "MINIMAL",
    "low": "LOW",
    "medium": "MEDIUM",
    "high": "HIGH",
    "max": "HIGH",
}


def request_body(request: ChatRequest) -> Tree:
    """Return the body of a request."""
    body: Tree = {"contents": _contents(request.messages)}
    if system := system_text(request.messages):
        body["systemInstruction"] = {"parts": [{"text": system}]}
    if request.tools:
        declared = [
            {"name": t.name, "description": t.description, "parametersJsonSchema": t.parameters}
            for t in request.tools
        ]
        body["tools"] = [{"functionDeclarations": declared}]
    wishes: Tree = {}
    if request.max_output is not None:
        wishes["maxOutputTokens"] = request.max_output
    if request.temperature is not None:
        wishes["temperature"] = request.temperature
    if request.thinking is not None:
        wishes["thinkingConfig"] = _thinking(request.model, request.thinking)
    if request.answer_schema is not None:
        wishes["responseMimeType"] = "application/json"
        wishes["responseJsonSchema"] = request.answer_schema
    if wishes:
        body["generationConfig"] = wishes
    return body


def _thinking(model: str, wish: Thinking) -> Tree:
    """Return how a model is told to think: until Gemini 2.5 by a number, since then by a level."""
    config: Tree = {"includeThoughts": wish is not False}
    if wish is not True:
        by_number = model.removeprefix("models/").startswith(("gemini-1", "gemini-2"))
        key = "thinkingBudget" if by_number else "thinkingLevel"
        config[key] = _BUDGETS[wish] if by_number else _LEVELS[wish]
    return config


def _contents(messages: tuple[PromptMessage, ...]) -> list[Tree]:
    def result(message: PromptMessage, ids: Ids) -> list[Tree]:
        return [_result(message, ids), *_images(message)]

    turns = turns_of(messages, _words, _reply, result)
    return [{"role": _ROLES[role], "parts": parts} for role, parts in turns]


def _images(message: PromptMessage) -> list[Tree]:
    return [{"inlineData": {"mimeType": i.media_type, "data": i.data}} for i in message.images]


def _words(message: PromptMessage) -> list[Tree]:
    # A turn without parts, or with an empty one, is refused.
    text = [{"text": message.text}] if message.text else []
    return [*text, *_images(message)]


def _reply(message: PromptMessage, ids: dict[str, str]) -> list[Tree]:
    """Return the parts of a reply, as they came if they are known; notes the ids of its calls."""
    items = message.opaque.items if message.opaque else ()
    named = [
        text_at(tree_at(item, "functionCall"), "id") for item in items if "functionCall" in item
    ]
    own = own_items(message, named)
    if own is not None:
        ids.update(own)
        return list(items)
    calls = [
        {"functionCall": {"id": call.call_id, "name": call.name, "args": call.args}}
        for call in message.tool_calls
    ]
    return [*_words(message), *calls]


def _result(message: PromptMessage, ids: Mapping[str, str]) -> Tree:
    asked = message.tool_call_id or ""
    response: Tree = {"name": message.tool_name or "tool", "response": {"output": message.text}}
    # A call that came without an id is answered without one.
    if call_id := ids.get(asked, asked):
        response["id"] = call_id
    return {"functionResponse": response}


class AnswerReader:
    """Turns the chunks of one answer into events; `end` gives the last one."""

    def __init__(self) -> None:
        self._parts: list[Tree] = []
        self._usage: Tree = {}
        self._model: str | None = None
        self._finish = ""
        self.blocked = ""
        """Why the prompt was not answered at all."""

    @property
    def finished(self) -> bool:
        """Whether the server has said why the answer ended."""
        return bool(self._finish)

    def feed(self, chunk: Tree) -> list[StreamEvent]:
        """Return the events of one chunk; its parts are all new."""
        self._usage = tree_at(chunk, "usageMetadata") or self._usage
        self._model = text_at(chunk, "modelVersion") or self._model
        self.blocked = text_at(tree_at(chunk, "promptFeedback"), "blockReason") or self.blocked
        candidate = next(iter(trees_at(chunk, "candidates")), Tree())
        self._finish = text_at(candidate, "finishReason") or self._finish
        events: list[StreamEvent] = []
        for part in trees_at(tree_at(candidate, "content"), "parts"):
            self._keep(part)
            events += _events(part)
        return events

    def end(self) -> Completed:
        """Return the end of the answer."""
        called = any("functionCall" in part for part in self._parts)
        finish = _FINISH.get(self._finish, "unknown")
        is_signed = any(part.get("thoughtSignature") for part in self._parts)
        return Completed(
            finish="tool_calls" if called and finish in ("stop", "unknown") else finish,
            usage=_usage(self._usage),
            model=self._model,
            opaque=tuple(part for part in self._parts if len(part)) if is_signed else (),
        )

    def _keep(self, part: Tree) -> None:
        """Keep a part as it came. Texts without a signature that follow one another are one text;
        a part with a signature is never joined with another."""
        before = self._parts[-1] if self._parts else {}
        if _is_plain_text(part) and _is_plain_text(before) and _same_kind(part, before):
            before["text"] += part["text"]
        else:
            self._parts.append(dict(part))


def _is_plain_text(part: Tree) -> bool:
    return isinstance(part.get("text"), str) and set(part) <= {"text", "thought"}


def _same_kind(part: Tree, other: Tree) -> bool:
    return bool(part.get("thought")) == bool(other.get("thought"))


def _events(part: Tree) -> list[StreamEvent]:
    call = tree_at(part, "functionCall")
    if call:
        name, args = text_at(call, "name") or "unnamed", tree_at(call, "args")
        asked = ToolCallPart(call_id=text_at(call, "id"), name=name, args=args)
        return [ToolCallArrived(asked)]
    text = text_at(part, "text")
    if not text:
        return []
    return [ReasoningDelta(text)] if part.get("thought") is True else [TextDelta(text)]


def _usage(usage: Tree) -> Usage | None:
    if not usage:
        return None
    thoughts = int_at(usage, "thoughtsTokenCount")
    return Usage(
        input_tokens=int_at(usage, "promptTokenCount") or 0,
        output_tokens=(int_at(usage, "candidatesTokenCount") or 0) + (thoughts or 0),
        cached_tokens=int_at(usage, "cachedContentTokenCount"),
        reasoning_tokens=thoughts,
    )
