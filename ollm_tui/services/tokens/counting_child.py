"""The child process that counts: `python -m ollm_tui.services.tokens.counting_child SECONDS`.

It ends after so many seconds without a request, and at once when its stdin is closed.
"""

from __future__ import annotations

import select
import sys

import msgspec

from ollm_tui.services.tokens.counting_wire import (
    Answer,
    CountTexts,
    Learn,
    Request,
    receive,
    send,
)
from ollm_tui.services.tokens.vocabulary_encoding import SHIPPED, VocabularyEncoding


def main() -> None:
    """Answer requests until there has been none for a while, or the parent has ended."""
    rest_seconds = float(sys.argv[1])
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    encodings: dict[str, VocabularyEncoding] = {}
    while select.select([requests], [], [], rest_seconds)[0]:
        try:
            request = msgspec.msgpack.decode(receive(requests), type=Request)
            send(answers, _answer(request, encodings))
        except (EOFError, BrokenPipeError):
            break


def _answer(request: Request, encodings: dict[str, VocabularyEncoding]) -> Answer:
    if isinstance(request, Learn):
        encoding = VocabularyEncoding.of(request.vocabulary)
        if encoding is not None:
            encodings[request.name] = encoding
        return encoding is not None
    return _counts(request, encodings)


def _counts(request: CountTexts, encodings: dict[str, VocabularyEncoding]) -> list[int] | None:
    name = request.name
    if name not in encodings and name in SHIPPED:
        encodings[name] = VocabularyEncoding.shipped(name)
    encoding = encodings.get(name)
    return None if encoding is None else [encoding.count(text) for text in request.texts]


if __name__ == "__main__":
    main()
