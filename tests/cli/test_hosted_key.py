"""The key of a hosted server is in nothing that is printed, stored or exported."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path

from tests.cli.conftest import Run
from tests.stand_ins.anthropic_server import ended, started, text
from tests.stand_ins.http_server import HttpServer, Reply, Request

KEY = "sk-ant-api03-swordfish-0123456789abcdefghij"


async def test_a_key_is_sent_and_found_nowhere_else(run_ollm: Run, home: Path) -> None:
    asked: list[str] = []

    async def serve(request: Request, reply: Reply) -> None:
        """Answer once, then refuse with the key in the words."""
        if request.path != "/v1/messages":
            await reply.json({"data": [], "input_tokens": 5})
            return
        asked.append(str(request.headers))
        if len(asked) > 1:
            said = {"type": "authentication_error", "message": f"the key {KEY} was revoked"}
            await reply.json({"type": "error", "error": said}, 401)
            return
        for piece in (started(), text(0, "Paris."), ended()):
            await reply.chunk(piece)
        await reply.end()

    async def ollm(*arguments: str) -> subprocess.CompletedProcess[str]:
        return await asyncio.to_thread(run_ollm, *arguments, MY_KEY=KEY)

    home.mkdir(parents=True, exist_ok=True)
    async with HttpServer(serve) as server:
        entry = f"kind: anthropic, baseUrl: '{server.url}', keyEnv: MY_KEY"
        settings = f"provider: claude\nmodel: claude-x\nproviders: {{claude: {{{entry}}}}}\n"
        (home / "config.yaml").write_text(settings)
        first = await ollm("--debug", "-p", "What is the capital of France?")
        second = await ollm("--debug", "-p", "And of Spain?", "-c")
        shown = [first, second, await ollm("config", "show"), await ollm("providers", "list")]
        listed = await ollm("sessions", "list", "--json")
        session = json.loads(listed.stdout)[0]["sessionId"]
        kinds = ("json", "md", "html")
        exported = [await ollm("sessions", "export", session, "--format", kind) for kind in kinds]
        assert all("Paris" in each.stdout for each in exported)
    assert first.stdout == "Paris.\n", first.stderr
    assert second.returncode == 1
    assert any(KEY in headers for headers in asked), "it was sent"
    printed = [each.stdout + each.stderr for each in (*shown, listed, *exported)]
    assert not [text for text in printed if KEY in text]
    files = [file for file in home.rglob("*") if file.is_file()]
    assert any(file.suffix == ".log" for file in files)
    assert not [file for file in files if KEY.encode() in file.read_bytes()]
