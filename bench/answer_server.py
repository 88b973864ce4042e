"""A model server in its own process whose answers come when, and as fast as, they are ordered.

By hand: `python -m bench.answer_server`, then lines such as `500 200` (tokens, tokens a second).
"""

from __future__ import annotations

import asyncio
import select
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from typing import NamedTuple, Self

from bench.sample_answers import KINDS, sample_tokens
from bench.scratch_home import PYTHON, REPOSITORY
from tests.stand_ins.http_server import HttpServer, Reply, Request
from tests.stand_ins.openai_server import DONE, answering, by_path, chunk, event, text_answer

MODEL, WINDOW = "answers", 1_000_000
LAST_WORD = "Finis"
"""The last word of every answer, and of none before its end."""
PAUSE_SECONDS = 0.005
"""Between two writes: at 200 tokens a second each holds one."""
LATE_SECONDS = 60
"""How much longer than planned an order may take."""
WITHOUT_END = "without end at"
"""A prompt with these words and a speed is answered at it, without orders, until nobody reads."""
BURST_TOKENS = 50
"""In one write, when no speed was asked for."""


class AnswerServer:
    """The server seen from the benchmark: a prompt names the kind of Markdown, orders follow."""

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            (PYTHON, "-m", "bench.answer_server"),
            cwd=REPOSITORY,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.url = self._read()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.communicate()

    def stream(self, tokens: int, per_second: float = 0) -> None:
        """Send more of the answer, at a speed or as fast as it is read; waits until it is sent."""
        self._order(f"{tokens} {per_second}", tokens / per_second if per_second else 0)

    def end(self) -> None:
        """Send the last word and the end of the answer."""
        self._order("end")

    def _order(self, order: str, seconds: float = 0) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{order}\n")
        self._process.stdin.flush()
        ready, _, _ = select.select([self._process.stdout], [], [], seconds + LATE_SECONDS)
        said = self._read() if ready else "nobody asks"
        if said != "sent":
            raise RuntimeError(f"the answer was not read to its end: {said or 'the server ended'}")

    def _read(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


class _Order(NamedTuple):
    tokens: int
    per_second: float


class _Answers:
    """The server's side: orders come from stdin, one request is answered at a time."""

    def __init__(self) -> None:
        self.orders: asyncio.Queue[_Order | None] = asyncio.Queue()

    async def answer(self, request: Request, reply: Reply) -> None:
        """Stream what is ordered; a question that names no kind gets a short answer at once."""
        said = str(request.json["messages"][-1]["content"])
        if WITHOUT_END in said:
            speed = float(said.partition(WITHOUT_END)[2].split()[0])
            with suppress(ConnectionError):
                order = _Order(sys.maxsize, speed)
                await _send(reply, sample_tokens("mixed text"), order, _CHAT, [])
            raise ConnectionResetError
        kind = _kind_in(said)
        if kind is None:
            await reply.chunk(text_answer("Yes"))
            await reply.end()
        else:
            await self._stream(reply, kind, _CHAT)

    async def respond(self, request: Request, reply: Reply) -> None:
        """The same on the way of the responses, which other programs ask for."""
        parts: list[dict[str, object]] = request.json["input"][-1].get("content") or [{}]
        said = str(parts[-1].get("text"))
        kind = said if said in KINDS else None  # others ask for a title, too, and quote it
        await reply.chunk(_RESPONSES.beginning)
        if kind is None:
            await reply.chunk(_RESPONSES.word("Yes") + _RESPONSES.ending("Yes", 1))
            await reply.end()
        else:
            await self._stream(reply, kind, _RESPONSES)

    async def _stream(self, reply: Reply, kind: str, wire: _Wire) -> None:
        words, sent = sample_tokens(kind), list[str]()
        try:
            while (order := await self.orders.get()) is not None:
                await _send(reply, words, order, wire, sent)
                print("sent", flush=True)
            last = f"\n\n{LAST_WORD}\n"
            await reply.chunk(wire.word(last) + wire.ending("".join((*sent, last)), len(sent)))
            await reply.end()
            print("sent", flush=True)
        except ConnectionError:
            print("the reader is gone", flush=True)
        raise ConnectionResetError  # one answer a connection, as llama.cpp has it

    async def take_orders(self) -> None:
        """Until stdin ends."""
        reader = asyncio.StreamReader()
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        async for line in reader:
            tokens, _, speed = line.decode().strip().partition(" ")
            order = None if tokens == "end" else _Order(int(tokens), float(speed or 0))
            self.orders.put_nowait(order)


class _Wire(NamedTuple):
    """How an answer is written: what comes first, a word of it, and its end."""

    beginning: bytes
    word: Callable[[str], bytes]
    ending: Callable[[str, int], bytes]


def _kind_in(said: str) -> str | None:
    return next((kind for kind in KINDS if kind in said), None)


async def _send(
    reply: Reply, words: Iterator[str], order: _Order, wire: _Wire, all_sent: list[str]
) -> None:
    loop = asyncio.get_running_loop()
    start, sent = loop.time(), 0
    while sent < order.tokens:
        due = sent + BURST_TOKENS
        if order.per_second:
            due = int((loop.time() - start) * order.per_second) + 1
        due = min(due, order.tokens)
        now = list(islice(words, due - sent))
        await reply.chunk(b"".join(map(wire.word, now)))
        all_sent += now
        sent = due
        await asyncio.sleep(PAUSE_SECONDS if order.per_second else 0)


def _chat_word(word: str) -> bytes:
    return event(chunk({"content": word}))


def _chat_ending(_text: str, tokens: int) -> bytes:
    usage = {"prompt_tokens": 7, "completion_tokens": tokens}
    return event(chunk(finish="stop")) + event({"choices": [], "usage": usage}) + DONE


def _message(text: str) -> dict[str, object]:
    part: dict[str, object] = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "id": "m1", "role": "assistant", "content": [part] if text else []}


def _response_event(kind: str, **fields: object) -> bytes:
    return f"event: {kind}\n".encode() + event({"type": kind, **fields})


def _response_word(word: str) -> bytes:
    where = {"item_id": "m1", "output_index": 0, "content_index": 0}
    return _response_event("response.output_text.delta", **where, delta=word)


def _response_ending(text: str, tokens: int) -> bytes:
    usage = {"input_tokens": 7, "output_tokens": tokens, "total_tokens": tokens + 7}
    return _response_event(
        "response.output_item.done", output_index=0, item=_message(text)
    ) + _response_event(
        "response.completed",
        response={"id": "r1", "status": "completed", "output": [], "usage": usage},
    )


_CHAT = _Wire(b"", _chat_word, _chat_ending)
_RESPONSES = _Wire(
    _response_event("response.created", response={"id": "r1", "status": "in_progress"})
    + _response_event("response.output_item.added", output_index=0, item=_message("")),
    _response_word,
    _response_ending,
)


async def _serve() -> None:
    answers = _Answers()
    models = answering({"data": [{"id": MODEL, "context_length": WINDOW}]})
    routes = {
        "/v1/models": models,
        "/v1/chat/completions": answers.answer,
        "/v1/responses": answers.respond,
    }
    async with HttpServer(by_path(routes)) as server:
        print(server.url, flush=True)
        await answers.take_orders()


if __name__ == "__main__":
    asyncio.run(_serve())
