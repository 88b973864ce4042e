"""Somebody who opens the page of `ollm serve`, says something there and waits for the answer."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import aiohttp

from tests.stand_ins.warm_command import OLLM

PATIENCE_SECONDS = 60
"""A page that has no answer for as long hangs."""
NAME = "0123456789abcdef" * 2
PROMPT = b"ype a message"
"""What the empty prompt shows after the cursor."""
FINISHED = b'"kind":"finished"'
"""What a journal has when an answer is complete."""


async def visit(address: str, journals: Path) -> None:
    """Load the page with all it names, type into its terminal, and wait until it is answered."""
    base = urlsplit(address)
    origin = f"{base.scheme}://{base.netloc}"
    async with aiohttp.ClientSession(raise_for_status=True) as session:
        async with session.get(address) as answer:
            page = await answer.text()
        for name in re.findall(r'(?:src|href)="(?!data:)([^"]+)"', page):
            async with session.get(urljoin(address, name)) as answer:
                await answer.read()
        tab = urljoin(address, f"tab?name={NAME}&size=80x24")
        async with session.ws_connect(tab, headers={"Origin": origin}) as socket:
            shown = b""
            async for message in socket:
                had_prompt = PROMPT in shown
                shown += message.data
                if not had_prompt and PROMPT in shown:
                    await socket.send_bytes(b"Say hello\r")
                if any(FINISHED in each.read_bytes() for each in journals.glob("*.journal")):
                    return
    sys.exit(f"no answer: {shown[-500:]!r}")


async def main() -> None:
    """Serve, visit, and end the server."""
    server = await asyncio.create_subprocess_exec(
        OLLM, "serve", stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    assert server.stdout
    try:
        printed = ""
        while not (found := re.search(r"http://\S+", printed)):
            line = await server.stdout.readline()
            assert line, printed
            printed += line.decode()
        async with asyncio.timeout(PATIENCE_SECONDS):
            await visit(found[0], Path(os.environ["OLLM_HOME"], "sessions"))
    finally:
        server.send_signal(signal.SIGTERM)
        await server.wait()


if __name__ == "__main__":
    asyncio.run(main())
