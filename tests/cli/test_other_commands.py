"""`ollm models`, `providers`, `doctor`, `completion` and `chat` in plain lines."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cases import some
from tests.cli.conftest import OLLM, Run
from tests.conftest import REPOSITORY


def test_the_version_is_one_line(run_ollm: Run) -> None:
    assert run_ollm("--version").stdout.startswith("ollm ")


def test_the_package_run_as_a_module_is_the_command() -> None:
    for arguments in (["--version"], ["--help"], ["nonsense"]):
        command, module = (
            subprocess.run([*start, *arguments], capture_output=True, text=True, cwd=REPOSITORY)
            for start in ([str(OLLM)], [sys.executable, "-m", "ollm_tui"])
        )
        told = (module.returncode, module.stdout, module.stderr)
        assert told == (command.returncode, command.stdout, command.stderr)


def test_help_has_examples_for_every_group(run_ollm: Run) -> None:
    for group in (
        (),
        ("sessions",),
        ("models",),
        ("providers",),
        ("config",),
        ("doctor",),
        ("completion",),
    ):
        done = run_ollm(*group, "--help")
        assert (done.returncode, done.stderr) == (0, "")
        assert "examples:" in done.stdout


def test_the_manual_page_is_the_one_that_is_shipped(run_ollm: Run) -> None:
    done = run_ollm("--man")
    assert (done.returncode, done.stderr) == (0, "")
    shipped = (REPOSITORY / "docs" / "ollm.1").read_text(encoding="utf-8")
    assert done.stdout == shipped, "make docs writes it"


def test_the_manual_page_has_every_command_and_option_of_the_help(run_ollm: Run) -> None:
    page = run_ollm("--man").stdout.replace("\\-", "-")
    for group in ("chat", "sessions", "snapshots", "models", "config", "doctor", "jobs", "mcp"):
        assert f".SS ollm {group}\n" in page
    for command in ((), ("sessions", "export"), ("sessions", "compact"), ("snapshots", "restore")):
        options = set(re.findall(r"--[a-z-]+", run_ollm(*command, "--help").stdout)) - {"--help"}
        assert options and {option for option in options if option not in page} == set()


def test_models_lists_what_could_be_fetched_before_anything_is(run_ollm: Run) -> None:
    shown = run_ollm("models", "list").stdout
    assert "smollm2:135m" in shown and "not downloaded" in shown
    entries = json.loads(run_ollm("models", "list", "--json").stdout)
    assert {"provider", "name", "installed"} <= set(entries[0])


def test_model_info_tells_what_a_model_can_do(run_ollm: Run) -> None:
    [info] = json.loads(run_ollm("models", "info", "smollm2:135m", "--json").stdout)
    assert info["maxWindow"] == 8192
    assert info["exactTokenCounts"] is True
    missing = run_ollm("models", "info", "nope")
    assert (missing.returncode, missing.stderr.count("\n")) == (1, 1)


def test_pulling_what_nobody_has_is_one_line(run_ollm: Run) -> None:
    done = run_ollm("models", "pull", "nope", OLLAMA_HOST="127.0.0.1:9")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)


def test_providers_are_listed_with_their_state(run_ollm: Run) -> None:
    entries = json.loads(run_ollm("providers", "list", "--json", OLLAMA_HOST="127.0.0.1:9").stdout)
    states = {entry["name"]: entry["available"] for entry in entries}
    assert states == {"ollama": False, "embedded": True}


def test_a_provider_is_tested_by_asking_it(run_ollm: Run) -> None:
    done = run_ollm("providers", "test", "scripted", script=[[{"text": "ready"}]])
    assert done.returncode == 0
    assert "said 'ready'" in done.stdout
    down = run_ollm("providers", "test", "ollama", OLLAMA_HOST="127.0.0.1:9")
    assert down.returncode == 1
    assert "ollama serve" in down.stdout


def test_doctor_is_content_with_a_fresh_home(run_ollm: Run) -> None:
    done = run_ollm("doctor")
    assert done.returncode == 0
    assert "!!" not in done.stdout


def test_doctor_does_not_call_a_provider_fine_that_does_not_answer(run_ollm: Run) -> None:
    done = run_ollm("doctor", OLLAMA_HOST="127.0.0.1:9")
    [line] = [line for line in done.stdout.splitlines() if "ollama:" in line]
    assert line.startswith("--") and done.returncode == 0, "it is not needed"


def test_doctor_tells_how_files_are_found_without_git(run_ollm: Run) -> None:
    assert "git        available" in run_ollm("doctor").stdout
    [line] = [
        line for line in run_ollm("doctor", PATH="/nowhere").stdout.split("\n") if "git" in line
    ]
    assert line.endswith("(install git)")


def test_doctor_reads_the_model_files_whole(run_ollm: Run, home: Path, model_home: Path) -> None:
    assert run_ollm("doctor", OLLAMA_HOST="127.0.0.1:9").returncode == 0
    [model] = (home / "models").resolve().glob("SmolLM2*.gguf")
    (home / "models").unlink()
    (home / "models").mkdir()
    with (home / "models" / model.name).open("wb") as copy:
        copy.write(model.read_bytes()[:-1] + b"x")
    found = run_ollm("doctor", OLLAMA_HOST="127.0.0.1:9")
    assert found.returncode == 1
    assert "its hash is wrong" in found.stdout


def test_doctor_names_the_damage_and_repairs_a_copy(run_ollm: Run, home: Path) -> None:
    run_ollm("-p", "Keep this sentence", script=[])
    [file] = (home / "sessions").glob("*.json")
    whole = file.read_bytes()
    torn = whole[: whole.rindex(b'"toolCalls"') - 40]
    file.write_bytes(torn)
    found = run_ollm("doctor")
    assert found.returncode == 1
    assert file.stem in found.stdout
    repaired = run_ollm("doctor", "--repair")
    assert repaired.returncode == 0
    new = repaired.stdout.split()[-1]
    assert "Keep this sentence" in run_ollm("sessions", "view", new).stdout
    assert file.read_bytes() == torn


def test_doctor_says_when_nothing_can_be_saved(run_ollm: Run, home: Path) -> None:
    (home / "sessions").mkdir(parents=True)
    (home / "sessions" / "3f2a0000-0000-4000-8000-000000000000.json").write_bytes(b"\0" * 100)
    done = run_ollm("doctor", "--repair", "3f2a")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)


def test_a_damaged_session_is_listed_beside_the_others(run_ollm: Run, home: Path) -> None:
    run_ollm("-p", "I am fine", script=[])
    (home / "sessions" / "3f2a0000-0000-4000-8000-000000000000.json").mkdir()
    shown = run_ollm("sessions", "list")
    assert shown.returncode == 0
    assert "I am fine" in shown.stdout
    assert "3f2a0000" in shown.stdout


@some(1, "shell", ("bash", "zsh", "fish"))
def test_completion_knows_every_command(run_ollm: Run, shell: str) -> None:
    script = run_ollm("completion", shell).stdout
    for word in ("sessions", "export", "doctor", "pull", "cleanup"):
        assert word in script


def test_the_bash_completion_completes(run_ollm: Run) -> None:
    script = run_ollm("completion", "bash").stdout
    ask = "COMP_WORDS=(ollm sessions ex); COMP_CWORD=2; _ollm; echo ${COMPREPLY[@]}"
    done = subprocess.run(
        ["bash", "-c", f"{script}\n{ask}"], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["export"]


def test_chatting_in_plain_lines(run_ollm: Run) -> None:
    done = run_ollm("chat", script=[], stdin="Hello\\\nyou\n/help\n/again\n/quit\n")
    assert done.returncode == 0
    assert done.stdout.count("Hello\nyou") == 2
    assert "/quit" in done.stdout


def test_the_end_of_the_input_ends_the_chat(run_ollm: Run) -> None:
    assert run_ollm(script=[], stdin="Hi\n").returncode == 0
    assert "Hi" in run_ollm("sessions", "list").stdout


@pytest.mark.more
def test_told_to_end_while_it_waits_for_a_line_the_chat_ends(home: Path) -> None:
    script = home.parent / "script.json"
    script.write_text("[]")
    with subprocess.Popen(
        [OLLM, "chat"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=dict(os.environ) | {"OLLM_TEST_SCRIPT": str(script)},
    ) as chat:
        assert chat.stdout
        while chat.stdout.read(1) != b">":
            pass
        while chat.poll() is None:
            chat.terminate()
            # Python does not see a signal between prompt and reading: then it takes another.
            with contextlib.suppress(subprocess.TimeoutExpired):
                chat.wait(timeout=20)
        assert chat.returncode == 130


def test_options_before_the_word_chat_count_as_well(run_ollm: Run) -> None:
    done = run_ollm("--provider", "nobody", "chat", script=[])
    assert done.returncode == 2
    assert "no provider 'nobody'" in done.stderr


@some(3, "arguments", ("--version", "sessions list", "-p Hi", "chat", "-p -"))
@some(2, "closed", ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"))
def test_closed_streams_are_no_reason_to_fail(home: Path, arguments: str, closed: str) -> None:
    script = home.parent / "script.json"
    script.write_text("[]")
    done = subprocess.run(
        ["bash", "-c", f"{OLLM} {arguments} {closed}"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=dict(os.environ) | {"OLLM_TEST_SCRIPT": str(script)},
    )
    assert done.returncode == (2 if arguments == "-p -" else 0)
    assert "Error" not in done.stderr


@some(1, "command", ("sessions list", "-p Hi", "doctor", "config path"))
def test_a_current_directory_that_is_gone_is_named(run_ollm: Run, command: str) -> None:
    Path.cwd().rmdir()
    done = run_ollm(*command.split(), script=[])
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "ollm: the current directory no longer exists (change to another one)\n"


def test_a_provider_that_cannot_be_used_hides_no_other(run_ollm: Run, home: Path) -> None:
    home.mkdir(mode=0o700)
    (home / "config.yaml").write_text("providers: {later: {kind: anthropic}}")
    done = run_ollm("models", "list")
    assert (done.returncode, done.stderr) == (0, "")
    assert "embedded" in done.stdout


@pytest.mark.more
def test_testing_a_provider_that_does_not_exist_is_a_mistake(run_ollm: Run) -> None:
    done = run_ollm("providers", "test", "nobody")
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.more
def test_the_bash_completion_knows_the_sessions(run_ollm: Run) -> None:
    run_ollm("-p", "Hi", script=[])
    prefix = run_ollm("sessions", "list").stdout[:8]
    script = run_ollm("completion", "bash").stdout
    for words in ("sessions view ''", "--resume ''", "doctor --repair ''"):
        count = len(words.split())
        ask = f"COMP_WORDS=(ollm {words}); COMP_CWORD={count}; _ollm; echo ${{COMPREPLY[@]}}"
        path = f"PATH={OLLM.parent}:$PATH"
        done = subprocess.run(
            ["bash", "-c", f"{path}\n{script}\n{ask}"], capture_output=True, text=True, check=True
        )
        assert prefix in done.stdout.split()
