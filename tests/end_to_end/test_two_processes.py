"""Several processes on one store: one writer a session, and readers that are never misled."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ollm_tui.core.errors import SessionBusy
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.store_layout import StoreLayout
from tests.conftest import REPOSITORY, Tell
from tests.crash.other_process import NAME, ROUNDS, TURNS
from tests.crash.samples import begin, go_on, texts, user_message
from tests.folders import quick_folder

OLLM = Path(sys.executable).with_name("ollm")
Process = subprocess.Popen[str]
Start = Callable[[str], Process]


@pytest.fixture
def library() -> Iterator[SessionLibrary]:
    with quick_folder() as folder:
        library = SessionLibrary.at(StoreLayout(Path(folder) / "sessions"))
        begin(library.store, NAME, user_message("first"))
        yield library
        library.close()


@pytest.fixture
def start(library: SessionLibrary) -> Iterator[Start]:
    """Starts other processes on the same store; none of them outlives the test."""
    started: list[Process] = []

    def start_one(work: str) -> Process:
        where = str(library.store.layout.sessions)
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.other_process", work, where],
            cwd=REPOSITORY,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start_one
    for process in started:
        process.kill()
        process.communicate()


def lines_of(process: Process) -> list[str]:
    output, _ = process.communicate()
    assert process.returncode == 0
    return output.splitlines()


def test_a_second_process_is_refused_until_the_first_is_gone(
    library: SessionLibrary, start: Start
) -> None:
    holder = start("hold")
    assert holder.stdout and holder.stdout.readline() == "held\n"
    for act in (library.store.open, library.delete):
        with pytest.raises(SessionBusy):
            act(NAME)
    with pytest.raises(SessionBusy):
        library.change(NAME, title="other")
    assert list(texts(library.load(NAME).state)) == ["first"]
    holder.kill()
    holder.wait()
    go_on(library.store, NAME, user_message("second"))
    assert list(texts(library.load(NAME).state)) == ["first", "second"]


def test_a_reader_beside_a_writer_always_sees_a_whole_beginning(
    library: SessionLibrary, start: Start, record_property: Tell
) -> None:
    everything = ["first", *(f"m{number}" for number in range(ROUNDS))]
    writer = start("write")
    seen = reads = 0
    while writer.poll() is None:
        loaded = library.load(NAME)
        found = list(texts(loaded.state))
        assert found == everything[: len(found)]
        assert loaded.problems == ()
        assert len(found) >= seen
        assert [each.damage for each in library.catalogue.summaries()] == [None]
        seen = len(found)
        reads += 1
    assert lines_of(writer) == everything[1:]
    assert list(texts(library.load(NAME).state)) == everything
    assert reads > 1
    record_property("records", ROUNDS)


def test_what_a_writer_acknowledged_is_seen_at_once(library: SessionLibrary, start: Start) -> None:
    writer = start("write")
    assert writer.stdout
    for line in writer.stdout:
        assert line.strip() in library.load(NAME).state


@pytest.mark.slow
def test_writers_that_take_turns_lose_nothing_of_each_other(
    library: SessionLibrary, start: Start, record_property: Tell
) -> None:
    processes = [start("take_turns") for _ in range(3)]
    told = [name for process in processes for name in lines_of(process)]
    loaded = library.load(NAME)
    record_property("records", len(told))
    record_property("lost or mixed", len({"first", *told} ^ set(texts(loaded.state))))
    assert loaded.problems == ()
    assert sorted(texts(loaded.state)) == sorted(["first", *told])
    assert len(told) == 3 * TURNS


@pytest.mark.more
@pytest.mark.slow
def test_a_session_that_moves_all_the_time_loses_nothing(
    library: SessionLibrary, start: Start
) -> None:
    mover, watcher = start("move"), start("watch")
    writers = [start("take_turns") for _ in range(2)]
    told = [name for process in writers for name in lines_of(process)]
    assert set(lines_of(watcher)) == {"fine"}
    mover.kill()
    assert mover.communicate()[0].count("moved") > 1
    if NAME in [note.session_id for note in library.trashed()]:
        library.restore(NAME)
    loaded = library.load(NAME)
    assert loaded.problems == ()
    assert {"first", *told} <= set(texts(loaded.state))


def test_the_command_does_not_continue_a_session_another_is_writing(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps([[{"text": "Wait"}, {"wait": 60}]]))
    environment = {
        **os.environ,
        "OLLM_HOME": str(tmp_path / "home"),
        "OLLM_TEST_SCRIPT": str(script),
    }
    first = subprocess.Popen(
        [OLLM, "-p", "Hello", "--output", "stream-json"], env=environment, stdout=subprocess.PIPE
    )
    try:
        assert first.stdout
        session_id: str = json.loads(first.stdout.readline())["sessionId"]
        second = subprocess.run(
            [OLLM, "--resume", session_id, "-p", "Hello"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        first.kill()
        first.communicate()
    assert second.returncode == 1
    assert second.stderr == (
        "ollm: another ollm is writing this session (close it there, or continue in a copy: "
        f"ollm sessions fork {session_id})\n"
    )
    script.write_text(json.dumps([[{"text": "Again"}]]))
    third = [OLLM, "--resume", session_id, "-p", "Hello"]
    assert subprocess.check_output(third, env=environment) == b"Again\n"
