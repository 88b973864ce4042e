"""The commands on a running Ollama: names without a tag, and models that run elsewhere."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from tests.cli.conftest import Run
from tests.stand_ins.ollama_server import OllamaServer


async def test_a_model_that_was_just_pulled_answers_to_its_name_without_a_tag(
    run_ollm: Run,
) -> None:
    async with OllamaServer() as server:
        pull = await asyncio.to_thread(
            run_ollm, "models", "pull", "qwen-tools", OLLAMA_HOST=server.url
        )
        assert pull.returncode == 0 and "qwen-tools:latest" in server.models
        done = await asyncio.to_thread(
            run_ollm, "-p", "Hi there", "--model", "qwen-tools", OLLAMA_HOST=server.url
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "Hi there\n", "")


async def test_the_list_marks_what_leaves_the_machine(run_ollm: Run) -> None:
    async with OllamaServer() as server:
        server.add_cloud_model("gpt-oss:120b-cloud")
        listed = await asyncio.to_thread(
            run_ollm, "models", "list", "--provider", "ollama", OLLAMA_HOST=server.url
        )
        marked = [line for line in listed.stdout.splitlines() if "sent to ollama.com" in line]
        assert ["gpt-oss:120b-cloud" in line for line in marked] == [True]
        info = await asyncio.to_thread(
            run_ollm, "models", "info", "llama3.2", "--json", OLLAMA_HOST=server.url
        )
        assert json.loads(info.stdout)[0]["name"] == "llama3.2:latest"


async def test_a_model_that_is_nowhere_is_not_answered_with_a_hint_to_pull_it(
    run_ollm: Run,
) -> None:
    async with OllamaServer() as server:
        done = await asyncio.to_thread(
            run_ollm, "models", "pull", "no-such-model", OLLAMA_HOST=server.url
        )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "ollm: Ollama has no model no-such-model (see https://ollama.com/search)"
    )


async def test_a_hosted_provider_that_is_set_up_is_named_and_not_used(
    run_ollm: Run, home: Path
) -> None:
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.yaml").write_text("providers:\n  anthropic: {}\n")
    async with OllamaServer() as server:
        done = await asyncio.to_thread(run_ollm, "-p", "Hi there", OLLAMA_HOST=server.url)
    assert (done.returncode, done.stdout) == (0, "Hi there\n")
    assert "anthropic is not on this machine (set provider: anthropic" in done.stderr
