"""What refusals of different servers mean."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ollm_tui.core.errors import (
    AuthFailed,
    BadAnswer,
    ModelMissing,
    OverLimit,
    ProviderError,
    RateLimited,
    Unavailable,
)
from ollm_tui.providers.wire.http_errors import Refusal, message_of, one_line, refusal_error


def error_for(status: int, body: Any) -> ProviderError:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return refusal_error("S", Refusal(status, one_line(message_of(data))))


LLAMA_CPP = {
    "error": {
        "code": 400,
        "message": "request (9412 tokens) exceeds the available context size (8192 tokens)",
        "type": "exceed_context_size_error",
        "n_prompt_tokens": 9412,
        "n_ctx": 8192,
    }
}


OPENAI = (
    "This model's maximum context length is 4097 tokens. However, your messages resulted in "
    "5000 tokens."
)
VLLM = (
    "This model's maximum context length is 4096 tokens. However, you requested 5096 tokens "
    "(4996 in the messages, 100 in the completion)."
)
ANTHROPIC = "prompt is too long: 210000 tokens > 200000 maximum"


@pytest.mark.parametrize(
    ("body", "prompt", "window"),
    [
        (LLAMA_CPP, 9412, 8192),
        ({"error": json.dumps(LLAMA_CPP)}, 9412, 8192),
        ({"error": {"message": OPENAI, "code": "context_length_exceeded"}}, 5000, 4097),
        ({"detail": VLLM}, 4996, 4096),
        ({"error": {"message": ANTHROPIC}}, 210000, 200000),
        ({"error": "the prompt is longer than the context length currently available"}, None, None),
        ({"error": "the input length exceeds the context length"}, None, None),
        ({"error": "prompt too long; exceeded max context length by 12 tokens"}, None, None),
    ],
)
def test_a_prompt_that_is_too_long_is_told_with_its_counts(
    body: Any, prompt: int | None, window: int | None
) -> None:
    error = error_for(400, body)
    assert isinstance(error, OverLimit)
    assert (error.prompt_tokens, error.window) == (prompt, window)


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (401, {"error": {"message": "bad key"}}, AuthFailed),
        (403, b"", AuthFailed),
        (402, {"error": {"message": "no credit"}}, AuthFailed),
        (404, {"error": {"message": "The model `x` does not exist"}}, ModelMissing),
        (400, {"error": {"message": "x is not a valid model ID"}}, ModelMissing),
        (404, b"404 page not found", Unavailable),
        (429, {"error": "slow down"}, RateLimited),
        (500, {"error": "model requires more system memory than is available"}, Unavailable),
        (502, b"<html><b>Bad Gateway</b></html>", Unavailable),
        (301, b"", Unavailable),
        (400, {"error": "requested context size too large for model"}, BadAnswer),
        (418, [], BadAnswer),
    ],
)
def test_every_status_has_its_error_and_a_hint(
    status: int, body: Any, kind: type[ProviderError]
) -> None:
    error = error_for(status, body)
    assert type(error) is kind
    assert error.hint
    assert "html" not in error.message


def test_foreign_text_becomes_one_short_harmless_line() -> None:
    text = "\x1b]52;c;aGk=\x07a\x1b[31mb\r\nc\u202ed\x9bm\x00 " + "x" * 1000
    line = one_line(text)
    assert line.isprintable()
    assert line.startswith("ab c")
    assert "52" not in line
    assert len(line) == 300
