"""Which tools the model is told about: not many at once, chosen by the mode and by hand."""

from __future__ import annotations

from collections.abc import Sequence

from ollm_tui.core.tool import Tool

OWN_FIRST = 4
"""How many of the program's own tools come before those of servers and extensions: without
reading, running, editing and searching little can be done."""


class ToolSelection:
    """What the user switched on or off, and how many tools there is room for."""

    def __init__(self, most: int) -> None:
        self.most = most
        """How many tools are offered at most."""
        self._switched: dict[str, bool] = {}

    def is_off(self, name: str) -> bool:
        """Whether the user switched a tool off."""
        return self._switched.get(name) is False

    def switch(self, name: str, *, on: bool) -> None:
        """Offer a tool before all others, or not at all."""
        self._switched[name] = on

    def arrange(self, own: Sequence[Tool], further: Sequence[Tool]) -> list[Tool]:
        """Return the tools to offer, the most wanted first, as many as there is room for."""
        usual = (*own[:OWN_FIRST], *further, *own[OWN_FIRST:])
        wanted = [tool for tool in usual if not self.is_off(tool.spec.name)]
        # Stable: among those switched on by hand, and among the others, the order stays.
        wanted.sort(key=lambda tool: not self._switched.get(tool.spec.name, False))
        return wanted[: self.most]
