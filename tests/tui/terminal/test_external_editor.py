"""Writing in an editor of one's own: what comes back, what fails, and who has the terminal."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from textual.app import App

from ollm_tui.core.errors import OllmError
from ollm_tui.tui.terminal.external_editor import edit_outside, editor_command
from tests.cases import some
from tests.conftest import REPOSITORY

InstallEditor = Callable[..., Path]


class Suspended(App[None]):
    """An application without a terminal that can be suspended all the same."""

    @contextmanager
    def suspend(self) -> Generator[None]:
        yield


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InstallEditor:
    """Makes a shell script the user's editor."""

    def install(script: str, variable: str = "VISUAL", *arguments: str) -> Path:
        file = tmp_path / "my editor"
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)
        monkeypatch.setenv(variable, " ".join((f"'{file}'", *arguments)))
        return file

    return install


async def edited(text: str) -> str:
    app = Suspended()
    async with app.run_test():
        return await edit_outside(app, text)


@pytest.mark.parametrize("variable", ("VISUAL", "EDITOR"))
async def test_the_text_comes_back_as_the_editor_left_it(
    editor: InstallEditor, variable: str
) -> None:
    editor('echo "and $1 more" >> "$2"', variable, "much")
    assert await edited("words\n") == "words\nand much more\n"


async def test_the_line_end_that_editors_add_is_not_a_part_of_the_message(
    editor: InstallEditor,
) -> None:
    editor('echo >> "$1"')
    assert await edited("words") == "words"


async def test_the_file_is_private_and_gone_afterwards(
    editor: InstallEditor, tmp_path: Path
) -> None:
    seen = tmp_path / "seen"
    editor(f'stat -c "%a %n" "$1" "$(dirname "$1")" > {seen}')
    await edited("secret")
    file, folder = (line.split() for line in seen.read_text().splitlines())
    assert (file[0], folder[0]) == ("600", "700")
    assert file[1].endswith(".md")
    assert not Path(folder[1]).exists()


async def test_what_the_editor_wrote_is_filtered(editor: InstallEditor) -> None:
    editor(r"""printf 'a\033]52;c;eA==\007b\r\nc\377' > "$1" """)
    assert await edited("") == "ab\nc\ufffd"


@some(
    1,
    ("script", "problem"),
    (
        ("exit 3", "ended with code 3"),
        ('rm "$1"', "left no file to read"),
        ("kill -9 $$", "ended with code -9"),
    ),
)
async def test_an_editor_that_fails_is_named(
    editor: InstallEditor, script: str, problem: str
) -> None:
    editor(script)
    with pytest.raises(OllmError, match=problem) as raised:
        await edited("words")
    assert "$EDITOR" in raised.value.hint


async def test_an_editor_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "no-such-editor -w")
    with pytest.raises(OllmError, match="no-such-editor cannot be started: No such file"):
        await edited("words")
    monkeypatch.setenv("VISUAL", "'unfinished")
    with pytest.raises(OllmError, match=r"cannot parse \$VISUAL"):
        await edited("words")


async def test_without_a_terminal_of_its_own_it_says_so(editor: InstallEditor) -> None:
    editor("exit 0")
    app: App[None] = App()
    async with app.run_test():
        with pytest.raises(OllmError, match="terminal"):
            await edit_outside(app, "words")


def test_the_first_editor_there_is_is_used_where_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(OllmError, match="no editor"):
        editor_command({"PATH": str(tmp_path)})
    for name in ("vi", "nano"):
        (tmp_path / name).touch(0o755)
        assert editor_command({"PATH": str(tmp_path), "EDITOR": " "}) == [name]


PROGRAM = """
import asyncio
from textual.app import App
from textual.widgets import Static
from ollm_tui.tui.terminal.external_editor import edit_outside

class Program(App):
    def compose(self):
        yield Static("started", markup=False)
    def on_mount(self):
        self.ticks = 0
        self.set_interval(0.02, self.tick)
    def tick(self):
        self.ticks += 1
        self.query_one(Static).update(f"drawn {self.ticks}")
    def on_key(self, event):
        self.run_worker(self.write())
    async def write(self):
        before = self.ticks
        text = await edit_outside(self, "words")
        self.exit((text, self.ticks - before))

print("result", Program().run())
"""


class Terminal:
    """A pseudo terminal with a program in it."""

    def __init__(self, program: str) -> None:
        self.master, self.slave = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=self.slave,
            stdout=self.slave,
            stderr=self.slave,
            cwd=REPOSITORY,
            env={**os.environ, "TERM": "xterm-256color", "LANG": "C.UTF-8"},
            start_new_session=True,
        )

    def read(self, seconds: float) -> str:
        """What is printed until nothing more comes for that long."""
        seen = ""
        while select.select([self.master], [], [], seconds)[0]:
            seen += os.read(self.master, 65536).decode("utf-8", "replace")
        return seen

    def read_until(self, text: str) -> str:
        """What is printed up to a text, and a little after it."""
        seen = ""
        while text not in seen:
            if select.select([self.master], [], [], 0.2)[0]:
                seen += os.read(self.master, 65536).decode("utf-8", "replace")
            elif self.process.poll() is not None:
                pytest.fail(f"ended before {text!r}: {seen[-800:]}")
        return seen


def test_the_editor_has_the_terminal_and_the_program_goes_on_behind_it(
    editor: InstallEditor,
) -> None:
    editor('trap \'echo interrupted >> "$1"\' INT; echo EDITOR; read a; read b; echo $a$b >> "$1"')
    terminal = Terminal(PROGRAM)
    before = termios.tcgetattr(terminal.slave)
    terminal.read_until("drawn")
    os.write(terminal.master, b"e")
    terminal.read_until("EDITOR")
    assert termios.tcgetattr(terminal.slave) == before
    terminal.read(0.1)
    os.killpg(terminal.process.pid, signal.SIGINT)
    assert terminal.read(0.5) == ""
    os.write(terminal.master, b"typed\ntyped\n")
    result = terminal.read_until("result") + terminal.read(0.3)
    assert terminal.process.wait() == 0
    found = re.search(r"result \('(.*)', (\d+)\)", result)
    assert found and "interrupted" in found[1] and "typed" in found[1]
    assert int(found[2]) > 5
    assert termios.tcgetattr(terminal.slave) == before
    os.close(terminal.master)
    os.close(terminal.slave)
