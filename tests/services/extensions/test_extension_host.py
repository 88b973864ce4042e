"""Extensions: loaded from installed packages, and never able to end the program."""

from __future__ import annotations

import asyncio
import re
import sys
import textwrap
import threading
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from ollm_tui.core.provider import ChatRequest, PromptMessage, TextDelta
from ollm_tui.extension_api import Extension, ExtensionCommand, ExtensionTool, OutputRefused
from ollm_tui.services.extensions.extension_host import (
    GROUP,
    ExtensionFailed,
    ExtensionHost,
    installed,
)
from ollm_tui.services.extensions.extension_provider import added_providers
from ollm_tui.settings.schema import ExtensionSettings
from ollm_tui.tools.added.extension_tool import extension_tools
from ollm_tui.tui.themes import made_theme
from tests.conftest import REPOSITORY
from tests.stand_ins.installed_extension import install

NEVER = threading.Event()


class Careful(Extension):
    """Changes one word, and withholds another output."""

    name = "careful"
    tools = (ExtensionTool("shout", "Shouts.", lambda given: str(given["text"]).upper()),)

    def check_output(self, tool: str, output: str) -> str:
        if "forbidden" in output:
            raise OutputRefused("not for the model\x1b[2J")
        return output.replace("cat", "dog")


class Broken(Extension):
    """Fails in every way there is."""

    name = "broken"
    tools = (ExtensionTool("wait", "Waits.", lambda _given: str(NEVER.wait())),)
    commands = (
        ExtensionCommand("raise", "Raises.", lambda _words: str(1 // 0)),
        ExtensionCommand("garbage", "Returns no text.", lambda _words: 3),  # pyright: ignore[reportArgumentType] that is the point
        ExtensionCommand("exit", "Leaves.", lambda _words: sys.exit(3)),
    )

    def on_event(self, event: dict[str, Any]) -> None:
        print(event)
        raise ValueError(event["event"])


def point(kind: type[object], name: str = "x") -> EntryPoint:
    """An entry point that leads to a class of this module."""
    return EntryPoint(name, f"{__name__}:{kind.__name__}", GROUP)


async def host(*points: EntryPoint, **options: Any) -> tuple[ExtensionHost, list[str]]:
    """A host that has loaded these, and what it told."""
    made = ExtensionHost({}, points=points, **options)
    told: list[str] = []
    made.told.subscribe(told.append)
    await made.until_started()
    return made, told


async def test_tools_commands_and_checks_of_an_extension_work() -> None:
    made, told = await host(point(Careful))
    (tool,) = extension_tools(made)
    planned = await tool.plan({"text": "hello"})
    assert planned.action.effect == "run", "asked about unless it says otherwise"
    assert (await planned.run(lambda _: None)).text == "HELLO"
    assert await made.checked("exec", "a cat") == "a dog"
    withheld = await made.checked("exec", "forbidden words")
    assert withheld == "[withheld by the extension x: not for the model]"
    assert told == []


@pytest.mark.parametrize(
    ("command", "why"), (("raise", "ZeroDivision"), ("garbage", "returned int"), ("exit", "Exit"))
)
async def test_one_that_fails_is_named_and_switched_off(command: str, why: str) -> None:
    made, told = await host(point(Broken), point(Careful, "fine"))
    run = next(each.run for _, each in made.commands() if each.name == command)
    with pytest.raises(ExtensionFailed, match=why):
        await made.text("x", run, "")
    assert len(told) == 1 and told[0].startswith("extension x turned off:")
    assert [name for name, _ in made.tools()] == ["fine"], "the others go on"


async def test_one_that_hangs_is_abandoned() -> None:
    made, told = await host(point(Broken), limit_seconds=0.2)
    (_, tool), *_ = made.tools()
    with pytest.raises(ExtensionFailed, match="longer than"):
        await made.text("x", tool.run, {})
    assert told and not list(made.tools())


async def test_one_that_fails_on_an_event_or_at_load_only_ends_itself() -> None:
    made, told = await host(point(Broken), EntryPoint("gone", "no_such_module:X", GROUP))
    assert any("gone" in words for words in told)
    made.hear({"event": "session-created"})
    while len(told) < 2:
        await asyncio.sleep(0.001)
    assert "session-created" in told[1]


async def test_one_that_is_switched_off_in_the_settings_is_not_loaded() -> None:
    off = {"x": ExtensionSettings(enabled=False)}
    made = ExtensionHost(off, points=[point(Careful)])
    await made.until_started()
    assert not list(made.tools())


async def test_the_examples_are_found_and_used_once_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("todo", "outline"):
        file = REPOSITORY / "examples" / f"ollm-{name}" / f"ollm_{name}.py"
        install(tmp_path, name, file.read_text(), name.capitalize())
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert [(each.name, each.version) for each in installed({})] == [
        ("outline", "1.0.0"),
        ("todo", "1.0.0"),
    ]
    made = ExtensionHost({})
    await made.until_started()
    (tool,) = extension_tools(made)
    assert (await (await tool.plan({"text": "rest"})).run(lambda _: None)).text == "1 on the list"
    ((name, command),) = made.commands()
    assert await made.text(name, command.run, "") == "- rest"
    said = {"role": "user", "parts": [{"type": "text", "text": "Why?"}]}
    text = await made.export("outline", {"title": "A talk", "messages": [said]})
    assert text == "A talk\n  - Why?\n"


async def test_the_code_of_the_documents_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (REPOSITORY / "docs" / "extending.md").read_text(encoding="utf-8")
    dice, everything = re.findall(r"^ *```python\n(.*?)```", page, re.DOTALL | re.MULTILINE)
    install(tmp_path, "dice", textwrap.dedent(dice), "Dice")
    install(tmp_path, "everything", everything, "Everything")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    made = ExtensionHost({})
    told: list[str] = []
    made.told.subscribe(told.append)
    await made.until_started()
    (tool,) = extension_tools(made)
    rolled = (await (await tool.plan({"sides": 6})).run(lambda _: None)).text
    ((name, command),) = made.commands()
    assert await made.text(name, command.run, "1") == "1"
    assert "above 0" in await made.text(name, command.run, "many")
    assert {rolled, await made.text(name, command.run, "")} <= set("123456")
    assert [entry.key for entry in await made.context()] == ["everything: time"]
    assert await made.export("roles", {"messages": [{"role": "user"}]}) == "user"
    assert await made.checked("exec", "a\tb") == "a    b"
    assert "withheld" in await made.checked("exec", "INTERNAL")
    ((_, theme),) = made.themes()
    assert made_theme(theme.name, theme.colours).dark
    (provider,) = added_providers(made)
    request = ChatRequest(model="parrot", messages=(PromptMessage(role="user", text="hi"),))
    answer = [event async for event in provider.stream(request)]
    assert [event.text for event in answer if isinstance(event, TextDelta)] == ["You said: ", "hi"]
    assert told == []
