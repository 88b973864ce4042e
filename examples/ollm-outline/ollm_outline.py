"""An extension for ollm: /export NAME.outline writes what you asked, one line each."""

from __future__ import annotations

from typing import Any

from ollm_tui.extension_api import Extension, ExtensionExporter


def outline(session: dict[str, Any]) -> str:
    """Return the title and the first line of everything the user said."""
    lines = [session.get("title") or "Untitled"]
    for message in session["messages"]:
        if message["role"] == "user":
            text = " ".join(part.get("text", "") for part in message["parts"])
            lines.append(f"  - {text.splitlines()[0] if text.strip() else '(attachment)'}")
    return "\n".join(lines) + "\n"


class Outline(Extension):
    """One more format for /export."""

    name = "outline"
    exporters = (ExtensionExporter("outline", outline),)
