"""A folder from a stranger: its settings change nothing that `ollm -p` does before it is trusted,
and what could harm changes nothing even then."""

from __future__ import annotations

from pathlib import Path

from ollm_tui.cli.store import read_settings
from ollm_tui.services.safety.project_trust import Trust
from tests.cases import some
from tests.cli.conftest import Run

HELLO = [[{"text": "Hello."}]]
ONE_LINE = (
    "ollm: this folder's settings are not used: not trusted yet (open ollm here to review them)\n"
)
NOT_ALL = "some settings are not used; ollm config check shows why\n"


def write_project(text: str) -> None:
    Path(".ollm").mkdir(exist_ok=True)
    Path(".ollm/config.yaml").write_text(text)


def trust(home: Path) -> None:
    """Agree to what the project's file says now."""
    project = read_settings().project
    assert project
    Trust(home).keep_settings(Path.cwd(), project.digest, "always")


@some(1, "is_trusted", (False, True))
@some(2, "mode", ("ephemeral", "session"))
def test_a_project_cannot_stop_or_move_or_break_what_is_kept(
    run_ollm: Run, home: Path, mode: str, is_trusted: bool
) -> None:
    write_project(
        f"retention: {{mode: {mode}, encryptAtRest: true}}\nui: {{theme: light}}\n"
        "sessions: {autoSave: false, dataDir: elsewhere}\n"
    )
    if is_trusted:
        trust(home)
    done = run_ollm("-p", "Hi", script=HELLO)
    assert (done.returncode, done.stdout) == (0, "Hello.\n")
    assert done.stderr.endswith(NOT_ALL) if is_trusted else done.stderr == ONE_LINE
    assert done.stderr.count("\n") == 1
    assert len(list((home / "sessions").glob("*.json"))) == 1
    assert [file.name for file in Path(".ollm").iterdir()] == ["config.yaml"]


def test_a_project_cannot_choose_who_answers_before_it_is_trusted(
    run_ollm: Run, home: Path
) -> None:
    home.mkdir(mode=0o700)
    away = "providers: {cloud: {kind: openai, baseUrl: 'http://127.0.0.1:1/v1'}}\n"
    (home / "config.yaml").write_text(f"provider: scripted\n{away}")
    write_project("provider: cloud\nmodel: m\n")
    done = run_ollm("-p", "Hi", script=HELLO)
    assert (done.returncode, done.stdout, done.stderr) == (0, "Hello.\n", ONE_LINE)
    trust(home)
    assert read_settings().settings.provider == "cloud"


@some(1, "is_trusted", (False, True))
def test_an_unknown_provider_in_a_project_does_not_stop_the_answer(
    run_ollm: Run, home: Path, is_trusted: bool
) -> None:
    write_project("provider: nosuch\nui: {theme: light}\n")
    if is_trusted:
        trust(home)
    done = run_ollm("-p", "Hi", script=HELLO)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (0, "Hello.\n", 1)


def test_a_project_cannot_release_the_brakes(home: Path) -> None:
    write_project(
        "loopDetection: {enabled: false, maxTurns: 100000}\nsnapshots: {enabled: false}\n"
        "tools: {network: true}\nmodel: theirs\n"
    )
    trust(home)
    loaded = read_settings()
    assert loaded.settings.model == "theirs", "the rest of it counts"
    assert loaded.settings.loop_detection.enabled and loaded.settings.loop_detection.max_turns < 99
    assert loaded.settings.snapshots.enabled and not loaded.settings.tools.network


def test_other_commands_do_not_talk_about_the_settings_of_a_folder(run_ollm: Run) -> None:
    write_project("model: theirs\nkeymap: {chat.stop: f20}\nnonsense: 1\n")
    assert run_ollm("sessions", "list").stderr == ""


def test_the_doctor_and_the_start_name_a_bad_pattern_of_the_environment(
    run_ollm: Run, home: Path
) -> None:
    home.mkdir()
    file = home / "config.yaml"
    file.write_text("environment:\n  allowList: [PATH, 'MY VAR']\n")
    said = f"{file}:2: environment.allowList: 'MY VAR' can be no name of a variable"
    assert said in run_ollm("-p", "Hi", script=HELLO).stderr
    found = run_ollm("doctor", OLLAMA_HOST="127.0.0.1:9")
    assert f"!!  settings   {said}" in found.stdout and found.returncode == 1
