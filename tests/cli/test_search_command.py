"""`ollm sessions search`: hits with their lines, for people and for programs."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from ollm_tui.core.session.message import Message, Text
from ollm_tui.services.search.searching import HistorySearch
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.store_layout import StoreLayout
from tests.cases import some
from tests.cli.conftest import Run
from tests.crash.samples import empty_session
from tests.end_to_end.terminal import Terminal
from tests.stand_ins.ollama_server import EMBEDDER, OllamaServer


@pytest.fixture
def store(home: Path) -> None:
    """A question of October and its answer, and another session about something else."""
    library = SessionLibrary.at(StoreLayout(home / "sessions"))
    said = (
        Message(
            "q1",
            "user",
            (Text("The upload job\nretries forever \x1b[31mwhen\x1b[0m\nthe server is down."),),
            "2025-10-14T12:02:00.000000Z",
        ),
        Message(
            "a1",
            "assistant",
            (Text("Give it a budget of retries."),),
            "2025-10-14T12:05:00.000000Z",
            parent_id="q1",
            model="qwen2.5-coder",
        ),
    )
    session = empty_session("11111111-aaaa", title="retry logic")
    library.add(replace(session, messages=said, project="/work/uploader"))
    other = Message("q2", "user", (Text("What is Celery?"),), "2026-01-05T09:00:00.000000Z")
    library.add(replace(empty_session("22222222-bbbb", title="celery"), messages=(other,)))
    library.close()


@pytest.mark.usefixtures("store")
def test_hits_are_shown_with_their_session_and_lines(run_ollm: Run) -> None:
    done = run_ollm("sessions", "search", "retries", "in:2025-10")
    assert done.returncode == 0, done.stderr
    assert "retry logic  (2 matches)" in done.stdout
    assert "    retries forever when" in done.stdout
    assert "    the server is down." in done.stdout
    assert "2 of 2 messages, in 1 session" in done.stdout
    assert "\x1b" not in done.stdout


@pytest.mark.usefixtures("store")
def test_the_exit_code_is_one_where_nothing_is_found(run_ollm: Run) -> None:
    done = run_ollm("sessions", "search", "retries", "--after", "2026")
    assert done.returncode == 1
    assert "No matches" in done.stdout
    done = run_ollm("sessions", "search", "nowhere", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout) == {"total": 0, "atLeast": False, "sessions": []}


@pytest.mark.usefixtures("store")
def test_options_narrow_like_filters_among_the_words(run_ollm: Run) -> None:
    def hits(*arguments: str) -> list[str]:
        tree = json.loads(run_ollm("sessions", "search", "--json", *arguments).stdout)
        return [hit["messageId"] for session in tree["sessions"] for hit in session["hits"]]

    assert hits("retries", "--role", "user") == ["q1"]
    assert hits("retries", "--model", "qwen") == ["a1"]
    assert sorted(hits("retries", "--project", "uploader")) == ["a1", "q1"]
    assert hits("celery", "--project", "uploader") == []
    assert hits("celery", "--before", "2026-01-05") == []
    assert hits("celery", "--after", "2026-01") == ["q2"]
    assert len(hits("retries", "--limit", "1")) == 1


@pytest.mark.usefixtures("store")
def test_json_says_where_the_words_stand(run_ollm: Run) -> None:
    tree = json.loads(run_ollm("sessions", "search", "celery", "--json").stdout)
    [session] = tree["sessions"]
    [hit] = session["hits"]
    [(start, end)] = hit["marks"]
    assert (session["sessionId"], session["title"]) == ("22222222-bbbb", "celery")
    assert hit["text"][start:end] == "Celery"
    assert hit["onBranch"] is True
    assert (hit["why"], hit["places"]) == ("words", [])


@pytest.mark.usefixtures("store")
async def test_what_no_word_finds_is_found_by_meaning(run_ollm: Run, home: Path) -> None:
    asked = "which queue library?"
    (home / "config.yaml").write_text(f"search:\n  embeddingModel: ollama/{EMBEDDER}\n")
    async with OllamaServer() as server:
        vector = server.vector(asked)
        history = HistorySearch(SessionLibrary.at(StoreLayout(home / "sessions")).store)
        history.refresh()
        [celery] = history.pieces(history.without_vectors("any")[:1])
        history.add_vectors(f"ollama/{EMBEDDER}", {celery: [vector]})
        history.close()

        async def search(*words: str) -> subprocess.CompletedProcess[str]:
            return await asyncio.to_thread(
                run_ollm, "sessions", "search", *words, OLLAMA_HOST=server.url
            )

        assert (await search("celery")).returncode == 0
        assert "/api/embed" not in [request.path for request in server.requests]
        found = await search(asked)
        assert "you  (by meaning)\n    What is Celery?" in found.stdout
        [session] = json.loads((await search(asked, "--json")).stdout)["sessions"]
        assert [hit["why"] for hit in session["hits"]] == ["meaning"]


@some(1, "option", (("--before", "sometime"), ("--after", "")))
def test_a_date_that_is_none_is_told_in_one_line(run_ollm: Run, option: tuple[str, str]) -> None:
    done = run_ollm("sessions", "search", "x", *option)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "2025-10-14" in done.stderr


@some(2, "limit", ("0", "-3", "many", "1.5", ""))
@some(1, "command", (("search", "x"), ("list",)))
def test_a_limit_that_shows_nothing_is_told_in_one_line(
    run_ollm: Run, command: tuple[str, ...], limit: str
) -> None:
    done = run_ollm("sessions", *command, f"--limit={limit}")
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert f"--limit: {limit!r} is not a positive number" in line


def test_an_empty_store_and_odd_words_are_no_error(run_ollm: Run) -> None:
    for words in ('"', "'; DROP TABLE words; --", "🚀", "role:", "*"):
        done = run_ollm("sessions", "search", words)
        assert done.returncode in (1, 2), done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.usefixtures("store")
def test_on_a_terminal_what_was_found_is_bold(home: Path) -> None:
    with Terminal(home, None, "sessions", "search", "celery") as terminal:
        assert terminal.ended() == 0
    assert "What is \x1b[1mCelery\x1b[22m?" in terminal.seen
