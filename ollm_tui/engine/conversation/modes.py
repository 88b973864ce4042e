"""Modes: what the model is told in each, its temperature, and the tools it is offered."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from ollm_tui.core.session.session import Metadata
from ollm_tui.settings.schema import Settings

DEFAULT_MODE = "assistant"
READING = ("read_file", "find_files", "search_text", "git")
"""Tools that change nothing."""


class Mode(NamedTuple):
    """One mode: built in, or from the settings."""

    name: str
    prompt: str = ""
    """Added to the system prompt."""
    temperature: float | None = None
    """None leaves it to the model's settings."""
    tools: tuple[str, ...] | None = None
    """The tools it is offered; None offers all."""


BUILT_IN: Mapping[str, Mode] = MappingProxyType(
    {
        mode.name: mode
        for mode in (
            Mode(DEFAULT_MODE),
            Mode(
                "planning",
                "You make plans. Ask what is unclear, then list short numbered steps. "
                "Do not write code yet.",
                tools=(*READING, "tasks"),
            ),
            Mode(
                "developer",
                "You write code. Give complete, working code first, then explain it in a few "
                "sentences. Say which files change.",
                0.2,
            ),
            Mode(
                "debugger",
                "You find faults. Name the most likely cause, say how to check it, then give "
                "the smallest fix.",
                0.2,
            ),
            Mode(
                "reviewer",
                "You review. List real problems, the worst first, each with its place and a "
                "fix. Do not rewrite everything. Say so if there are none.",
                0.2,
                READING,
            ),
        )
    }
)
"""Short on purpose: small models follow two sentences better than ten."""


def modes_of(settings: Settings) -> dict[str, Mode]:
    """The built-in modes and the user's own, which may replace them."""
    own = {
        name: Mode(name, mode.prompt, mode.temperature, mode.tools)
        for name, mode in settings.modes.items()
    }
    return {**BUILT_IN, **own}


def current_mode(metadata: Metadata, modes: Mapping[str, Mode]) -> Mode:
    """The mode a session is in; one that is gone from the settings has an empty prompt."""
    name = metadata.mode_history[-1].to if metadata.mode_history else DEFAULT_MODE
    return modes.get(name) or Mode(name)
