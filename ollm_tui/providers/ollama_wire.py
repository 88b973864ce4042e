"""Ollama's native chat format: requests become JSON, lines of the answer become events."""

from __future__ import annotations

import json
from typing import Any

from ollm_tui.core.provider import (
    ChatRequest,
    Completed,
    Finish,
    PromptMessage,
    ReasoningDelta,
    StreamEvent,
    ToolCallArrived,
)
from ollm_tui.core.session.message import ToolCallPart, Usage
from ollm_tui.providers.wire.json_lines import Tree, int_at, scaled, text_at, tree_at, trees_at
from ollm_tui.providers.wire.think_tags import ThinkTagSplitter
from ollm_tui.providers.wire.tool_call_assembly import offered_tools, tool_call, with_own_ids

_NANOSECONDS = 1e9
_FINISH: dict[str, Finish] = {"stop": "stop", "length": "length"}


def request_body(request: ChatRequest) -> Tree:
    """Return the body of a streamed request.

    `truncate` and `shift` are off, so that a prompt that does not fit is an error and is not
    silently cut. Like `num_ctx`, `shift` takes effect when the model loads: a changed value would
    load it again, so both are the same in every request.
    """
    options: Tree = {
        "num_ctx": request.window,
        "num_predict": request.max_output,
        "temperature": request.temperature,
    }
    body: Tree = {
        "model": request.model,
        "messages": [_message(message) for message in request.messages],
        "stream": True,
        "truncate": False,
        "shift": False,
        "options": {key: value for key, value in options.items() if value is not None},
        "think": request.thinking,
        "format": request.answer_schema,
        "tools": offered_tools(request.tools) or None,
    }
    return {key: value for key, value in body.items() if value is not None}


def _message(message: PromptMessage) -> Tree:
    calls = [
        {"id": call.call_id, "function": {"name": call.name, "arguments": call.args}}
        for call in message.tool_calls
    ]
    tree: Tree = {
        "role": message.role,
        "content": message.text,
        "thinking": message.reasoning or None,
        "images": [image.data for image in message.images] or None,
        "tool_calls": calls or None,
        "tool_call_id": message.tool_call_id,
        "tool_name": message.tool_name,
    }
    return {key: value for key, value in tree.items() if value is not None}


class AnswerReader:
    """Turns the lines of one answer into events."""

    def __init__(self) -> None:
        self._splitter = ThinkTagSplitter()
        self._calls: list[ToolCallPart] = []
        self.finished = False

    def feed(self, line: Tree) -> list[StreamEvent]:
        """Return the events of one line; the last line ends with Completed."""
        message = tree_at(line, "message")
        events: list[StreamEvent] = []
        thinking = text_at(message, "thinking")
        if thinking:
            events.append(ReasoningDelta(thinking))
        events += self._splitter.feed(text_at(message, "content"))
        self._calls += [_call(call) for call in trees_at(message, "tool_calls")]
        if line.get("done") is True:
            self.finished = True
            events += self._end(line)
        return events

    def _end(self, line: Tree) -> list[StreamEvent]:
        finish: Finish = _FINISH.get(text_at(line, "done_reason"), "unknown")
        # Ollama says "stop" also where the answer ends with tool calls.
        if self._calls and finish != "length":
            finish = "tool_calls"
        return [
            *self._splitter.finish(),
            *(ToolCallArrived(call) for call in with_own_ids(self._calls)),
            Completed(finish=finish, usage=_usage(line), model=text_at(line, "model") or None),
        ]


def _call(call: Tree) -> ToolCallPart:
    function = tree_at(call, "function")
    # Ollama sends the arguments as an object; a text, as OpenAI sends it, is accepted too.
    arguments: Any = function.get("arguments")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    return tool_call(text_at(call, "id"), text_at(function, "name"), text)


def _usage(line: Tree) -> Usage | None:
    read, written = int_at(line, "prompt_eval_count"), int_at(line, "eval_count")
    if read is None and written is None:
        return None
    return Usage(
        input_tokens=read or 0,
        output_tokens=written or 0,
        load_seconds=scaled(line, "load_duration", _NANOSECONDS),
        prompt_seconds=scaled(line, "prompt_eval_duration", _NANOSECONDS),
        output_seconds=scaled(line, "eval_duration", _NANOSECONDS),
    )
