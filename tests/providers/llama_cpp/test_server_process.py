"""The child process of the embedded provider: what it gets, how it lives and how it dies."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator
from pathlib import Path

import httpx
import pytest

from ollm_tui.core.errors import Unavailable
from ollm_tui.providers.llama_cpp.model_catalogue import SMOLLM2
from ollm_tui.providers.llama_cpp.server_process import (
    ServerProcess,
    ServerTarget,
    server_environment,
    start_server,
)

REPOSITORY = Path(__file__).parents[3]


@pytest.fixture
def target(model_home: Path) -> ServerTarget:
    path = model_home / "models" / SMOLLM2.file_name
    return ServerTarget(name=SMOLLM2.name, path=path, window=512)


@pytest.fixture
async def server(
    target: ServerTarget, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[ServerProcess, None]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    server = await start_server(target)
    yield server
    await server.stop()


def is_gone(pid: int) -> bool:
    """Whether a process has ended, also if nobody has asked for its exit code yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def wait_until_gone(pid: int) -> None:
    for _ in range(1000):
        if is_gone(pid):
            return
        time.sleep(0.01)
    raise AssertionError(f"{pid} still runs")


@pytest.mark.model
async def test_the_child_has_no_secrets_and_shows_none(server: ServerProcess) -> None:
    place = Path(f"/proc/{server.pid}")
    assert "sk-secret" not in (place / "environ").read_text()
    assert server.key not in (place / "environ").read_text()
    assert server.key not in (place / "cmdline").read_text()


@pytest.mark.model
async def test_the_child_is_out_of_the_way(server: ServerProcess) -> None:
    assert os.getsid(server.pid) == server.pid
    ours = os.getpriority(os.PRIO_PROCESS, 0)
    assert os.getpriority(os.PRIO_PROCESS, server.pid) == min(19, ours + 5)


