"""OpenAI's Responses format: requests become JSON, events of the answer become ours."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import blake2b

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
from ollm_tui.providers.wire.hosted import own_items
from ollm_tui.providers.wire.json_lines import Tree, int_at, text_at, tree_at, trees_at
from ollm_tui.providers.wire.prompt_turns import system_text
from ollm_tui.providers.wire.tool_call_assembly import tool_call

ENCRYPTED = "reasoning.encrypted_content"
_LAST_EVENTS = ("response.completed", "response.incomplete", "response.failed")
_FINISH: Mapping[str, Finish] = {"max_output_tokens": "length", "content_filter": "filtered"}


def request_body(request: ChatRequest, *, store: bool) -> Tree:
    """Return the body of a request, without `stream`.

    Nothing is stored on the server unless the user wants that: the thinking then comes encrypted,
    and is sent back with the next request.
    """
    body: Tree = {
        "model": request.model,
        "input": input_items(request.messages),
        "store": store,
        "include": [ENCRYPTED],
        "prompt_cache_key": _cache_key(request),
    }
    if system := system_text(request.messages):
        body["instructions"] = system
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
                "strict": False,
            }
            for tool in request.tools
        ]
    if request.max_output is not None:
        body["max_output_tokens"] = request.max_output
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if (reasoning := _reasoning(request.thinking)) is not None:
        body["reasoning"] = reasoning
    if request.answer_schema is not None:
        schema = {"type": "json_schema", "name": "answer", "schema": request.answer_schema}
        body["text"] = {"format": {**schema, "strict": False}}
    return body


def input_items(messages: tuple[PromptMessage, ...]) -> list[Tree]:
    """Return the items of a prompt: those that came from the server as they came."""
    items: list[Tree] = []
    ids: dict[str, str] = {}
    for message in messages:
        if message.compacted is not None:
            items += message.compacted.items
            continue
        match message.role:
            case "system":
                continue
            case "user":
                content = _content(message)
                items += [{"type": "message", "role": "user", "content": content}]
            case "assistant":
                items += _reply(message, ids)
            case "tool":
                asked = message.tool_call_id or ""
                output = _content(message) if message.images else message.text
                items.append(
                    {
                        "type": "function_call_output",
                        "call_id": ids.get(asked, asked),
                        "output": output,
                    }
                )
    return items


def _reasoning(wish: Thinking | None) -> Tree | None:
    if wish is None:
        return None
    if wish is False:
        return {"effort": "none"}
    # Without a summary nothing of the thinking can be read.
    return {"summary": "auto"} if wish is True else {"summary": "auto", "effort": wish}


def _cache_key(request: ChatRequest) -> str:
    """Return a key that the requests of one conversation share, and no others: prompts with the
    same key meet the same cache."""
    words = [message.text for message in request.messages[:2]]
    return blake2b("\0".join(words).encode("utf-8", "replace"), digest_size=12).hexdigest()


def _content(message: PromptMessage) -> list[Tree]:
    images: list[Tree] = [
        {
            "type": "input_image",
            "image_url": f"data:{image.media_type};base64,{image.data}",
            "detail": "auto",
        }
        for image in message.images
    ]
    if message.text or not images:
        return [{"type": "input_text", "text": message.text}, *images]
    return images


def _reply(message: PromptMessage, ids: dict[str, str]) -> list[Tree]:
    """Return the items of a reply, as they came if they are known; notes the ids of its calls."""
    kept = message.opaque.items if message.opaque else ()
    named = [text_at(item, "call_id") for item in kept if item.get("type") == "function_call"]
    own = own_items(message, named)
    if own is not None:
        ids.update(own)
        return list(kept)
    items: list[Tree] = []
    if message.text:
        said: Tree = {"type": "output_text", "text": message.text, "annotations": []}
        items.append({"type": "message", "role": "assistant", "content": [said]})
    items += [
        {
            "type": "function_call",
            "call_id": call.call_id,
            "name": call.name,
            "arguments": json.dumps(call.args, ensure_ascii=False),
        }
        for call in message.tool_calls
    ]
    return items


class AnswerReader:
    """Turns the events of one answer into ours. Items are known by their id: some servers number
    nothing."""

    def __init__(self) -> None:
        self._items: list[Tree] = []
        self._arguments: dict[str, str] = {}
        self._has_called = False
        self._refused = False
        self._summaries = 0
        self.finished = False
        self.failure: Tree = {}
        """The error of a failed answer."""

    def feed(self, event: Tree) -> list[StreamEvent]:
        """Return the events of one event of the server; the last ones end with Completed."""
        delta = text_at(event, "delta")
        kind = text_at(event, "type")
        match kind:
            case "response.output_text.delta":
                return [TextDelta(delta)] if delta else []
            case "response.refusal.delta":
                self._refused = True
                return [TextDelta(delta)] if delta else []
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                return [ReasoningDelta(delta)] if delta else []
            case "response.reasoning_summary_part.added":
                self._summaries += 1
                return [ReasoningDelta("\n\n")] if self._summaries > 1 else []
            case "response.function_call_arguments.delta":
                key = text_at(event, "item_id")
                self._arguments[key] = self._arguments.get(key, "") + delta
            case "response.output_item.done":
                return self._end_item(tree_at(event, "item"))
            case "response.failed":
                self.failure = tree_at(tree_at(event, "response"), "error") or event
            case _ if kind in _LAST_EVENTS:
                return self._end(tree_at(event, "response"))
            case _:
                pass
        return []

    def _end_item(self, item: Tree) -> list[StreamEvent]:
        self._items.append(item)
        if item.get("type") != "function_call":
            return []
        self._has_called = True
        written = text_at(item, "arguments") or self._arguments.get(text_at(item, "id"), "")
        name = text_at(item, "name")
        return [ToolCallArrived(tool_call(text_at(item, "call_id"), name, written))]

    def _end(self, response: Tree) -> list[StreamEvent]:
        self.finished = True
        events: list[StreamEvent] = []
        if not self._items:  # items that were not told one by one come with the end
            for item in trees_at(response, "output"):
                events += self._end_item(item)
        finish: Finish = "filtered" if self._refused else "stop"
        if self._has_called:
            finish = "tool_calls"
        if response.get("status") == "incomplete":
            reason = text_at(tree_at(response, "incomplete_details"), "reason")
            finish = _FINISH.get(reason, "unknown")
        return [
            *events,
            Completed(
                finish=finish,
                usage=usage_in(response),
                model=text_at(response, "model") or None,
                opaque=tuple(self._items) if any(map(_is_opaque, self._items)) else (),
            ),
        ]


def _is_opaque(item: Tree) -> bool:
    """Return whether there is more to an item than its text or its call."""
    return bool(item.get("encrypted_content") or item.get("phase"))


def usage_in(response: Tree) -> Usage | None:
    """Return what a response cost."""
    usage = tree_at(response, "usage")
    if not usage:
        return None
    details = tree_at(usage, "input_tokens_details")
    return Usage(
        input_tokens=int_at(usage, "input_tokens") or 0,
        output_tokens=int_at(usage, "output_tokens") or 0,
        cached_tokens=int_at(details, "cached_tokens"),
        cache_written_tokens=int_at(details, "cache_write_tokens") or None,
        reasoning_tokens=int_at(tree_at(usage, "output_tokens_details"), "reasoning_tokens"),
    )
