"""What commands print in pieces, in a real terminal: no piece of a secret is ever drawn."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.end_to_end.terminal import Terminal

KNOWN = "open sesame, quoth Ali"
TOKEN = "gh" + "p_" + "9fK2mQx7LrT4vWz8BnY3cHd6JsP1gA5eUoX0"
SHORTEST = 6
"""Characters of a secret that say something: `ghp_` alone does not."""
PROGRAM = """
import sys, time
for line in open("secrets.txt"):
    secret = line[-2::-1]
    for cut in range(1, len(secret)):
        for piece in (f"{cut} ", secret[:cut], secret[cut:], "\\n"):
            sys.stdout.write(piece)
            sys.stdout.flush()
            time.sleep(0.05 * (piece == secret[:cut]))
print("all", "printed")
"""


def command(folder: Path) -> str:
    """A command line without the secrets, which lie in a file the wrong way round."""
    (folder / "secrets.txt").write_text(f"{TOKEN[::-1]}\n{KNOWN[::-1]}\n", encoding="utf-8")
    (folder / "in_pieces.py").write_text(PROGRAM, encoding="utf-8")
    return "python3 in_pieces.py"


def drawn(terminal: Terminal) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", terminal.seen)


def assert_nothing_leaked(text: str) -> None:
    assert "[REDACTED:" in text
    for secret in (TOKEN, KNOWN):
        pieces = {secret[at : at + SHORTEST] for at in range(4, len(secret) - SHORTEST)}
        assert not {piece for piece in pieces if piece in text}


@pytest.mark.parametrize("by", ["the user", "the model"])
def test_a_secret_that_comes_in_two_writes_is_not_drawn_at_any_cut(home: Path, by: str) -> None:
    code = command(Path.cwd())
    call = {"tool": "exec", "args": {"code": code}}
    with Terminal(home, [[call], [{"text": "Done."}]], ALI_PASSWORD=KNOWN) as terminal:
        terminal.wait_for("scripted")
        if by == "the user":
            start = len(terminal.seen)
            terminal.type(f"!{code}\r")
        else:
            terminal.type("go\r")
            terminal.wait_for("waiting for your answer")
            start = len(terminal.seen)
            terminal.type("\x0f\x1ba")
            while "waiting for your answer" in terminal.screen():
                terminal.settle(1.5)  # a key that comes too soon does not count
                terminal.type("y")
        terminal.wait_for_output("all printed", start)
        terminal.settle()
        terminal.type("\x0f")  # everything that is folded opens
        terminal.settle()
        assert_nothing_leaked(drawn(terminal))
