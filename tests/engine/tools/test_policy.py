"""The rules: what runs unasked, what asks in every mode, what is refused whatever else holds."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from ollm_tui.core.tool import APPROVAL_MODES, Action, ApprovalMode, Decision, Tool
from ollm_tui.engine.tools.policy import Policy, scope_of
from ollm_tui.services.files.project_files import ProjectFiles
from ollm_tui.services.safety.grants import Grants
from ollm_tui.settings.schema import Tools
from ollm_tui.tools.git import Git
from ollm_tui.tools.planned_write import FilesRead
from ollm_tui.tools.read_file import ReadFile
from ollm_tui.tools.scope import Scope
from ollm_tui.tools.scope_files import ScopeFiles
from ollm_tui.tools.search_text import SearchText

ALWAYS = Decision("always", "session")
NEVER = Decision("never", "session")
EVERY_MODE = pytest.mark.parametrize("mode", APPROVAL_MODES)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "app"
    folder.mkdir()
    return folder


def policy_for(project: Path, confined: bool = False, tools: Tools | None = None) -> Policy:
    return Policy(tools or Tools(), project, Grants(None, project), lambda: confined)


def tools_in(project: Path) -> dict[str, Tool]:
    """Tools that read, in a repository with a file of secrets and a link to it."""
    (project / ".env").write_text("TOKEN=x\n")
    (project / "main.py").write_text("print()\n")
    (project / "plain.txt").symlink_to(".env")
    (project / ".aws").mkdir()
    subprocess.run(("git", "init", "-q", str(project)), check=True)
    scope, memory = Scope(project), FilesRead()
    environ = {"PATH": os.environ["PATH"]}
    return {
        "read_file": ReadFile(scope, memory),
        "search_text": SearchText(scope, ScopeFiles(scope, ProjectFiles(project))),
        "git": Git(scope, environ, 10.0),
    }


def run(code: str, language: str = "shell") -> Action:
    return Action("run", "run", code, language=language)


def write(path: str) -> Action:
    return Action("write", "change", path)


READ = Action("read", "read", "src/main.py")
NOTE = Action("none", "note", "a task")


@EVERY_MODE
def test_reading_and_notes_are_never_asked_for(project: Path, mode: ApprovalMode) -> None:
    policy = policy_for(project)
    assert policy.judge("read_file", READ, mode).ruling == "allow"
    assert policy.judge("tasks", NOTE, mode).ruling == "allow"


@EVERY_MODE
def test_reading_where_secrets_are_kept_asks(project: Path, mode: ApprovalMode) -> None:
    verdict = policy_for(project).judge("read_file", Action("read", "read", ".env"), mode)
    assert (verdict.ruling, verdict.dangerous) == ("ask", False)
    assert "secrets" in verdict.reason


@EVERY_MODE
@pytest.mark.parametrize(
    ("tool", "args"),
    (
        ("search_text", {"pattern": "TOKEN", "path": ".env"}),
        ("search_text", {"pattern": "TOKEN", "path": "./.env"}),
        ("search_text", {"pattern": ".", "path": ".e*"}),
        ("search_text", {"pattern": ".", "path": "**/.env*"}),
        ("search_text", {"pattern": ".", "path": "plain.txt"}),
        ("search_text", {"pattern": ".", "path": ".aws"}),
        ("git", {"args": ["show", "HEAD:.env"]}),
        ("git", {"args": ["show", "HEAD:./.env"]}),
        ("git", {"args": ["diff", "HEAD", "--", ".env"]}),
        ("git", {"args": ["log", "-p", "--", ":(top).env"]}),
        ("git", {"args": ["grep", "-e", ".", "--", ".en?"]}),
        ("git", {"args": ["grep", "-e", ".", "--", "*.pem"]}),
        ("git", {"args": ["blame", ".env"]}),
        ("read_file", {"path": ".env"}),
        ("read_file", {"path": "plain.txt"}),
    ),
)
async def test_no_tool_reads_a_file_of_secrets_unasked(
    project: Path, mode: ApprovalMode, tool: str, args: dict[str, object]
) -> None:
    action = (await tools_in(project)[tool].plan(args)).action
    verdict = policy_for(project, confined=True).judge(tool, action, mode)
    assert (verdict.ruling, verdict.reason) == ("ask", "it names a place that may hold secrets")


@EVERY_MODE
@pytest.mark.parametrize(
    ("tool", "args"),
    (
        ("search_text", {"pattern": "credentials"}),
        ("search_text", {"pattern": r"\.env", "path": "*.py"}),
        ("search_text", {"pattern": "TOKEN", "path": "main.py"}),
        ("git", {"args": ["show", "HEAD:main.py"]}),
        ("git", {"args": ["log", "-3", "--since=2024-01-01"]}),
        ("git", {"args": ["diff", "--", "*.json"]}),
    ),
)
async def test_searching_and_looking_at_other_files_is_not_asked_for(
    project: Path, mode: ApprovalMode, tool: str, args: dict[str, object]
) -> None:
    action = (await tools_in(project)[tool].plan(args)).action
    assert policy_for(project).judge(tool, action, mode).ruling == "allow"


@pytest.mark.parametrize(
    ("mode", "ruling"), (("ask", "ask"), ("auto-edit", "allow"), ("auto", "allow"))
)
def test_edits_ask_unless_the_mode_says_otherwise(
    project: Path, mode: ApprovalMode, ruling: str
) -> None:
    assert policy_for(project).judge("write_file", write("src/main.py"), mode).ruling == ruling


@EVERY_MODE
@pytest.mark.parametrize(
    "path",
    (
        ".git/config",
        ".git/hooks/pre-commit",
        "sub/.git/hooks/pre-commit",
        ".ollm/config.yaml",
        ".ollm/OLLM.md",
        "AGENTS.md",
        "docs/AGENTS.md",
        ".envrc",
        ".bashrc",
        ".github/workflows/ci.yml",
        ".gitlab-ci.yml",
        ".husky/pre-commit",
        ".vscode/tasks.json",
        "../outside.py",
        "/etc/passwd",
        "link/outside.py",
    ),
)
def test_edits_of_what_runs_by_itself_or_lies_outside_ask_in_every_mode(
    project: Path, mode: ApprovalMode, path: str
) -> None:
    (project / "link").symlink_to(project.parent)
    verdict = policy_for(project, confined=True).judge("write_file", write(path), mode)
    assert (verdict.ruling, verdict.dangerous, verdict.grant) == ("ask", True, "")


@pytest.mark.parametrize("path", ("Makefile", "src/.gitignore", "README.md", "github/x.py"))
def test_other_edits_are_ordinary(project: Path, path: str) -> None:
    assert not policy_for(project).judge("write_file", write(path), "ask").dangerous


@EVERY_MODE
def test_commands_that_only_read_run_unasked(project: Path, mode: ApprovalMode) -> None:
    assert policy_for(project).judge("exec", run("ls -la | head"), mode).ruling == "allow"


@pytest.mark.parametrize(
    ("mode", "confined", "ruling"),
    (
        ("ask", True, "ask"),
        ("auto-edit", True, "ask"),
        ("auto", True, "allow"),
        ("auto", False, "ask"),
    ),
)
@pytest.mark.parametrize("language", ("shell", "python"))
def test_other_code_runs_unasked_only_in_mode_auto_and_in_a_sandbox(
    project: Path, mode: ApprovalMode, confined: bool, ruling: str, language: str
) -> None:
    code = "make" if language == "shell" else "print(1)"
    verdict = policy_for(project, confined).judge("exec", run(code, language), mode)
    assert verdict.ruling == ruling


def test_a_program_that_is_not_run_in_the_sandbox_asks_in_mode_auto(project: Path) -> None:
    action = run("git commit -m x")
    assert policy_for(project, confined=True).judge("git", action, "auto").ruling == "ask"


@EVERY_MODE
@pytest.mark.parametrize(
    ("code", "language"),
    (
        ("rm -rf .", "shell"),
        ("git push --force", ""),
        ("import shutil; shutil.rmtree('x')", "python"),
    ),
)
def test_dangerous_code_asks_in_every_mode_and_cannot_be_allowed_for_good(
    project: Path, mode: ApprovalMode, code: str, language: str
) -> None:
    policy = policy_for(project, confined=True)
    action = run(code, language)
    verdict = policy.judge("exec", action, mode)
    assert (verdict.ruling, verdict.dangerous, verdict.grant) == ("ask", True, "")
    policy.remember("exec", action, verdict, ALWAYS)
    assert policy.grants() == []
    assert policy.judge("exec", action, mode) == verdict
    policy.remember("exec", action, verdict, Decision("never", "project"))
    assert policy.judge("exec", action, mode).ruling == "deny"


def test_always_holds_for_exactly_this_command_in_this_place(project: Path) -> None:
    policy = policy_for(project)
    action = run("make test")
    policy.remember("exec", action, policy.judge("exec", action, "ask"), ALWAYS)
    assert policy.judge("exec", action, "ask").ruling == "allow"
    for other in (
        run("make"),
        run("make test; id"),
        Action("run", "run", "make test", "/", "shell"),
    ):
        assert policy.judge("exec", other, "ask").ruling == "ask"


def test_what_was_allowed_before_it_became_dangerous_asks_again(project: Path) -> None:
    policy = policy_for(project)
    action = run("echo x > notes")
    policy.remember("exec", action, policy.judge("exec", action, "ask"), ALWAYS)
    (project / "notes").symlink_to("/etc/motd")
    assert policy.judge("exec", action, "ask").dangerous


@EVERY_MODE
def test_never_refuses_also_what_only_reads(project: Path, mode: ApprovalMode) -> None:
    policy = policy_for(project, confined=True)
    for tool, action in (("read_file", READ), ("exec", run("ls")), ("exec", run("rm -rf x"))):
        policy.remember(tool, action, policy.judge(tool, action, mode), NEVER)
        assert policy.judge(tool, action, mode).ruling == "deny"


def test_an_answer_for_once_is_not_remembered(project: Path) -> None:
    policy = policy_for(project)
    verdict = policy.judge("exec", run("make"), "ask")
    policy.remember("exec", run("make"), verdict, Decision("always", "once"))
    policy.remember("exec", run("make"), verdict, Decision("yes", "session"))
    assert policy.grants() == []


def test_grants_can_be_listed_and_cleared(project: Path) -> None:
    policy = policy_for(project)
    verdict = policy.judge("exec", run("make"), "ask")
    policy.remember("exec", run("make"), verdict, ALWAYS)
    assert [grant.subject.code for grant in policy.grants()] == ["make"]
    assert policy.clear_grants() == 1
    assert policy.judge("exec", run("make"), "ask").ruling == "ask"


@EVERY_MODE
def test_what_the_settings_forbid_is_refused_whatever_was_allowed(
    project: Path, mode: ApprovalMode
) -> None:
    grants = Grants(None, project)
    open_policy = Policy(Tools(), project, grants)
    open_policy.remember("exec", run("make"), open_policy.judge("exec", run("make"), mode), ALWAYS)
    for tools in (Tools(permissions={"exec": "deny"}), Tools(allowed=("read_*",))):
        verdict = Policy(tools, project, grants, lambda: True).judge("exec", run("make"), mode)
        assert verdict.ruling == "deny"


@EVERY_MODE
def test_confirm_in_the_settings_asks_for_everything(project: Path, mode: ApprovalMode) -> None:
    tools = Tools(permissions={"read_file": "confirm", "exec": "confirm"})
    policy = policy_for(project, confined=True, tools=tools)
    assert policy.judge("read_file", READ, mode).ruling == "ask"
    assert policy.judge("exec", run("ls"), mode).ruling == "ask"


@EVERY_MODE
def test_auto_in_the_settings_asks_only_for_what_is_dangerous(
    project: Path, mode: ApprovalMode
) -> None:
    policy = policy_for(project, tools=Tools(permissions={"exec": "auto"}))
    assert policy.judge("exec", run("make"), mode).ruling == "allow"
    assert policy.judge("exec", run("rm -rf x"), mode).ruling == "ask"


@EVERY_MODE
@pytest.mark.parametrize(
    "action", (READ, NOTE, write("x"), run("ls"), run("make"), run("rm -rf x"))
)
def test_every_verdict_says_why_in_one_line(
    project: Path, mode: ApprovalMode, action: Action
) -> None:
    verdict = policy_for(project).judge("exec", action, mode)
    assert verdict.reason
    assert "\n" not in verdict.reason + verdict.grant


def test_the_scope_of_the_settings_goes_from_the_project_and_home(project: Path) -> None:
    scope = scope_of(Tools(scope=(".", "../lib", "~/notes")), project)
    assert scope == (project, project.parent / "lib", Path.home() / "notes")


def test_another_directory_of_the_scope_may_be_edited(project: Path) -> None:
    policy = policy_for(project, tools=Tools(scope=(".", "../lib")))
    assert not policy.judge("write_file", write("../lib/x.py"), "ask").dangerous
