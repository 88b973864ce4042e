"""Plain words are what bash itself makes of the code: compared with a real bash."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from shutil import which

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ollm_tui.services.safety.plain_words import plain_code

PIECES = (
    *("ls", "cat", " ", "  ", "\t", "\n", ";", "&&", "||", "|", "'a b'", '"c d"', "''", '""', "-l"),
    *("a=b", "x*", "?", "'$x'", '"\\|"', '"\\n"', "'`id`'", "#n", "# n\n", "--", "%s", "+x", "1,2"),
    *(
        "'",
        '"',
        "\\",
        "$x",
        "&",
        "!",
        "{",
        "~",
        "#",
        "(",
        ">",
        "a'b'c",
        "@",
        ":",
        "=",
        "cat 'x\ny'",
    ),
)
STUB = """#!{python}
import json, sys
with open({log!r}, "a") as file:
    file.write(json.dumps([{name!r}, *sys.argv[1:]]) + "\\n")
"""


@pytest.fixture
def stubs(tmp_path: Path) -> Path:
    """Programs that only write down what they were called with."""
    folder = tmp_path / "stubs"
    folder.mkdir()
    for name in ("ls", "cat"):
        stub = folder / name
        log = str(folder / "log")
        stub.write_text(STUB.format(python=f"{sys.executable} -S", log=log, name=name))
        stub.chmod(0o755)
    return folder


@settings(max_examples=60)
@given(st.lists(st.sampled_from(PIECES), max_size=8))
@example(["?", "?"])
def test_bash_runs_the_very_words_that_were_read(stubs: Path, pieces: list[str]) -> None:
    code = "ls " + "".join(pieces)
    plain = plain_code(code)
    if plain.refusal or not all(
        command.words[0].text in ("ls", "cat") for command in plain.commands
    ):
        return
    joined = {command.after for command in plain.commands}
    if joined & {"|", "||"}:
        return  # side by side, or not at all: the order would be another
    log = stubs / "log"
    log.write_text("")
    empty = stubs / "nothing-here"  # so that patterns stay what they are
    empty.mkdir(exist_ok=True)
    bash = (which("bash") or "/bin/bash", "--noprofile", "--norc", "-c", 'eval "$0"', code)
    done = subprocess.run(bash, cwd=empty, env={"PATH": os.fspath(stubs)}, check=False)
    assert done.returncode == 0
    called = [json.loads(line) for line in log.read_text().splitlines()]
    assert called == [[word.text for word in command.words] for command in plain.commands]


@pytest.mark.parametrize(
    ("code", "words"),
    (
        ("cat 'a b'", ["cat", "a b"]),
        ('cat "a\\|b"', ["cat", "a\\|b"]),
        ("cat a'b'\"c\"", ["cat", "abc"]),
        ("cat '' x", ["cat", "", "x"]),
        ("cat # a note", ["cat"]),
        ("cat HEAD^{tree} HEAD@{1} v1^{}", ["cat", "HEAD^{tree}", "HEAD@{1}", "v1^{}"]),
    ),
)
def test_quotes_are_taken_away_as_the_shell_does(code: str, words: list[str]) -> None:
    (command,) = plain_code(code).commands
    assert [word.text for word in command.words] == words


def test_how_commands_are_joined_is_told() -> None:
    joined = [command.after for command in plain_code("a && b || c | d; e\nf").commands]
    assert joined == ["", "&&", "||", "|", ";", "\n"]
