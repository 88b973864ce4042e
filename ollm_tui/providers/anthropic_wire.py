"""Anthropic's Messages format: requests become JSON, events of the answer become ours."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

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
from ollm_tui.core.session.message import Usage
from ollm_tui.providers.wire.hosted import longest_output, own_items
from ollm_tui.providers.wire.json_lines import Tree, int_at, text_at, tree_at
from ollm_tui.providers.wire.prompt_turns import (
    ANSWER_BESIDE,
    CLAUDE_BUDGETS,
    system_text,
    turns_of,
)
from ollm_tui.providers.wire.tool_call_assembly import tool_call

_FINISH: Mapping[str, Finish] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "filtered",
}
LEAST_BUDGET = 1024
_CACHED = {"type": "ephemeral"}


class Abilities(NamedTuple):
    """What decides how a model is asked."""

    max_output: int | None = None
    adaptive: bool | None = None
    """Whether the model decides by itself how long it thinks; None if the server does not say."""
    thinking: bool | None = None
    caches: bool = True
    """Whether the prompt is marked for the server's cache."""


def request_body(request: ChatRequest, able: Abilities) -> Tree:
    """Return the body of a request, without `stream`."""
    body: Tree = {
        "model": request.model,
        "max_tokens": longest_output(request.max_output, request.window, able.max_output),
        "messages": _messages(request.messages),
    }
    if system := system_text(request.messages):
        body["system"] = [{"type": "text", "text": system}]
    if request.tools:
        body["tools"] = [
            {"name": t.name, "description": t.description, "input_schema": t.parameters}
            for t in request.tools
        ]
    if request.temperature is not None:
        body["temperature"] = request.temperature
    _add_thinking(body, request.thinking, able)
    if request.answer_schema is not None:
        schema = {"type": "json_schema", "schema": request.answer_schema}
        body.setdefault("output_config", {})["format"] = schema
    if able.caches:
        _mark_for_cache(body)
    return body


def _add_thinking(body: Tree, wish: Thinking | None, able: Abilities) -> None:
    if wish is None or able.thinking is False:
        return
    if wish is False:
        body["thinking"] = {"type": "disabled"}
        return
    # It may be chosen only by models that do not think.
    body.pop("temperature", None)
    if able.adaptive is not False:
        body["thinking"] = {"type": "adaptive", "display": "summarized"}
        if wish is not True:
            body["output_config"] = {"effort": wish}
        return
    budget = CLAUDE_BUDGETS[wish]
    body["max_tokens"] = max(body["max_tokens"], LEAST_BUDGET + ANSWER_BESIDE)
    budget = max(LEAST_BUDGET, min(budget, body["max_tokens"] - ANSWER_BESIDE))
    body["thinking"] = {"type": "enabled", "budget_tokens": budget}


def _mark_for_cache(body: Tree) -> None:
    """Mark the end of what stays the same, and the end of the prompt, which begins the next."""
    if body.get("system"):
        body["system"][-1]["cache_control"] = _CACHED
    elif body.get("tools"):
        body["tools"][-1]["cache_control"] = _CACHED
    if not body["messages"]:
        return
    last: Tree = body["messages"][-1]["content"][-1]
    if last.get("type") in ("text", "image", "tool_result", "tool_use"):
        last["cache_control"] = _CACHED


def _messages(messages: tuple[PromptMessage, ...]) -> list[Tree]:
    turns = turns_of(messages, _words, _reply, lambda message, ids: [_result(message, ids)])
    return [{"role": role, "content": blocks} for role, blocks in turns]


def _words(message: PromptMessage) -> list[Tree]:
    blocks: list[Tree] = [
        {
            "type": "image",
            "source": {"type": "base64", "media_type": image.media_type, "data": image.data},
        }
        for image in message.images
    ]
    # An empty or blank text is refused.
    return [*blocks, {"type": "text", "text": message.text}] if message.text.strip() else blocks


def _reply(message: PromptMessage, ids: dict[str, str]) -> list[Tree]:
    """Return the blocks of a reply, as they came if they are known; notes the ids of its calls."""
    items = message.opaque.items if message.opaque else ()
    named = [text_at(item, "id") for item in items if item.get("type") == "tool_use"]
    own = own_items(message, named)
    if own is not None:
        ids.update(own)
        return [dict(item) for item in items]
    calls = [
        {"type": "tool_use", "id": call.call_id, "name": call.name, "input": call.args}
        for call in message.tool_calls
    ]
    return [*_words(message), *calls]