@pytest.mark.model
async def test_nobody_without_the_key_gets_an_answer(server: ServerProcess) -> None:
    body = {"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 1}
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{server.port}") as client:
        assert (await client.post("/v1/chat/completions", json=body)).status_code == 401
        assert (await client.get("/props")).status_code == 401


@pytest.mark.more
@pytest.mark.model
async def test_a_web_page_of_another_origin_is_not_let_in(server: ServerProcess) -> None:
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{server.port}") as client:
        answer = await client.get("/health", headers={"Origin": "https://evil.example"})
    assert answer.headers.get("access-control-allow-origin") != "https://evil.example"
    assert answer.headers.get("access-control-allow-origin") != "*"


@pytest.mark.model
async def test_the_child_speaks_the_chat_completions_format(server: ServerProcess) -> None:
    body = {
        "messages": [{"role": "user", "content": "Hello"}],
        "max_tokens": 4,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    headers = {"Authorization": f"Bearer {server.key}"}
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{server.port}") as client:
        answer = await client.post("/v1/chat/completions", json=body, headers=headers, timeout=60)
    lines = [line for line in answer.text.split("\n") if line]
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert all(line.startswith("data: ") for line in lines)
    assert lines[-1] == "data: [DONE]"
    assert '"completion_tokens":4' in lines[-2]


@pytest.mark.model
async def test_stopping_ends_the_child_and_may_be_repeated(target: ServerTarget) -> None:
    server = await start_server(target)
    await server.stop()
    await server.stop()
    assert not server.alive
    assert is_gone(server.pid)


@pytest.mark.more
@pytest.mark.model
async def test_a_child_that_does_not_listen_is_killed(target: ServerTarget) -> None:
    server = await start_server(target)
    os.kill(server.pid, signal.SIGSTOP)
    await server.stop(patience_seconds=0.1)
    assert is_gone(server.pid)


PARENT = """
import asyncio, sys
from pathlib import Path
from ollm_tui.providers.llama_cpp.server_process import ServerTarget, start_server

async def main():
    target = ServerTarget(name="m", path=Path(sys.argv[1]), window=512)
    server = await start_server(target)
    print(server.pid, flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.mark.model
def test_the_child_dies_with_a_killed_parent(target: ServerTarget) -> None:
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-c", PARENT, str(target.path)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert not is_gone(child)
        parent.kill()
    wait_until_gone(child)


def test_the_child_ends_if_its_parent_was_gone_before_it_looked() -> None:
    order = b'{"parent": -1, "path": "x", "name": "x", "window": 512, "key": "k"}\n'
    child = subprocess.run(
        [sys.executable, "-m", "ollm_tui.providers.llama_cpp.server"],
        input=order,
        env=server_environment(os.environ),
        capture_output=True,
        check=True,
    )
    assert child.stdout == b""


async def test_cancelling_the_start_ends_the_child(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    target = ServerTarget(name="m", path=tmp_path / "m.gguf", window=512)
    code = (
        f"import os, time; open({str(note)!r}, 'w').write(f'{{os.getpid()}}\\n'); time.sleep(600)"
    )
    task = asyncio.create_task(start_server(target, (sys.executable, "-c", code)))
    for _ in range(1000):
        if note.exists() and note.read_text().endswith("\n"):
            break
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert is_gone(int(note.read_text()))


@pytest.mark.model
async def test_a_damaged_model_file_is_named_with_the_reason(
    target: ServerTarget, tmp_path: Path
) -> None:
    damaged = tmp_path / "damaged.gguf"
    with target.path.open("rb") as whole:
        damaged.write_bytes(whole.read(5_000_000))
    with pytest.raises(Unavailable, match=r"could not load damaged: .*file bounds") as failure:
        await start_server(ServerTarget(name="damaged", path=damaged, window=512))
    assert "pull it again" in failure.value.hint


def without_the_engine() -> tuple[str, ...]:
    code = (
        "import sys; sys.modules['xllamacpp'] = None\n"
        "from ollm_tui.providers.llama_cpp.server import main; main()"
    )
    return (sys.executable, "-c", code)


async def test_a_missing_engine_says_what_to_install(tmp_path: Path) -> None:
    target = ServerTarget(name="m", path=tmp_path / "m.gguf", window=512)
    with pytest.raises(Unavailable, match="is not installed") as failure:
        await start_server(target, without_the_engine())
    assert failure.value.hint == "pip install 'ollm-tui[local]'"


@pytest.mark.parametrize(
    ("code", "message", "hint"),
    [
        ("import os; os.kill(os.getpid(), 9)", "was killed .* out of memory", "smaller window"),
        ("import sys; sys.exit('std::bad_alloc')", "out of memory", "smaller window"),
        ("import sys; sys.exit('\\033[2Jno\\tway')", "exited before it was ready: no way", "again"),
    ],
)
async def test_a_child_that_ends_at_once_says_why(
    tmp_path: Path, code: str, message: str, hint: str
) -> None:
    target = ServerTarget(name="m", path=tmp_path / "m.gguf", window=512)
    with pytest.raises(Unavailable, match=message) as failure:
        await start_server(target, (sys.executable, "-c", code))
    assert hint in failure.value.hint


def test_only_harmless_variables_reach_the_child() -> None:
    environment = server_environment(
        {
            "PATH": "/bin",
            "LC_ALL": "C",
            "OMP_NUM_THREADS": "2",
            "OMP_WAIT_POLICY": "active",
            "AWS_SECRET_ACCESS_KEY": "x",
            "LD_PRELOAD": "x",
            "PYTHONSTARTUP": "x",
        }
    )
    assert environment == {
        "PATH": "/bin",
        "LC_ALL": "C",
        "OMP_NUM_THREADS": "2",
        "OMP_WAIT_POLICY": "passive",
        "GGML_NO_BACKTRACE": "1",
        "PYTHONPATH": str(REPOSITORY),
    }
