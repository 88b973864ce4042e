"""Every process the program starts gets an environment somebody thought about."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import REPOSITORY

PACKAGE = REPOSITORY / "ollm_tui"

OWN_ENVIRONMENT = {
    "providers/llama_cpp/server_process.py": "below the services; passes seven names",
    "providers/llama_cpp/model_download.py": "below the services; passes what pip needs",
    "services/files/git_program.py": "passes seven names, hardens git with the rest",
    "services/tokens/counting_process.py": "passes nothing at all but where our own modules are",
    "services/jobs/process_tree.py": "passes nothing to ps but where it is and how it writes times",
    "services/jobs/launcher_client.py": "passes nothing at all but where our own modules are",
    "storage/sync/bare_git.py": "below the services; passes what git needs to log in, no more",
    "tools/hardened_git.py": "what git_program passes, and editors and helpers switched off",
    "tools/search_text.py": "passes nothing at all but where our own modules are",
    "services/sandbox/probing.py": "passes nothing at all but where our own modules are",
    "services/jobs/supervisor.py": "runs a job with the environment of its order, cleaned before",
}
"""Places that make an environment of their own, smaller than the service would."""

USERS_ENVIRONMENT = {
    "services/safety/credentials.py": "the user's password program needs its agent and session",
    "providers/aws_credentials.py": "the user's own program for keys, as Amazon's tools run it",
    "web/terminal_program.py": "the program itself once more, for the user in a browser",
    "services/sync/background_sync.py": "the program itself once more, to sync for the user",
    "tui/terminal/external_editor.py": "the user's own editor, started as from the user's shell",
}
"""Places that hand on everything, because the user's own tool is started for the user."""

STARTERS = re.compile(
    r"(?:asyncio\.)?create_subprocess_(?:exec|shell)"
    r"|(?:asyncio\.)?subprocess\.(?:Popen|run|call|check_call|check_output|getoutput"
    r"|getstatusoutput|create_subprocess_\w+)|Popen"
    r"|os\.(?:system|popen|exec\w+|spawn\w+|posix_spawnp?)|pty\.spawn"
)
POSITIONAL = re.compile(r"os\.(?:exec\w*e|spawn\w*e|posix_spawnp?)")
"""Those that take the environment by its place."""
INHERITED = re.compile(r"\bos\.environ\b|\bNone\b")


def starts() -> Iterator[tuple[str, ast.Call, str]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call) and STARTERS.fullmatch(ast.unparse(node.func)):
                yield path.relative_to(PACKAGE).as_posix(), node, source


def environment_of(call: ast.Call) -> str:
    """The expression that makes the environment; empty if it is inherited."""
    if POSITIONAL.fullmatch(ast.unparse(call.func)):
        return ast.unparse(call.args[-1])
    return next((ast.unparse(word.value) for word in call.keywords if word.arg == "env"), "")


def test_the_program_starts_processes_only_where_this_test_looks() -> None:
    found = {module for module, _, _ in starts()}
    assert {
        "tui/terminal/clipboard.py",
        "providers/llama_cpp/model_download.py",
        *USERS_ENVIRONMENT,
    } <= found


def test_every_child_process_gets_an_environment_made_for_it() -> None:
    for module, call, source in starts():
        if module in USERS_ENVIRONMENT:
            continue
        environment = environment_of(call)
        place = f"{module}:{call.lineno}"
        assert environment, f"{place} hands on the whole environment; use services.environment"
        if module not in OWN_ENVIRONMENT:
            assert "ollm_tui.services.safety.environment import" in source, place
        # What is cleaned on the spot may begin with all of it.
        cleaned = re.sub(r"\b(?:cleaned|\w+_environment)\(os\.environ\b", "", environment)
        assert not INHERITED.search(cleaned), f"{place}: {environment}"


def test_every_exception_is_needed() -> None:
    found = {module for module, _, _ in starts()}
    for module in (*OWN_ENVIRONMENT, *USERS_ENVIRONMENT):
        assert module in found or not Path(PACKAGE, module).exists()
