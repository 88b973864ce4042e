"""Turning a server's refusal, its status and body, into one of the program's errors."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from ollm_tui.core.errors import (
    AuthFailed,
    BadAnswer,
    ModelMissing,
    OverLimit,
    ProviderError,
    RateLimited,
    Unavailable,
)
from ollm_tui.core.intake import clean
from ollm_tui.providers.wire.json_lines import UnreadableError, as_tree, decode_json, text_at

MAX_FOREIGN_CHARACTERS = 300
"""How much of a server's words is shown."""

# Each server words the same refusal differently, and some only in the text of a plain 400.
_TOO_LONG = re.compile(
    r"exceed_context_size|context_length_exceeded|ContextWindowExceeded"
    r"|(?:prompt|input|request)\b.{0,60}\b(?:too long|longer than|exceed)"
    r"|maximum context length|context the overflows",
    re.IGNORECASE | re.DOTALL,
)
_NO_MODEL = re.compile(r"model\b.{0,80}(?:not found|not exist)|not a valid model", re.IGNORECASE)
_PROMPT_COUNTS = (
    re.compile(r"n_prompt_tokens\W+(\d+)"),
    re.compile(r"(?:request|input length|prompt) \((\d+) tokens\)", re.IGNORECASE),
    re.compile(
        r"prompt contains (\d+)|request has (\d+)|\((\d+) in the messages|(\d+) of text input"
    ),
    re.compile(r"resulted in (\d+) tokens|requested (?:about )?(\d+) tokens"),
    re.compile(r"too long: (\d+) tokens"),
)
_WINDOW_COUNTS = (
    re.compile(r"n_ctx\W+(\d+)"),
    re.compile(r"context (?:length|size|window)(?: is| of| of only|:)? \(?(\d+)", re.IGNORECASE),
    re.compile(r"> (\d+) maximum"),
)


class Refusal(msgspec.Struct, frozen=True):
    """An error answer: the status and the server's words, already safe to show."""

    status: int
    text: str
    retry_after: float | None = None


def one_line(text: str) -> str:
    """Return foreign text as one short line without anything a terminal would act on."""
    plain = "".join(c if c.isprintable() else " " for c in clean(text))
    line = " ".join(plain.split())
    if len(line) <= MAX_FOREIGN_CHARACTERS:
        return line
    return line[: MAX_FOREIGN_CHARACTERS - 1] + "…"


def message_of(body: bytes) -> str:
    """Return the message of an error body in any of the usual shapes; empty for a web page."""
    try:
        return message_in(decode_json(body))
    except UnreadableError:
        text = body.decode("utf-8", "replace").strip()
        return "" if text.startswith("<") else text


def message_in(value: Any) -> str:
    """Return the message of an error, with the type and counts that say a prompt is too long."""
    if isinstance(value, str):
        return value
    fields = as_tree(value)
    for key in ("error", "detail"):
        if fields.get(key):
            return message_in(fields[key])
    kinds = [text_at(fields, key) for key in ("type", "code")]
    said = text_at(fields, "message") or next(filter(None, kinds), "")
    beside = [kind for kind in kinds if "context" in kind]
    beside += [f"{key}: {fields[key]}" for key in ("n_prompt_tokens", "n_ctx") if key in fields]
    return " · ".join([said, *beside])


def refusal_error(server: str, refusal: Refusal) -> ProviderError:
    """Return the error for a refusal."""
    status, said = refusal.status, refusal.text
    detail = f": {said}" if said else f" (HTTP {status})"
    # First, because a prompt that is too long is told with several statuses.
    if status in (400, 413, 422, 500) and _TOO_LONG.search(said):
        return over_limit(server, said)
    if status in (401, 403):
        return AuthFailed(f"{server} refused the key{detail}", _key_hint(server))
    if status == 402:
        return AuthFailed(f"{server} wants payment{detail}", "check the credit of the account")
    if status == 429:
        return RateLimited(
            f"{server} gets too many requests{detail}",
            "wait a little, then send again",
            refusal.retry_after,
        )
    if status == 404 or (status == 400 and _NO_MODEL.search(said)):
        return _not_found(server, said, detail)
    if 300 <= status < 400:
        return Unavailable(
            f"{server} redirects to another address", f"correct the baseUrl of {server}"
        )
    if status >= 500:
        return Unavailable(f"{server} failed{detail}", "send again, or look at the server's log")
    return BadAnswer(f"{server} refused the request{detail}", "try another model or provider")


def over_limit(server: str, said: str) -> OverLimit:
    """Return the error for a prompt that does not fit, with the counts if the server said them."""
    prompt, window = _first_number(_PROMPT_COUNTS, said), _first_number(_WINDOW_COUNTS, said)
    counts = f" ({prompt} tokens, window {window})" if prompt and window else ""
    return OverLimit(
        f"the prompt is longer than the window of {server}{counts}",
        "compress the conversation or choose a larger window",
        prompt,
        window,
    )


def _not_found(server: str, said: str, detail: str) -> ProviderError:
    if "model" in said.lower():
        return ModelMissing(
            f"{server} does not have that model{detail}",
            "see what there is with `ollm models list`",
        )
    return Unavailable(
        f"{server} does not know that address{detail}", f"check the baseUrl of {server}"
    )


def _key_hint(server: str) -> str:
    return f"check the key of {server} in the settings"


def _first_number(patterns: tuple[re.Pattern[str], ...], text: str) -> int | None:
    for pattern in patterns:
        found = pattern.search(text)
        if found:
            return int(next(group for group in found.groups() if group))
    return None
