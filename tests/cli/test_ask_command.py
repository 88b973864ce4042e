"""`ollm -p`: print one answer."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest

from ollm_tui.headless import BESIDE_TURNS
from tests.cli.conftest import OLLM, Run

HELLO = [[{"text": "Hello "}, {"text": "there."}]]


def test_the_answer_is_on_stdout_and_nothing_else(run_ollm: Run) -> None:
    done = run_ollm("-p", "Hi", script=HELLO)
    assert (done.returncode, done.stdout, done.stderr) == (0, "Hello there.\n", "")


def test_the_question_may_come_from_stdin(run_ollm: Run) -> None:
    done = run_ollm("-p", "-", script=[], stdin="What is in\nthis text?")
    assert done.stdout == "What is in\nthis text?\n"


def test_what_is_piped_goes_along_as_an_attachment(run_ollm: Run) -> None:
    done = run_ollm("-p", "Explain", "--output", "json", script=HELLO, stdin="diff \x1b[31m--git\n")
    assert done.returncode == 0
    session = json.loads(done.stdout)["sessionId"]
    asked = json.loads(run_ollm("sessions", "view", session, "--json").stdout)["messages"][0]
    text, piped = asked["parts"]
    assert text["text"] == "Explain"
    assert (piped["type"], piped["name"]) == ("attachment", "stdin")
    assert piped["content"] == "diff --git\n"


def test_an_empty_pipe_adds_nothing(run_ollm: Run) -> None:
    done = run_ollm("-p", "Hi", "--output", "json", script=HELLO, stdin="")
    session = json.loads(done.stdout)["sessionId"]
    asked = json.loads(run_ollm("sessions", "view", session, "--json").stdout)["messages"][0]
    assert [part["type"] for part in asked["parts"]] == ["text"]


def test_a_question_without_a_terminal_is_answered_on_stdout(run_ollm: Run) -> None:
    done = run_ollm("What is this?", script=HELLO, stdin="some text")
    assert (done.returncode, done.stdout) == (0, "Hello there.\n")


def test_a_word_that_is_nearly_a_command_is_not_asked(run_ollm: Run) -> None:
    done = run_ollm("sesions", script=HELLO)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("ollm: unknown command 'sesions'; did you mean sessions?")
    assert run_ollm("sesions", "list", script=HELLO).returncode == 2


def test_a_session_cannot_be_chosen_without_a_screen(run_ollm: Run) -> None:
    done = run_ollm("-r", "-p", "Hi", script=HELLO)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--resume needs an ID with -p or a pipe (ollm sessions list)" in done.stderr


def test_json_output_is_one_object_with_everything(run_ollm: Run) -> None:
    done = run_ollm("-p", "Hi", "--output", "json", script=HELLO)
    answer = json.loads(done.stdout)
    assert answer["text"] == "Hello there."
    assert answer["status"] == "complete"
    assert answer["model"] == "scripted"
    assert answer["usage"]["outputTokens"] > 0
    session = json.loads(run_ollm("sessions", "view", answer["sessionId"], "--json").stdout)
    assert answer["context"]["tokens"] == session["metadata"]["tokenCount"] > 0
    assert answer["context"]["window"] == session["window"] == 8192
    assert answer["context"]["exact"] is False, "nobody has counted the answer"
    shown = run_ollm("sessions", "view", answer["sessionId"]).stdout
    assert f"context ≈{answer['context']['tokens']:,} of 8,192 tokens\n" in shown


def test_stream_json_is_one_event_a_line_with_one_end(run_ollm: Run) -> None:
    done = run_ollm("-p", "Hi", "--output", "stream-json", script=HELLO)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    names = [event["event"] for event in events]
    turn = [name for name in names if name not in BESIDE_TURNS]
    # Words that arrive together are one event.
    once = [name for name, before in zip(turn, ["", *turn], strict=False) if name != before]
    assert once == ["turn-started", "reply-started", "text", "turn-finished"]
    assert "".join(event["text"] for event in events if event["event"] == "text") == "Hello there."
    assert (names[0], names[-1]) == ("session-created", "session-saved")
    assert names.index("message-recorded") < names.index("turn-started"), "on disk first"
    [finished] = [event for event in events if event["event"] == "turn-finished"]
    assert finished["message"]["parts"][0]["text"] == "Hello there."


def test_a_conversation_is_continued(run_ollm: Run) -> None:
    first = json.loads(run_ollm("-p", "One", "--output", "json", script=[]).stdout)
    second = json.loads(run_ollm("-c", "-p", "Two", "--output", "json", script=[]).stdout)
    prefix = first["sessionId"][:8]
    third = run_ollm("--resume", prefix, "-p", "Three", "--output", "json", script=[])
    assert second["sessionId"] == json.loads(third.stdout)["sessionId"] == first["sessionId"]
    text = run_ollm("sessions", "view", prefix).stdout
    assert text.index("One") < text.index("Two") < text.index("Three")


def test_ephemeral_leaves_nothing_behind(run_ollm: Run, home: Path) -> None:
    assert run_ollm("--ephemeral", "-p", "Secret", script=HELLO).returncode == 0
    assert not (home / "sessions").exists()
    refused = run_ollm("--ephemeral", "-c", "-p", "More", script=HELLO)
    assert (refused.returncode, refused.stdout) == (2, "")


def test_there_must_be_something_to_continue(run_ollm: Run) -> None:
    done = run_ollm("-c", "-p", "Hi", script=HELLO)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1


def test_an_empty_question_is_refused(run_ollm: Run) -> None:
    done = run_ollm("-p", "-", script=HELLO, stdin="  \n")
    assert done.returncode == 2
    assert "nothing to send" in done.stderr


def test_a_server_that_is_down_gives_one_line_and_a_hint(run_ollm: Run, home: Path) -> None:
    done = run_ollm("--provider", "ollama", "--model", "m", "-p", "Hi", OLLAMA_HOST="127.0.0.1:9")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "ollama serve" in done.stderr


def test_the_question_is_kept_when_the_server_is_down(run_ollm: Run) -> None:
    run_ollm("--provider", "ollama", "--model", "m", "-p", "Lost?", OLLAMA_HOST="127.0.0.1:9")
    assert "Lost?" in run_ollm("sessions", "list").stdout


def test_an_unknown_provider_is_a_usage_error_that_names_the_known_ones(run_ollm: Run) -> None:
    done = run_ollm("--provider", "nope", "-p", "Hi")
    assert done.returncode == 2
    assert "embedded" in done.stderr


def test_a_missing_key_says_where_to_put_it(run_ollm: Run, home: Path) -> None:
    home.mkdir(mode=0o700)
    (home / "config.yaml").write_text("providers:\n  openai:\n    keyEnv: MY_KEY\n")
    done = run_ollm("--provider", "openai", "-m", "m", "-p", "Hi")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "MY_KEY" in done.stderr


def test_a_home_that_cannot_be_written_still_answers_and_says_so(run_ollm: Run) -> None:
    done = run_ollm("-p", "Hi", script=HELLO, OLLM_HOME="/proc/nowhere")
    assert done.stdout == "Hello there.\n"
    assert done.returncode == 1
    assert "not saved" in done.stderr
    assert "Traceback" not in done.stderr


def test_no_home_at_all_is_one_line(run_ollm: Run) -> None:
    done = run_ollm("-p", "Hi", script=HELLO, OLLM_HOME="", HOME="")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "OLLM_HOME" in done.stderr


def test_broken_settings_are_told_and_do_not_stop_the_answer(run_ollm: Run, home: Path) -> None:
    home.mkdir()
    (home / "config.yaml").write_text("sessions:\n  maxSessions: many\n")
    done = run_ollm("-p", "Hi", script=HELLO)
    assert (done.returncode, done.stdout) == (0, "Hello there.\n")
    assert "config.yaml:2: sessions.maxSessions" in done.stderr


def _begun(home: Path, script: object, *arguments: str) -> subprocess.Popen[str]:
    file = home.parent / "script.json"
    file.write_text(json.dumps(script))
    variables = {"OLLM_HOME": str(home), "OLLM_TEST_SCRIPT": str(file), "PATH": "/usr/bin"}
    process = subprocess.Popen(
        [str(OLLM), "-p", "Hi", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=variables,
    )
    assert process.stdout is not None
    assert process.stdout.read(3) == "One"
    return process


def test_ctrl_c_and_sigterm_keep_what_arrived(run_ollm: Run, home: Path) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        process = _begun(home, [[{"text": "One"}, {"wait": 600}, {"text": "Two"}]])
        process.send_signal(number)
        _, errors = process.communicate()
        assert (process.returncode, errors) == (130, "")
        shown = run_ollm("sessions", "list", "--json").stdout
        latest = json.loads(shown)[0]["sessionId"]
        assert "stopped\nOne" in run_ollm("sessions", "view", latest).stdout


def test_a_reader_that_goes_away_stops_the_answer_quietly(run_ollm: Run, home: Path) -> None:
    more = [{"wait": 0.05}, {"text": " more"}] * 200
    process = _begun(home, [[{"text": "One"}, *more]])
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == ""
    process.wait()
    latest = json.loads(run_ollm("sessions", "list", "--json").stdout)[0]["sessionId"]
    assert "stopped\nOne" in run_ollm("sessions", "view", latest).stdout


@pytest.mark.parametrize("output", ("json", "stream-json"))
def test_a_program_is_told_in_json_that_no_turn_began(run_ollm: Run, output: str) -> None:
    done = run_ollm("-p", "Hi", "--provider", "nobody", "--output", output, script=[])
    answer = json.loads(done.stdout)
    assert done.returncode == 2
    assert done.stderr.startswith("ollm: no provider 'nobody'")
    assert "nobody" in json.dumps(answer["error"])


def test_what_could_not_be_saved_at_the_end_is_said(run_ollm: Run, home: Path) -> None:
    home.mkdir()
    (home / "sessions").write_text("not a directory")
    done = run_ollm("-p", "Hi", script=[], OLLM_SESSIONS_AUTO_SAVE="false")
    assert (done.returncode, done.stdout) == (1, "Hi\n")
    assert "records could not be saved" in done.stderr


def test_failures_are_in_the_log_and_keys_are_not(run_ollm: Run, home: Path) -> None:
    home.mkdir()
    (home / "config.yaml").write_text(
        "providers: {work: {baseUrl: 'http://127.0.0.1:1/v1', keyEnv: WORK_KEY}}"
    )
    key = "abcdefgh-12345678"
    run_ollm("-p", "Hi", "--provider", "work", "--model", "m", WORK_KEY=key)
    log = (home / "logs" / "ollm.log").read_text()
    (line,) = map(json.loads, log.splitlines())
    assert (line["service"], line["error"]) == ("engine.turn.model_round", "Unavailable")
    assert line["session"]
    assert line["hint"]
    assert key not in log


def test_a_turn_of_too_many_rounds_ends_with_one_line(run_ollm: Run, home: Path) -> None:
    home.mkdir(parents=True)
    (home / "config.yaml").write_text("loopDetection: {maxRounds: 3}\n")
    rounds = [[{"tool": "find_files", "args": {"pattern": f"*.{word}"}}] for word in "abcdef"]
    done = run_ollm("-p", "Look around", script=rounds)
    stopped, *others = [line for line in done.stderr.splitlines() if "stopped" in line]
    assert done.returncode == 1
    assert not others
    assert "stopped: the model worked 4 rounds since you last wrote" in stopped
    assert "loopDetection.maxRounds" in done.stderr
