"""What an extension may use. This module is stable: within a major version of the API, what is
here stays as it is.

An extension is an object that the entry point group `ollm.extensions` names. It has a `name` and
any of the attributes of `Extension`; a subclass of it has them all. Each call happens in a thread
and may take five seconds. Extensions run with all the rights of the program: install only what you
trust.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

API_VERSION = "1.1.0"
"""Semantic: another first number means that extensions have to change."""

Policy = Literal["none", "read", "write", "run"]
"""What a tool does: nothing outside of the session, reading, changing files, or anything else. The
last two ask the user first."""


@dataclass(frozen=True)
class ExtensionTool:
    """A tool for the model. `run` gets the arguments as the model wrote them, unchecked, and
    returns the text for the model; where they are wrong, it returns that. Raising switches the
    extension off."""

    name: str
    description: str
    run: Callable[[dict[str, Any]], str]
    parameters: Mapping[str, Any] = field(
        default_factory=lambda: dict[str, Any](type="object", properties={})
    )
    """The JSON schema of the arguments."""
    policy: Policy = "run"


@dataclass(frozen=True)
class ExtensionCommand:
    """A slash command. `run` gets the words after its name; what it returns is shown."""

    name: str
    description: str
    run: Callable[[str], str]


@dataclass(frozen=True)
class ExtensionExporter:
    """A format for `/export`, chosen by the suffix of the file. `export` gets the session as the
    tree of its JSON, without secrets, and returns the text of the file."""

    suffix: str
    export: Callable[[dict[str, Any]], str]


@dataclass(frozen=True)
class ExtensionContext:
    """Something that stands in every prompt, as data. `read` is called before each turn; where it
    returns an empty text, nothing is added. At most 8,000 characters are used."""

    name: str
    read: Callable[[], str]
    priority: int = 50
    """From 0 to 100; what has a higher one comes earlier in the prompt."""


@dataclass(frozen=True)
class ExtensionProvider:
    """A model server, chosen by its name with `--provider` or in the settings."""

    name: str
    models: Callable[[], Sequence[str]]
    """Returns the names of its models; the first one is used where none is named."""
    answer: Callable[[str, Sequence[Mapping[str, str]]], Iterable[str]]
    """Gets the name of a model and the messages, each with `role` (system, user, assistant or tool)
    and `text`; yields the answer piece by piece. It may take as long as it yields something every
    two minutes; it is abandoned when the user stops it."""
    window: int = 8192
    """How many tokens the messages and the answer may have together."""
    sends_to: str = ""
    """The machine that gets what is said, which the user is shown; empty if it is this one."""


@dataclass(frozen=True)
class ExtensionTheme:
    """Colours of the screen, chosen with `/theme`. All colours that a file in themes/ has are
    needed, each as `#rrggbb`."""

    name: str
    colours: Mapping[str, str]
    is_dark: bool = True


class OutputRefused(Exception):
    """Raised by `check_output` to keep a result from the model; the text says why."""


class Extension:
    """The base of extensions; every attribute may be left as it is."""

    name: str = ""
    tools: Sequence[ExtensionTool] = ()
    commands: Sequence[ExtensionCommand] = ()
    exporters: Sequence[ExtensionExporter] = ()
    context: Sequence[ExtensionContext] = ()
    providers: Sequence[ExtensionProvider] = ()
    themes: Sequence[ExtensionTheme] = ()

    def on_event(self, event: dict[str, Any]) -> None:
        """Hear what happens; `event["event"]` names it. docs/events.md lists all of them."""

    def check_output(self, tool: str, output: str) -> str:
        """Return what the model gets of a tool's output, from which secrets are gone already;
        raise OutputRefused to withhold all of it."""
        return output
