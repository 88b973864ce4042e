"""Copying to the clipboard, with an honest word on the way taken: terminals may refuse silently."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ollm_tui.services.safety.environment import cleaned
from ollm_tui.settings.schema import Environment

if TYPE_CHECKING:
    from textual.app import App

TOOL_SECONDS = 2.0
_NEEDED = Environment(
    allow_list=(
        *("PATH", "HOME", "USER", "LANG", "TERM", "TMPDIR", "TMUX", "TMUX_TMPDIR"),
        *("DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR"),
    )
)
"""The environment that programs need to find the display or the terminal."""


async def copy(app: App[Any], text: str) -> str:
    """Copy a text; returns in words where it is now."""
    for command, where in _tools(os.environ):
        if shutil.which(command[0]) and await _feed(command, text):
            return where
    # An escape sequence: no answer says whether the terminal obeyed it.
    app.copy_to_clipboard(text)
    return "sent to the terminal's clipboard"


def _tools(environ: Mapping[str, str]) -> list[tuple[tuple[str, ...], str]]:
    """Return the programs that can copy here, the best first."""
    tools: list[tuple[tuple[str, ...], str]] = []
    if sys.platform == "darwin":
        tools.append((("pbcopy",), "copied"))
    if environ.get("WAYLAND_DISPLAY"):
        tools.append((("wl-copy",), "copied"))
    if environ.get("DISPLAY") and not environ.get("SSH_CONNECTION"):
        tools.append((("xclip", "-selection", "clipboard"), "copied"))
        tools.append((("xsel", "--clipboard", "--input"), "copied"))
    if environ.get("TMUX"):
        # -w hands it on to the outer terminal as well, where tmux is allowed to.
        tools.append((("tmux", "load-buffer", "-w", "-"), "copied to tmux · prefix ] pastes"))
    return tools


async def _feed(command: tuple[str, ...], text: str) -> bool:
    """Return whether a program took the text within TOOL_SECONDS."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            # xclip goes on in the background with these: with a pipe its end would never come.
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            env=cleaned(os.environ, _NEEDED).variables,
        )
    except OSError:
        return False
    try:
        await asyncio.wait_for(process.communicate(text.encode()), TOOL_SECONDS)
    except (TimeoutError, BrokenPipeError, ConnectionResetError):
        process.kill()
        return False
    return process.returncode == 0
