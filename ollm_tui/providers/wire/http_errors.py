"""Turning a server's refusal, its status and body, into one of the program's errors."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, cast

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
from ollm_tui.providers.wire.json_lines import (
    UnreadableError,
    as_tree,
    decode_json,
    int_at,
    text_at,
    tree_at,
    trees_at,
)

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


STATUS_OF_KIND: Mapping[str, int] = MappingProxyType(
    {
        "invalid_request_error": 400,
        "authentication_error": 401,
        "billing_error": 402,
        "permission_error": 403,
        "not_found_error": 404,
        "request_too_large": 413,
        "rate_limit_error": 429,
        "api_error": 500,
        "timeout_error": 504,
        "overloaded_error": 529,
        "rate_limit_exceeded": 429,
        "server_error": 500,
        "server_is_overloaded": 503,
        "context_length_exceeded": 400,
        "invalid_prompt": 400,
        "RESOURCE_EXHAUSTED": 429,
        "UNAVAILABLE": 503,
        "throttlingException": 429,
        "internalServerException": 500,
        "modelStreamErrorException": 502,
        "validationException": 400,
        "serviceUnavailableException": 503,
    }
)
"""The status that stands for a kind of error, for those that come inside a stream: Anthropic's,
OpenAI's, Google's and Amazon's names."""
_SPENT = re.compile(r"insufficient_quota|credit_balance|spend_limit|billing")
"""Kinds of 429 that no waiting mends."""
_BAD_KEY = re.compile(r"API_KEY_INVALID|ExpiredToken|UnrecognizedClient|InvalidSignature")
"""Kinds of 400 and 403 that are about the key."""
OVERLOADED = 529
"""Anthropic's status for a server that has too much to do."""


class Refusal(msgspec.Struct, frozen=True):
    """An error answer: the status and the server's words, already safe to show."""

    status: int
    text: str
    retry_after: float | None = None
    kind: str = ""
    """The server's own names for what is wrong; never shown."""


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
    fields = as_tree(_unwrapped(value))
    for key in ("error", "detail"):
        if fields.get(key):
            return message_in(fields[key])
    kinds = [text_at(fields, key) for key in ("type", "code")]
    said = text_at(fields, "message") or next(filter(None, kinds), "")
    beside = [kind for kind in kinds if "context" in kind]
    beside += [f"{key}: {fields[key]}" for key in ("n_prompt_tokens", "n_ctx") if key in fields]
    return " · ".join([said, *beside])


def kinds_in(value: Any) -> list[str]:
    """Return the server's names for what is wrong, from an error in any of the usual shapes."""
    fields = as_tree(_unwrapped(value))
    inner = tree_at(fields, "error") or fields
    details = as_tree(_unwrapped(inner.get("details")))
    named = [text_at(inner, key) for key in ("type", "code", "status")]
    named += [text_at(details, "error_code")]
    named += [text_at(detail, "reason") for detail in trees_at(inner, "details")]
    named += [text_at(fields, "signin_url")]
    return [name for name in named if name]


def status_of(value: Any) -> int:
    """Return the status that an error inside a stream stands for."""
    fields = as_tree(_unwrapped(value))
    inner = tree_at(fields, "error") or fields
    given = int_at(inner, "code", "status") or 0
    if given >= 400:
        return given
    known = (STATUS_OF_KIND[kind] for kind in kinds_in(value) if kind in STATUS_OF_KIND)
    # OpenAI's kinds are told twice, and only the code, which comes last, is exact.
    return max(known, default=500)


def delay_in(value: Any) -> float | None:
    """Return the seconds that Google asks to wait, which it says in the body."""
    inner = tree_at(as_tree(_unwrapped(value)), "error")
    for detail in trees_at(inner, "details"):
        found = re.fullmatch(r"(\d+(?:\.\d+)?)s", text_at(detail, "retryDelay"))
        if found:
            return float(found[1])
    return None


def _unwrapped(value: Any) -> Any:
    """Return the only element of a list; Google's errors may come in one."""
    if not isinstance(value, list):
        return value
    return next(iter(cast(list[Any], value)), None)


def refusal_error(server: str, refusal: Refusal) -> ProviderError:
    """Return the error for a refusal."""
    status, said = refusal.status, refusal.text
    detail = f": {said}" if said else f" (HTTP {status})"
    # First, because a prompt that is too long is told with several statuses.
    if status in (400, 413, 422, 500) and _TOO_LONG.search(said):
        return over_limit(server, said)
    if status in (400, 403, 429) and _BAD_KEY.search(refusal.kind):
        return AuthFailed(f"{server} refused the key{detail}", _key_hint(server))
    if status == 429 and _SPENT.search(refusal.kind):
        return AuthFailed(f"{server} requires payment{detail}", "check the account's credit")
    if status in (401, 403):
        return AuthFailed(f"{server} refused the key{detail}", _key_hint(server))
    if status == 402:
        return AuthFailed(f"{server} requires payment{detail}", "check the account's credit")
    if status == 429:
        return RateLimited(
            f"{server}: too many requests{detail}",
            "wait a moment, then send again",
            refusal.retry_after,
        )
    if status in (503, OVERLOADED) and (refusal.retry_after or status == OVERLOADED):
        return RateLimited(
            f"{server} is overloaded{detail}", "wait a moment, then send again", refusal.retry_after
        )
    if status == 404 or (status == 400 and _NO_MODEL.search(said)):
        return _not_found(server, said, detail)
    if 300 <= status < 400:
        return Unavailable(
            f"{server} redirects to another address", f"correct the baseUrl of {server}"
        )
    if status >= 500:
        return Unavailable(f"{server} failed{detail}", "send again, or check the server's log")
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
            "see `ollm models list`",
        )
    return Unavailable(
        f"{server} does not know this address{detail}", f"check the baseUrl of {server}"
    )


def _key_hint(server: str) -> str:
    return f"check the key of {server} in the settings"


def _first_number(patterns: tuple[re.Pattern[str], ...], text: str) -> int | None:
    for pattern in patterns:
        found = pattern.search(text)
        if found:
            return int(next(group for group in found.groups() if group))
    return None
