"""Bedrock's Converse format: requests become JSON, frames of the answer become events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ollm_tui.core.provider import (
    ChatRequest,
    Completed,
    Finish,
    PromptMessage,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
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
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "guardrail_intervened": "filtered",
    "content_filtered": "filtered",
}
_CACHE_POINT: Tree = {"cachePoint": {"type": "default"}}
_CACHES = ("anthropic.claude", "amazon.nova")
"""Parts of the ids of models that take marks for the cache."""


def request_body(request: ChatRequest, max_output: int | None, *, caches: bool) -> Tree:
    """Return the body of a request."""
    marked = caches and any(part in request.model for part in _CACHES)
    body: Tree = {"messages": _messages(request.messages, marked=marked)}
    if system := system_text(request.messages):
        body["system"] = [{"text": system}, *([_CACHE_POINT] if marked else [])]
    if tools := _tools(request):
        body["toolConfig"] = {"tools": tools}
    limits: Tree = {"maxTokens": longest_output(request.max_output, request.window, max_output)}
    if request.temperature is not None:
        limits["temperature"] = request.temperature
    if request.thinking and "anthropic.claude" in request.model:
        limits.pop("temperature", None)
        limits["maxTokens"] = max(limits["maxTokens"], 2 * ANSWER_BESIDE)
        budget = min(CLAUDE_BUDGETS[request.thinking], limits["maxTokens"] - ANSWER_BESIDE)
        thinking = {"type": "enabled", "budget_tokens": budget}
        body["additionalModelRequestFields"] = {"thinking": thinking}
    body["inferenceConfig"] = limits
    return body


def _tools(request: ChatRequest) -> list[Tree]:
    offered = [_tool(t.name, t.description, t.parameters) for t in request.tools]
    if offered:
        return offered
    # Calls of earlier turns are refused where no tool of their name is offered.
    names = dict.fromkeys(call.name for m in request.messages for call in m.tool_calls)
    return [_tool(name, "", {"type": "object"}) for name in names]


def _tool(name: str, description: str, schema: Mapping[str, Any]) -> Tree:
    described = description or f"The tool {name}."  # an empty one is refused
    return {"toolSpec": {"name": name, "description": described, "inputSchema": {"json": schema}}}


def _messages(messages: tuple[PromptMessage, ...], *, marked: bool) -> list[Tree]:
    turns = turns_of(messages, _words, _reply, lambda message, ids: [_result(message, ids)])
    if marked and turns and turns[-1][0] == "user":
        turns[-1][1].append(_CACHE_POINT)
    return [{"role": role, "content": blocks} for role, blocks in turns]


def _words(message: PromptMessage) -> list[Tree]:
    images: list[Tree] = [
        {
            "image": {
                "format": image.media_type.rpartition("/")[2].replace("jpg", "jpeg"),
                "source": {"bytes": image.data},
            }
        }
        for image in message.images
    ]
    return [*images, {"text": message.text}] if message.text.strip() else images


def _reply(message: PromptMessage, ids: dict[str, str]) -> list[Tree]:
    """Return the blocks of a reply, as they came if they are known; notes the ids of its calls."""
    items = message.opaque.items if message.opaque else ()
    named = [text_at(tree_at(item, "toolUse"), "toolUseId") for item in items if "toolUse" in item]
    own = own_items(message, named)
    if own is not None:
        ids.update(own)
        return list(items)
    calls = [
        {"toolUse": {"toolUseId": call.call_id, "name": call.name, "input": call.args}}
        for call in message.tool_calls
    ]
    return [*_words(message), *calls]


def _result(message: PromptMessage, ids: Mapping[str, str]) -> Tree:
    asked = message.tool_call_id or ""
    content = _words(message) or [{"text": "(nothing)"}]
    return {"toolResult": {"toolUseId": ids.get(asked, asked), "content": content}}


class AnswerReader:
    """Turns the events of one answer into ours. The blocks are kept as they came: those that are
    signed have to go back unchanged."""

    def __init__(self) -> None:
        self._blocks: dict[int, Tree] = {}
        self._stop = ""
        self._usage: Tree = {}

    @property
    def finished(self) -> bool:
        """Whether the server has said why the answer ended."""
        return bool(self._stop)

    def feed(self, kind: str, event: Tree) -> list[StreamEvent]:
        """Return the events of one event of the server."""
        index = int_at(event, "contentBlockIndex") or 0
        match kind:
            case "contentBlockStart":
                if asked := tree_at(tree_at(event, "start"), "toolUse"):
                    self._blocks[index] = {"toolUse": {**asked, "input": ""}}
            case "contentBlockDelta":
                return self._grow(index, tree_at(event, "delta"))
            case "contentBlockStop":
                return self._end_block(self._blocks.get(index, {}))
            case "messageStop":
                self._stop = text_at(event, "stopReason") or "unknown"
            case "metadata":
                self._usage = tree_at(event, "usage")
            case _:
                pass
        return []

    def end(self) -> Completed:
        """Return the end of the answer."""
        blocks = [self._blocks[index] for index in sorted(self._blocks)]
        is_signed = any("reasoningContent" in block for block in blocks)
        kept = [block for block in blocks if block.get("text") != ""]
        return Completed(
            finish=_FINISH.get(self._stop, "unknown"),
            usage=_usage(self._usage),
            opaque=tuple(kept) if is_signed else (),
        )

    def _grow(self, index: int, delta: Tree) -> list[StreamEvent]:
        if "text" in delta:
            block = self._blocks.setdefault(index, {"text": ""})
            block["text"] = text_at(block, "text") + text_at(delta, "text")
            return [TextDelta(text_at(delta, "text"))] if delta["text"] else []
        if asked := tree_at(delta, "toolUse"):
            call = tree_at(self._blocks.setdefault(index, {"toolUse": {"input": ""}}), "toolUse")
            call["input"] = text_at(call, "input") + text_at(asked, "input")
        if thought := tree_at(delta, "reasoningContent"):
            return self._think(index, thought)
        return []

    def _think(self, index: int, thought: Tree) -> list[StreamEvent]:
        block = self._blocks.setdefault(index, {"reasoningContent": {}})
        content: Tree = block["reasoningContent"]
        if "redactedContent" in thought:
            content["redactedContent"] = thought["redactedContent"]
            return []
        read = content.setdefault("reasoningText", {"text": ""})
        if "signature" in thought:
            read["signature"] = text_at(thought, "signature")
        text = text_at(thought, "text")
        read["text"] += text
        return [ReasoningDelta(text)] if text else []

    def _end_block(self, block: Tree) -> list[StreamEvent]:
        asked = tree_at(block, "toolUse")
        if not asked:
            return []
        call = tool_call(
            text_at(asked, "toolUseId"), text_at(asked, "name"), text_at(asked, "input")
        )
        asked["input"] = call.args
        return [ToolCallArrived(call)]


def _usage(usage: Tree) -> Usage | None:
    if not usage:
        return None
    plain, output = int_at(usage, "inputTokens") or 0, int_at(usage, "outputTokens") or 0
    read = int_at(usage, "cacheReadInputTokens")
    written = int_at(usage, "cacheWriteInputTokens")
    # The total tells whether what went through the cache is part of the input.
    is_part = (int_at(usage, "totalTokens") or 0) <= plain + output
    beside = 0 if is_part else (read or 0) + (written or 0)
    return Usage(
        input_tokens=plain + beside,
        output_tokens=output,
        cached_tokens=read,
        cache_written_tokens=written or None,
    )
