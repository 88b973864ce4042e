"""Writes the table of commands and keys into README.md: `make docs`."""

from __future__ import annotations

from pathlib import Path

from ollm_tui.tui.commands import COMMANDS, GROUPS
from ollm_tui.tui.keymap import key_names

README = Path(__file__).parent.parent / "README.md"
BEGIN, END = "<!-- commands: made by `make docs` -->\n", "<!-- end of commands -->\n"


def command_table() -> str:
    """All commands as Markdown, a table row each, under the headings the help screen has."""
    lines = ["| what | keys | command | id |", "|---|---|---|---|"]
    for group in GROUPS.values():
        lines.append(f"| **{group}** | | | |")
        for command in COMMANDS:
            if command.group == group:
                keys = " ".join(f"`{key}`" for key in key_names(command.keys))
                slash = f"/{command.slash} {command.argument}".rstrip() if command.slash else ""
                typed = f"`{slash}`".replace("|", r"\|") if slash else ""
                note = "" if command.where == "anywhere" else " (in the stream)"
                lines.append(f"| {command.title}{note} | {keys} | {typed} | {command.id} |")
    return "\n".join(lines) + "\n"


def with_commands(readme: str) -> str:
    """The README with the table in its place."""
    before, _, rest = readme.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{command_table()}{END}{after}"


if __name__ == "__main__":
    README.write_text(with_commands(README.read_text(encoding="utf-8")), encoding="utf-8")
