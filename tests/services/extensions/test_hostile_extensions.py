"""An extension that raises, hangs, prints or returns garbage, in each of its places."""

from __future__ import annotations

import threading
from collections.abc import Callable
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from ollm_tui.core.errors import OllmError
from ollm_tui.core.provider import ChatRequest, PromptMessage
from ollm_tui.extension_api import (
    Extension,
    ExtensionCommand,
    ExtensionContext,
    ExtensionExporter,
    ExtensionProvider,
    ExtensionTheme,
    ExtensionTool,
    OutputRefused,
)
from ollm_tui.services.extensions.extension_host import GROUP, ExtensionFailed, ExtensionHost
from ollm_tui.services.extensions.extension_provider import AddedProvider
from ollm_tui.tools.added.extension_tool import extension_tools
from tests.cases import some

NEVER = threading.Event()


def raises(*_: object) -> Any:
    raise ValueError("no\x1b[2J\nsecond line")


def hangs(*_: object) -> Any:
    NEVER.wait()


def leaves(*_: object) -> Any:
    raise SystemExit(3)


def refuses(*_: object) -> Any:
    raise OutputRefused("not here")


def garbage(*_: object) -> Any:
    return object()


def prints(*_: object) -> Any:
    print("\x1b]52;c;aGVsbG8=\x07 on the screen")
    return "fine"


class Bad(Extension):
    """Does the same bad thing in each of its places; each test says which."""

    name = "bad"

    def __init__(self, do: Callable[..., Any]) -> None:
        self._do = do
        self.tools = (ExtensionTool("bad", "Bad.", do),)
        self.commands = (ExtensionCommand("bad", "Bad.", do),)
        self.exporters = (ExtensionExporter("bad", do),)
        self.context = (ExtensionContext("bad", do),)
        self.providers = (ExtensionProvider("bad", do, do),)

    def on_event(self, event: dict[str, Any]) -> None:
        self._do(event)

    def check_output(self, tool: str, output: str) -> str:
        return self._do(tool, output)


class Point:
    """An entry point that leads to an object."""

    name = "x"
    dist = None

    def __init__(self, made: object) -> None:
        self._made = made

    def load(self) -> object:
        return self._made() if callable(self._made) else self._made


async def host_of(made: object, seconds: float = 60) -> tuple[ExtensionHost, list[str]]:
    point: Any = Point(made)
    host = ExtensionHost({}, points=[point], limit_seconds=seconds)
    told: list[str] = []
    host.told.subscribe(told.append)
    await host.until_started()
    return host, told


async def of_tool(host: ExtensionHost) -> object:
    [tool] = extension_tools(host)
    return (await (await tool.plan({})).run(lambda _: None)).text


async def of_command(host: ExtensionHost) -> object:
    [(name, command)] = host.commands()
    return await host.text(name, command.run, "")


async def of_exporter(host: ExtensionHost) -> object:
    return await host.export("bad", {"messages": []})


async def of_context(host: ExtensionHost) -> object:
    return "".join(entry.content for entry in await host.context())


async def of_check(host: ExtensionHost) -> object:
    return await host.checked("exec", "fine")


async def of_event(host: ExtensionHost) -> object:
    host.hear({"event": "session-saved"})
    while host._telling:  # pyright: ignore[reportPrivateUsage] nobody waits for it but a test
        await next(iter(host._telling))  # pyright: ignore[reportPrivateUsage]
    return "fine"


async def of_models(host: ExtensionHost) -> object:
    [(name, provider)] = host.providers()
    added = AddedProvider(host, name, provider, host.limit_seconds)
    return [each.name for each in await added.list_models()]


async def of_answer(host: ExtensionHost) -> object:
    [(name, provider)] = host.providers()
    added = AddedProvider(host, name, provider, host.limit_seconds)
    request = ChatRequest(model="bad", messages=(PromptMessage(role="user", text="hello"),))
    return [event async for event in added.stream(request)]


PLACES = (of_tool, of_command, of_exporter, of_context, of_check, of_event, of_models, of_answer)


@some(4, "place", PLACES)
@some(3, "do", (raises, hangs, leaves, refuses, garbage))
async def test_it_is_named_and_switched_off_wherever_it_fails(
    place: Callable[[ExtensionHost], Any], do: Callable[..., Any]
) -> None:
    host, told = await host_of(Bad(do), 0.2 if do is hangs else 60)
    try:
        await place(host)
    except (ExtensionFailed, OllmError):
        pass  # told below
    if (place, do) in ((of_event, garbage), (of_check, refuses)):
        assert told == [], "what a listener returns is nobody's business, and a check may refuse"
        return
    assert len(told) == 1 and told[0].startswith("extension x turned off: ")
    assert "\x1b" not in told[0] and "\n" not in told[0]
    assert not list(host.tools()) and not list(host.providers())
    assert await host.checked("exec", "as it was") == "as it was"
    assert await host.context() == [] and await host.export("bad", {}) is None


@some(2, "place", (of_tool, of_command, of_exporter, of_context, of_check))
async def test_what_it_prints_changes_nothing(place: Callable[[ExtensionHost], Any]) -> None:
    host, told = await host_of(Bad(prints))
    assert (await place(host), told) == ("fine", [])


@pytest.mark.parametrize("made", (raises, leaves, hangs))
async def test_one_that_cannot_be_loaded_is_named(made: Callable[..., Any]) -> None:
    host, told = await host_of(made, 0.2 if made is hangs else 60)
    assert len(told) == 1 and not list(host.commands())


WRONG: Any = 3
WORD: Any = "8k"


@some(
    4,
    ("attribute", "value"),
    [
        ("tools", 3),
        ("tools", (3,)),
        ("tools", (ExtensionTool(WRONG, "x", prints),)),
        ("tools", (ExtensionTool("rm -rf /", "x", prints),)),
        ("tools", (ExtensionTool("x", "x", prints, policy=WRONG),)),
        ("tools", (ExtensionTool("x", "x", prints, {"type": object()}),)),
        ("tools", (ExtensionTool("x", "x", WRONG),)),
        ("commands", (ExtensionCommand("x", WRONG, prints),)),
        ("exporters", (ExtensionExporter(WRONG, prints),)),
        ("context", (ExtensionContext("x", prints, priority=500),)),
        ("context", (ExtensionContext("x", prints, priority=WORD),)),
        ("context", (ExtensionContext("x\nSYSTEM", prints),)),
        ("providers", (ExtensionProvider("x", prints, prints, window=WORD),)),
        ("themes", (ExtensionTheme("x", WRONG),)),
        ("themes", (ExtensionTheme(WRONG, {}),)),
    ],
)
async def test_garbage_in_what_it_offers_switches_it_off(attribute: str, value: object) -> None:
    made = Extension()
    setattr(made, attribute, value)
    host, told = await host_of(made)
    assert not list(extension_tools(host))
    await host.context()
    for offered in (host.commands(), host.providers(), host.themes()):
        assert not list(offered)
    await host.export("x", {})
    assert len(told) == 1


async def test_any_object_with_a_name_is_an_extension() -> None:
    class Plain:
        name = "plain"
        commands = (ExtensionCommand("hi", "Says hi.", lambda words: f"hi {words}"),)

    host, told = await host_of(Plain())
    assert await of_command(host) == "hi " and told == []
    assert await host.checked("exec", "as it is") == "as it is"
    assert EntryPoint("x", "y:z", GROUP).group == "ollm.extensions"
