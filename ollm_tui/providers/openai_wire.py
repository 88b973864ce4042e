"""The chat completions format: requests become JSON, chunks of the answer become events."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ollm_tui.core.provider import (
    ChatRequest,
    Completed,
    Finish,
    Preparing,
    PromptMessage,
    ReasoningDelta,
    StreamEvent,
    ToolCallArrived,
)
from ollm_tui.core.session.message import Usage
from ollm_tui.providers.wire.json_lines import Tree, int_at, scaled, text_at, tree_at, trees_at
from ollm_tui.providers.wire.think_tags import ThinkTagSplitter
from ollm_tui.providers.wire.tool_call_assembly import ToolCallAssembly, offered_tools

_MILLISECONDS = 1000.0
_FINISH: dict[str, Finish] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "filtered",
}


def request_body(request: ChatRequest, extra: Mapping[str, Any]) -> Tree:
    """Return the body of a streamed request; `extra` outranks our fields."""
    body: Tree = {
        "model": request.model,
        "messages": [_message(message) for message in request.messages],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.tools:
        body["tools"] = offered_tools(request.tools)
    if request.max_output is not None:
        body["max_tokens"] = request.max_output
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if isinstance(request.thinking, str):
        body["reasoning_effort"] = request.thinking
    elif request.thinking is not None:
        body["chat_template_kwargs"] = {"enable_thinking": request.thinking}
    if request.answer_schema is not None:
        schema = {"name": "answer", "schema": request.answer_schema}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    if request.continues:  # as vLLM and llama.cpp understand it
        body |= {"continue_final_message": True, "add_generation_prompt": False}
    return {**body, **extra}


def _message(message: PromptMessage) -> Tree:
    tree: Tree = {"role": message.role, "content": message.text}
    if message.images:
        text = [{"type": "text", "text": message.text}] if message.text else []
        tree["content"] = text + [
            {
                "type": "image_url",
                "image_url": {"url": f"data:{image.media_type};base64,{image.data}"},
            }
            for image in message.images
        ]
    if message.reasoning:
        tree["reasoning_content"] = message.reasoning
    if message.tool_calls:
        # Arguments that were no JSON go back as {}; otherwise servers refuse the whole prompt.
        tree["tool_calls"] = [
            {
                "id": call.call_id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.args)},
            }
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        tree["tool_call_id"] = message.tool_call_id
    return tree


class AnswerReader:
    """Turns the chunks of one answer into events; `end` gives the last ones."""

    def __init__(self) -> None:
        self._splitter = ThinkTagSplitter()
        self._calls = ToolCallAssembly()
        self._finish: Finish | None = None
        self._usage: Tree = {}
        self._timings: Tree = {}
        self._model: str | None = None

    @property
    def finished(self) -> bool:
        """Whether the server has said why the answer ended."""
        return self._finish is not None

    def feed(self, chunk: Tree) -> list[StreamEvent]:
        """Return the events of one chunk, or of a whole answer that came at once."""
        # Usage and timings may come in any chunk, usually in one without choices after the last.
        self._usage = tree_at(chunk, "usage") or self._usage
        self._timings = tree_at(chunk, "timings") or self._timings
        self._model = text_at(chunk, "model") or self._model
        choice = next(iter(trees_at(chunk, "choices")), Tree())
        delta = tree_at(choice, "delta") or tree_at(choice, "message")
        events: list[StreamEvent] = []
        progress = tree_at(chunk, "prompt_progress")
        if progress:
            events.append(Preparing("reading the prompt", _fraction(progress)))
        reasoning = text_at(delta, "reasoning_content") or text_at(delta, "reasoning")
        if reasoning:
            events.append(ReasoningDelta(reasoning))
        events += self._splitter.feed(_words(delta))
        self._calls.feed(trees_at(delta, "tool_calls"))
        if choice.get("finish_reason"):
            self._finish = _FINISH.get(str(choice["finish_reason"]), "unknown")
        return events

    def end(self) -> list[StreamEvent]:
        """Return the text that was held back, the tool calls, and Completed."""
        events: list[StreamEvent] = [*self._splitter.finish()]
        calls = self._calls.finish()
        events += [ToolCallArrived(call) for call in calls]
        finish = self._finish or "unknown"
        # Some servers say "stop" although they call tools.
        if calls and finish in ("stop", "unknown"):
            finish = "tool_calls"
        usage = _usage(self._usage, self._timings)
        events.append(Completed(finish=finish, usage=usage, model=self._model))
        return events


def _words(delta: Tree) -> str:
    """Return the text of a delta, also if it comes as a list of parts or as a refusal."""
    parts = [text_at(part, "text") for part in trees_at(delta, "content")]
    return text_at(delta, "content") or "".join(parts) or text_at(delta, "refusal")


def _fraction(progress: Tree) -> float | None:
    done, total = int_at(progress, "processed"), int_at(progress, "total")
    return min(1.0, done / total) if done is not None and total else None


def _usage(usage: Tree, timings: Tree) -> Usage | None:
    if not usage and not timings:
        return None
    cached = int_at(tree_at(usage, "prompt_tokens_details"), "cached_tokens")
    if cached is None:
        cached = int_at(timings, "cache_n")
    read = (int_at(timings, "prompt_n") or 0) + (int_at(timings, "cache_n") or 0)
    written = int_at(timings, "predicted_n") or 0
    return Usage(
        input_tokens=int_at(usage, "prompt_tokens") or read,
        output_tokens=int_at(usage, "completion_tokens") or written,
        cached_tokens=cached,
        prompt_seconds=scaled(timings, "prompt_ms", _MILLISECONDS),
        output_seconds=scaled(timings, "predicted_ms", _MILLISECONDS),
    )