def _result(message: PromptMessage, ids: Mapping[str, str]) -> Tree:
    asked = message.tool_call_id or ""
    content: list[Tree] = [*_words(message)]
    block: Tree = {"type": "tool_result", "tool_use_id": ids.get(asked, asked)}
    return {**block, "content": content} if content else block


class AnswerReader:
    """Turns the events of one answer into ours. The blocks are kept as they came: those that are
    signed have to go back unchanged."""

    def __init__(self) -> None:
        self._blocks: dict[int, Tree] = {}
        self._json: dict[int, str] = {}
        self._usage: Tree = {}
        self._stop = ""
        self._model: str | None = None
        self.finished = False

    def feed(self, event: Tree) -> list[StreamEvent]:
        """Return the events of one event of the server; the last ones end with Completed."""
        index = int_at(event, "index") or 0
        match event.get("type"):
            case "message_start":
                message = tree_at(event, "message")
                self._usage.update(tree_at(message, "usage"))
                self._model = text_at(message, "model") or None
            case "content_block_start":
                self._blocks[index] = dict(tree_at(event, "content_block"))
                self._json[index] = ""
                return self._text_of(self._blocks[index])
            case "content_block_delta":
                return self._grow(index, tree_at(event, "delta"))
            case "content_block_stop":
                return self._end_block(index)
            case "message_delta":
                self._stop = text_at(tree_at(event, "delta"), "stop_reason") or self._stop
                usage = tree_at(event, "usage")
                # Its values are totals; what is absent stays as the start said it.
                self._usage.update({k: v for k, v in usage.items() if v is not None})
            case "message_stop":
                self.finished = True
                return [self._completed()]
            case _:
                pass
        return []

    def _text_of(self, block: Tree) -> list[StreamEvent]:
        """Return what a block has from the beginning; most begin empty."""
        text, thinking = text_at(block, "text"), text_at(block, "thinking")
        events: list[StreamEvent] = [TextDelta(text)] if text else []
        return [*events, ReasoningDelta(thinking)] if thinking else events

    def _grow(self, index: int, delta: Tree) -> list[StreamEvent]:
        block = self._blocks.setdefault(index, {"type": "text", "text": ""})
        match delta.get("type"):
            case "text_delta":
                text = text_at(delta, "text")
                block["text"] = text_at(block, "text") + text
                return [TextDelta(text)] if text else []
            case "thinking_delta":
                text = text_at(delta, "thinking")
                block["thinking"] = text_at(block, "thinking") + text
                return [ReasoningDelta(text)] if text else []
            case "signature_delta":
                block["signature"] = text_at(delta, "signature")
            case "input_json_delta":
                self._json[index] = self._json.get(index, "") + text_at(delta, "partial_json")
            case _:
                pass
        return []

    def _end_block(self, index: int) -> list[StreamEvent]:
        block = self._blocks.get(index, {})
        if block.get("type") != "tool_use":
            return []
        # Nearly all calls begin with an empty input, which then comes in pieces.
        written = self._json.get(index) or json.dumps(tree_at(block, "input"))
        call = tool_call(text_at(block, "id"), text_at(block, "name"), written)
        block["input"] = call.args
        return [ToolCallArrived(call)]

    def _completed(self) -> Completed:
        blocks = [self._blocks[index] for index in sorted(self._blocks)]
        is_signed = any(block.get("signature") or block.get("data") for block in blocks)
        kept = [block for block in blocks if block.get("type") != "text" or block.get("text")]
        return Completed(
            finish=_FINISH.get(self._stop, "unknown"),
            usage=_usage(self._usage),
            model=self._model,
            opaque=tuple(kept) if is_signed else (),
        )


def _usage(usage: Tree) -> Usage | None:
    if not usage:
        return None
    read = int_at(usage, "cache_read_input_tokens")
    written = int_at(usage, "cache_creation_input_tokens")
    return Usage(
        input_tokens=(int_at(usage, "input_tokens") or 0) + (read or 0) + (written or 0),
        output_tokens=int_at(usage, "output_tokens") or 0,
        cached_tokens=read,
        cache_written_tokens=written or None,
        reasoning_tokens=int_at(tree_at(usage, "output_tokens_details"), "thinking_tokens"),
    )
