"""What a terminal can show, from its environment; and what really reaches it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

import pytest

from ollm_tui.tui.terminal.abilities import Abilities, abilities, choose_theme
from tests.cases import every
from tests.conftest import REPOSITORY

UTF8 = {"LANG": "en_GB.UTF-8", "TERM": "xterm-256color"}


@every(
    ("environ", "encoding", "unicode"),
    (
        (UTF8, "utf-8", True),
        (UTF8, "UTF8", True),
        (UTF8, "iso-8859-1", False),
        (UTF8, "ascii", False),
        (UTF8, None, False),
        (UTF8 | {"TERM": "linux"}, "utf-8", False),
        (UTF8 | {"TERM": "dumb"}, "utf-8", False),
        (UTF8 | {"LC_ALL": "C"}, "utf-8", False),
        (UTF8 | {"LC_ALL": "C.UTF-8"}, "utf-8", True),
        (UTF8 | {"LC_ALL": ""}, "utf-8", True),
        ({"LANG": "POSIX", "LC_CTYPE": "C.UTF-8"}, "utf-8", True),
        ({"LANG": "POSIX"}, "utf-8", False),
        ({}, "utf-8", True),
    ),
)
def test_letters_beyond_ascii(environ: dict[str, str], encoding: str | None, unicode: bool) -> None:
    assert abilities(environ, encoding).unicode is unicode


@every(
    ("environ", "colours"),
    (
        ({"TERM": "xterm-256color"}, 256),
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, None),
        ({"TERM": "xterm", "COLORTERM": "24bit"}, None),
        ({"TERM": "xterm-kitty"}, 256),
        ({"TERM": "xterm-16color"}, 16),
        ({"TERM": "xterm"}, 16),
        ({"TERM": "linux"}, 16),
        ({}, 16),
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor", "NO_COLOR": "1"}, 0),
        ({"TERM": "xterm-256color", "NO_COLOR": ""}, 256),
    ),
)
def test_colours(environ: dict[str, str], colours: int | None) -> None:
    assert abilities(environ, "utf-8") == Abilities(True, colours) or "linux" in environ.values()
    assert abilities(environ, "utf-8").colours == colours


@pytest.mark.parametrize(
    ("name", "environ", "chosen"),
    (
        ("nord", {"COLORFGBG": "0;15"}, "nord"),
        ("auto", {"TERM": "xterm-256color"}, "dark"),
        ("auto", {"TERM": "xterm-256color", "COLORFGBG": "0;15"}, "light"),
        ("auto", {"TERM": "xterm-256color", "COLORFGBG": "0;default;7"}, "light"),
        ("auto", {"TERM": "xterm-256color", "COLORFGBG": "15;0"}, "dark"),
        ("auto", {"TERM": "xterm-256color", "COLORFGBG": "rubbish"}, "dark"),
        ("auto", {"TERM": "xterm"}, "high-contrast"),
        ("auto", {"TERM": "xterm", "COLORFGBG": "0;15"}, "high-contrast-light"),
    ),
)
def test_the_theme_to_begin_with(name: str, environ: dict[str, str], chosen: str) -> None:
    assert choose_theme(name, environ) == chosen


APP = """
import os
from textual.app import App
from ollm_tui.tui.kit.picker import Picker
from ollm_tui.tui.terminal.abilities import abilities, choose_theme
from ollm_tui.tui.themes import load_theme
from ollm_tui.tui.kit.choice_list import Choice

class Small(App):
    ENABLE_COMMAND_PALETTE = False
    def on_mount(self):
        theme = load_theme(choose_theme("auto", os.environ))
        self.register_theme(theme)
        self.theme = theme.name
        self.push_screen(Picker("Fruit", [Choice("a", "apple"), Choice("b", "banana")]))
        self.call_after_refresh(self.call_later, self.call_after_refresh, self.exit)

Small(ansi_color=abilities(os.environ, "utf-8").colours == 0 or None).run()
"""
SGR = re.compile(r"\x1b\[([0-9;]*)m([^\x1b]*)")


def sent_to_terminal(**variables: str) -> list[tuple[str, str]]:
    """Every style and the text in it, as a program with one picker writes them to a pty."""
    master, slave = pty.openpty()
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    environ = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **variables}
    program = subprocess.Popen(
        [sys.executable, "-c", APP],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=REPOSITORY,
        env=environ,
    )
    os.close(slave)
    printed = b""
    while True:
        try:
            chunk = os.read(master, 65536)
        except OSError:  # how a pty says that the other side is gone
            break
        printed += chunk
    os.close(master)
    assert program.wait() == 0
    return SGR.findall(printed.decode())


def codes(found: list[tuple[str, str]]) -> set[int]:
    return {int(code or 0) for style, _ in found for code in style.split(";")}


def test_without_colours_none_is_sent_and_the_highlight_is_still_seen() -> None:
    found = sent_to_terminal(TERM="xterm-256color", NO_COLOR="1")
    assert codes(found) <= {0, 1, 2, 3, 4, 7, 39, 49}
    styles = {text.strip(): set(style.split(";")) for style, text in found}
    assert "7" in styles["apple"]
    assert "7" not in styles["banana"]
    assert "1" in styles["Fruit"]


def test_a_terminal_with_16_colours_gets_no_others() -> None:
    found = sent_to_terminal(TERM="xterm-16color")
    assert codes(found) <= {*range(10), *range(30, 38), *range(40, 48), *range(90, 108), 39, 49}
    styles = {text.strip(): style for style, text in found}
    assert styles["apple"] != styles["banana"]


def test_a_terminal_with_256_colours_gets_no_direct_ones() -> None:
    found = sent_to_terminal(TERM="xterm-256color")
    assert any(style.startswith("38;5;") for style, _ in found)
    assert not any("38;2;" in style or "48;2;" in style for style, _ in found)
