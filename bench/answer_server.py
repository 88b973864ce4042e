"""A model server in its own process whose answers come when, and as fast as, they are ordered.

By hand: `python -m bench.answer_server`, then lines such as `500 200` (tokens, tokens a second).
"""

from __future__ import annotations

import asyncio
import select
import subprocess
import sys
from collections.abc import Iterator
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
        kind = next((kind for kind in KINDS if kind in said), None)
        if kind is None:
            await reply.chunk(text_answer("Yes"))
            await reply.end()
            return
        words, sent = sample_tokens(kind), 0
        try:
            while (order := await self.orders.get()) is not None:
                await _send(reply, words, order)
                sent += order.tokens
                print("sent", flush=True)
            await reply.chunk(_ending(sent))
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


async def _send(reply: Reply, words: Iterator[str], order: _Order) -> None:
    loop = asyncio.get_running_loop()
    start, sent = loop.time(), 0
    while sent < order.tokens:
        due = sent + BURST_TOKENS
        if order.per_second:
            due = int((loop.time() - start) * order.per_second) + 1
        due = min(due, order.tokens)
        await reply.chunk(
            b"".join(event(chunk({"content": word})) for word in islice(words, due - sent))
        )
        sent = due
        await asyncio.sleep(PAUSE_SECONDS if order.per_second else 0)


def _ending(tokens: int) -> bytes:
    usage = {"prompt_tokens": 7, "completion_tokens": tokens}
    return b"".join(
        (
            event(chunk({"content": f"\n\n{LAST_WORD}\n"})),
            event(chunk(finish="stop")),
            event({"choices": [], "usage": usage}),
            DONE,
        )
    )


async def _serve() -> None:
    answers = _Answers()
    models = answering({"data": [{"id": MODEL, "context_length": WINDOW}]})
    routes = {"/v1/models": models, "/v1/chat/completions": answers.answer}
    async with HttpServer(by_path(routes)) as server:
        print(server.url, flush=True)
        await answers.take_orders()


if __name__ == "__main__":
    asyncio.run(_serve())
