"""MCP servers, served by the official SDK in a process: used, slow, hostile, dying, coming back."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from ollm_tui.bootstrap import open_mcp
from ollm_tui.core.errors import ToolError
from ollm_tui.services.mcp.mcp_servers import McpServers
from ollm_tui.services.safety.project_trust import Trust
from ollm_tui.settings.loader import load_settings
from ollm_tui.settings.schema import McpServer
from tests.conftest import REPOSITORY

SERVER = ("-m", "tests.stand_ins.mcp_stand_in")
LIAR = ("-m", "tests.stand_ins.lying_mcp_server")
HERE = {"PYTHONPATH": str(REPOSITORY)}


def stdio(**env: str) -> McpServer:
    """The stand-in as a program."""
    return McpServer(command=sys.executable, args=SERVER, env={**HERE, **env}, timeout_seconds=600)


@asynccontextmanager
async def running(
    folder: Path, variables: dict[str, str] | None = None, **entries: McpServer
) -> AsyncGenerator[McpServers]:
    """Servers that have been started, and are ended afterwards."""
    servers = McpServers(entries, {}, variables or {}, folder, Trust(None))
    try:
        await servers.until_started()
        yield servers
    finally:
        await servers.close()


async def test_a_server_is_started_asked_and_ended(tmp_path: Path) -> None:
    async with running(tmp_path, tests=stdio()) as servers:
        server = servers.get("tests")
        assert (server.state, server.problem) == ("ready", "")
        assert {"add", "write", "hostile"} <= {tool.name for tool in server.offer.tools}
        assert (await server.call("add", {"a": 2, "b": 40})).text == "42"
        assert await server.read(server.offer.resources[0].uri) == "water the plants"
        (prompt,) = server.offer.prompts
        assert (prompt.name, prompt.required) == ("review", ("file",))
        assert "a.py" in await server.prompt("review", {"file": "a.py"})
    assert server.state == "off"


async def test_a_server_gets_only_the_variables_its_entry_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "abc")
    own = {"MINE": "from ${GIVEN}", "ELSE": "${NOBODY:-else}"}
    async with running(tmp_path, {"GIVEN": "outside"}, tests=stdio(**own)) as servers:
        text = (await servers.get("tests").call("variables", {})).text
    assert "SECRET_TOKEN" not in text
    assert "MINE=from outside" in text
    assert "ELSE=else" in text


async def test_hostile_and_huge_answers_are_made_harmless(tmp_path: Path) -> None:
    async with running(tmp_path, tests=stdio()) as servers:
        server = servers.get("tests")
        text = (await server.call("hostile", {})).text
        assert "\x1b" not in text and "\u202e" not in text
        much = (await server.call("much", {"characters": 10_000_000})).text
        assert "9,000,000 more characters were left out" in much
        assert len(much) < 1_000_100
        failed = await server.call("fail", {})
        assert failed.is_error and "fail" in failed.text
        wrong = await server.call("add", {"a": "no number"})
        assert wrong.is_error


async def test_a_server_that_lies_about_its_tools_is_used_as_far_as_it_can_be(
    tmp_path: Path,
) -> None:
    liar = McpServer(command=sys.executable, args=LIAR, env=HERE, timeout_seconds=600)
    async with running(tmp_path, liar=liar, tests=stdio()) as servers:
        server = servers.get("liar")
        assert server.state == "ready", server.problem
        offered = [tool.name for tool in server.offer.tools]
        assert offered == ["good", "odd"]
        assert not any("\x1b" in tool.description for tool in server.offer.tools)
        assert len(server.offer.problems) == 3
        assert not any("\x1b" in each for each in server.offer.problems)
        assert (await server.call("good", {})).text == "fine"
        with pytest.raises(ToolError, match="liar: it breaks the protocol: content"):
            await server.call("odd", {})
        assert (await server.call("good", {})).text == "fine", "nothing is lost by it"
        assert (await servers.get("tests").call("add", {"a": 1, "b": 1})).text == "2"


async def test_a_server_that_breaks_the_protocol_is_named_with_its_fault(tmp_path: Path) -> None:
    broken = McpServer(command=sys.executable, args=(*LIAR, "broken"), env=HERE)
    async with running(tmp_path, liar=broken, tests=stdio()) as servers:
        server = servers.get("liar")
        assert server.state == "failed" and not server.offer.tools
        assert server.problem.startswith("it breaks the protocol: tools.0.inputSchema")
        assert servers.get("tests").state == "ready"


async def test_a_server_that_dies_is_started_again_and_nothing_is_asked_twice(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, tests=stdio()) as servers:
        server = servers.get("tests")
        with pytest.raises(ToolError, match="tests exited; restarted"):
            await server.call("die", {})
        assert (await server.call("add", {"a": 1, "b": 1})).text == "2"


async def test_a_server_that_does_not_answer_is_given_up(tmp_path: Path) -> None:
    async with running(tmp_path, tests=stdio()) as servers:
        server = servers.get("tests")
        server.entry = replace(server.entry, timeout_seconds=0.05)
        with pytest.raises(ToolError, match="did not answer within"):
            await server.call("wait", {})


async def test_a_server_that_cannot_start_says_why_and_the_others_go_on(tmp_path: Path) -> None:
    broken = McpServer(command=sys.executable, args=("-c", "import sys; sys.exit('no licence')"))
    missing = McpServer(command="/nowhere/server")
    async with running(tmp_path, tests=stdio(), broken=broken, missing=missing) as servers:
        assert [server.name for server in servers.ready] == ["tests"]
        assert "no licence" in servers.get("broken").problem
        assert "nowhere" in servers.get("missing").problem
        with pytest.raises(ToolError, match="missing failed"):
            await servers.get("missing").call("add", {})


async def test_secrets_are_taken_out_of_why_a_server_does_not_start(tmp_path: Path) -> None:
    code = "import os, sys; sys.exit('.' * 290 + os.environ['KEY'])"
    entry = McpServer(command=sys.executable, args=("-c", code), env={"KEY": "${MY_TOKEN}"})
    variables = {"OLLM_HOME": str(tmp_path), "MY_TOKEN": "plugh-xyzzy-plover-4711"}
    loaded = load_settings(variables, tmp_path, {})
    given = replace(loaded, settings=replace(loaded.settings, mcp={"tests": entry}))
    servers = open_mcp(given, variables, Trust(None))
    assert servers
    await servers.until_started()
    problem = servers.get("tests").problem
    await servers.close()
    assert "it said: ....." in problem and "plugh" not in problem


async def test_only_the_tools_the_settings_name_are_taken(tmp_path: Path) -> None:
    entry = McpServer(command=sys.executable, args=SERVER, env=HERE, tools=("add",))
    async with running(tmp_path, tests=entry) as servers:
        assert [tool.name for tool in servers.get("tests").offer.tools] == ["add"]


@contextmanager
def served(port: int) -> Generator[None]:
    """The stand-in behind an address."""
    process = subprocess.Popen(
        [sys.executable, *SERVER, str(port)], cwd=REPOSITORY, stderr=subprocess.PIPE
    )
    try:
        assert process.stderr
        for line in process.stderr:
            if b"running on" in line:
                break
        yield
    finally:
        process.kill()
        process.communicate()


async def test_a_server_behind_an_address_is_asked_by_http_and_found_again_once_it_is_back(
    tmp_path: Path,
) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    servers = McpServers(
        {"web": McpServer(url=f"http://127.0.0.1:{port}/mcp")}, {}, {}, tmp_path, Trust(None)
    )
    server, told = servers.get("web"), list[str]()
    servers.told.subscribe(told.append)
    with served(port):
        await servers.until_started()
        assert (await server.call("add", {"a": 3, "b": 4})).text == "7"
    with pytest.raises(ToolError, match="web exited; restart failed"):
        await server.call("add", {"a": 3, "b": 4})
    assert [line.partition(":")[0] for line in told] == ["web failed"]
    with served(port):
        while not servers.ready:
            await servers.until_started()  # as each turn does
        assert (await server.call("add", {"a": 1, "b": 1})).text == "2"
        await servers.close()


async def test_a_silent_server_keeps_neither_a_turn_nor_the_end_waiting(tmp_path: Path) -> None:
    silent = McpServer(
        command=sys.executable, args=("-c", "input()\ninput()"), timeout_seconds=3600
    )
    async with asyncio.timeout(1800):
        servers = McpServers({"silent": silent}, {}, {}, tmp_path, Trust(None))
        told = list[str]()
        servers.told.subscribe(told.append)
        servers.patience_seconds = 0.01
        await asyncio.gather(servers.until_started(), servers.until_started())
        await servers.until_started()
        while servers.get("silent").state != "starting":
            await asyncio.sleep(0.01)
        has_started = servers.has_started
        await servers.close()
        assert told == ["silent is still starting"] and has_started
        assert servers.get("silent").state == "off"


async def test_servers_of_a_project_run_only_after_trust_and_for_that_content(
    tmp_path: Path,
) -> None:
    file = tmp_path / ".mcp.json"
    program = sys.executable.replace("\\", "/")
    file.write_text(
        f'{{"mcpServers": {{"theirs": {{"command": "{program}", "args": ["-m", "{SERVER[1]}"],'
        f' "env": {{"PYTHONPATH": "{REPOSITORY}"}}}}, "b\\u001bd": {{}}, "odd": 3}}}}'
    )
    async with running(tmp_path) as servers:
        assert servers.all == ()
        found = await servers.projects()
        assert found and [*found.entries] == ["theirs"] and len(found.problems) == 2
        assert "theirs: " in found.lines[0] and "PYTHONPATH=" in found.text
        assert servers.verdict(found) is None
        servers.keep_verdict(found, "always")
        await servers.use(found)
        assert servers.get("theirs").state == "ready"
        file.write_text(file.read_text() + " ")
        changed = await servers.projects()
        assert changed and servers.verdict(changed) is None
