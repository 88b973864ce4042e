"""How hosted servers want a prompt: the system prompt apart, and turns of alternating roles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ollm_tui.core.provider import PromptMessage, Thinking
from ollm_tui.providers.wire.json_lines import Tree

Ids = dict[str, str]
"""The server's ids of calls by ours, noted as replies are written and used by their results."""
CLAUDE_BUDGETS: Mapping[Thinking, int] = {
    True: 8192,
    "low": 2048,
    "medium": 8192,
    "high": 16_384,
    "max": 32_768,
}
"""Tokens to think with, for Claude models that want a number, at Anthropic and at Amazon."""
ANSWER_BESIDE = 4096
"""Tokens left to the answer where thinking counts as output."""


def system_text(messages: Iterable[PromptMessage]) -> str:
    """Return the system prompt; empty if there is none."""
    return "\n\n".join(m.text for m in messages if m.role == "system" and m.text)


def turns_of(
    messages: Iterable[PromptMessage],
    words: Callable[[PromptMessage], list[Tree]],
    reply: Callable[[PromptMessage, Ids], list[Tree]],
    result: Callable[[PromptMessage, Ids], list[Tree]],
) -> list[tuple[str, list[Tree]]]:
    """Return the turns of "user" and "assistant" with their blocks, without the system prompt. The
    three functions write the blocks of what the user said, of a reply and of a tool's result.
    Neighbours of one role become one turn, and empty ones are left out."""
    turns: list[tuple[str, list[Tree]]] = []
    ids: Ids = {}
    for message in messages:
        match message.role:
            case "system":
                continue
            case "user":
                role, blocks = "user", words(message)
            case "assistant":
                role, blocks = "assistant", reply(message, ids)
            case "tool":
                role, blocks = "user", result(message, ids)
        if not blocks:
            continue
        if turns and turns[-1][0] == role:
            turns[-1][1].extend(blocks)
        else:
            turns.append((role, list(blocks)))
    return turns
