"""An extension for ollm: a list of things to do, as a tool of the model and as /todo."""

from __future__ import annotations

from typing import Any

from ollm_tui.extension_api import Extension, ExtensionCommand, ExtensionTool


class Todo(Extension):
    """Keeps things to do as long as the program runs."""

    name = "todo"

    def __init__(self) -> None:
        self._things: list[str] = []
        self.tools = (
            ExtensionTool(
                name="todo",
                description="Add something to the user's list of things to do.",
                run=self._add,
                parameters={
                    "type": "object",
                    "properties": {"text": {"type": "string"}},
                    "required": ["text"],
                },
                policy="none",
            ),
        )
        self.commands = (ExtensionCommand("todo", "The list of things to do", self._show),)

    def _add(self, arguments: dict[str, Any]) -> str:
        self._things.append(str(arguments["text"]))
        return f"{len(self._things)} on the list"

    def _show(self, words: str) -> str:
        if words:
            self._things.append(words)
        return "\n".join(f"- {thing}" for thing in self._things) or "Nothing to do."
