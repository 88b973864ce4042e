"""The full screen and its references, ready to be run in a terminal on a benchmark's server."""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from bench.answer_server import MODEL, WINDOW
from bench.reference_apps import READY
from bench.scratch_home import OLLM, PYTHON, REPOSITORY, environment
from bench.terminal_program import Program, TerminalProgram

OLLM_READY = "Type a message"
"""How the placeholder of the prompt begins."""
CODEX_READY = "OpenAI Codex"
NO_SERVER = "http://127.0.0.1:9"


def configure(home: Path, url: str = NO_SERVER) -> None:
    """Settings of a home: the benchmark's server answers, whoever else may be there. Its answers
    repeat themselves for ever, which would be taken for a loop."""
    (home / "config.yaml").write_text(
        f"provider: bench\nmodel: {MODEL}\nloopDetection: {{enabled: false}}\n"
        f"providers:\n  bench:\n    kind: openai\n    baseUrl: {url}\n"
    )


def ollm(home: Path, *arguments: str) -> Program:
    """The full screen in a configured home."""
    return Program((OLLM, *arguments), environment(home), OLLM_READY)


def minimal(home: Path) -> Program:
    """The least program with a prompt."""
    return _reference(home, "minimal")


def plain_lines(home: Path, url: str) -> Program:
    """The least program that shows an answer as it comes."""
    return _reference(home, "plain_lines", url)


def codex(home: Path, url: str, *arguments: str) -> Program | None:
    """The same kind of program in Rust, from npm's @openai/codex; None where it is not installed.

    `CODEX` may name its binary, which is quicker than the script that npm puts on the path.
    """
    command = os.environ.get("CODEX") or shutil.which("codex")
    if command is None:
        return None
    place = home / "codex"
    place.mkdir(exist_ok=True)
    (place / "config.toml").write_text(
        f'model = "{MODEL}"\nmodel_provider = "bench"\nmodel_context_window = {WINDOW}\n'
        'approval_policy = "never"\nsandbox_mode = "read-only"\n'
        "check_for_update_on_startup = false\n"
        f'[model_providers.bench]\nname = "bench"\nbase_url = "{url}/v1"\n'
        'wire_api = "responses"\nsupports_websockets = false\n'
        f'[projects."{home}"]\ntrust_level = "trusted"\n'
    )
    surroundings = {**environment(home), "CODEX_HOME": str(place)}
    return Program((command, *arguments), surroundings, CODEX_READY, "\x03\x03")


def _reference(home: Path, name: str, *arguments: str) -> Program:
    command = (PYTHON, "-m", f"bench.reference_apps.{name}", *arguments)
    return Program(command, {**environment(home), "PYTHONPATH": str(REPOSITORY)}, READY)


@contextmanager
def opened(
    program: Program, home: Path, size: tuple[int, int] = (80, 24)
) -> Generator[TerminalProgram, None, None]:
    """A program that is ready and has nothing left to do; ended as a user ends it."""
    with TerminalProgram(program, home, size) as terminal:
        terminal.wait_until_ready()
        terminal.settled()
        yield terminal
        terminal.quit()
