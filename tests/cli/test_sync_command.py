"""`ollm sync` as users type it: two homes, and a bare repository in a folder."""

from __future__ import annotations

import fcntl
import itertools
import json
import re
import shutil
import subprocess
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from ollm_tui.cli.others import sync_command
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.store_layout import StoreLayout
from tests.cli.conftest import Run
from tests.folders import everything_in

SAID = "does the xylophonist whistle"
ANSWER = [[{"text": "Only marzipan does."}]]
Machine = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    return a_remote(tmp_path / "remote.git")


def a_remote(path: Path) -> Path:
    subprocess.run(["git", "init", "-q", "--bare", str(path)], check=True)
    return path


@pytest.fixture
def there(tmp_path: Path) -> Path:
    """The data folder of the other machine."""
    return tmp_path / "there"


@pytest.fixture
def laptop(run_ollm: Run, there: Path) -> Machine:
    """`ollm …` on the other machine. Neither syncs by itself, so that the tests say when."""

    def run(*arguments: str, **variables: object) -> subprocess.CompletedProcess[str]:
        return run_ollm(*arguments, **{"OLLM_HOME": str(there)} | variables)

    return run


@pytest.fixture(autouse=True)
def by_hand(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLM_SYNC_AUTOMATIC", "false")


def key_in(text: str) -> str:
    found = re.search(r"^  ((?:[A-Z2-7]{5}-)+[A-Z2-7]+)$", text, re.MULTILINE)
    assert found, text
    return found[1]


def said(run: Machine, text: str = SAID) -> str:
    done = run("-p", text, "--output", "json", script=ANSWER)
    return json.loads(done.stdout)["sessionId"]


def sessions_in(folder: Path) -> set[str]:
    return {path.stem for path in (folder / "sessions").glob("*.json")}


def told(done: subprocess.CompletedProcess[str]) -> str:
    """What a command that worked has printed."""
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


def test_the_key_is_shown_and_brings_the_sessions_to_the_next_machine(
    run_ollm: Run, laptop: Machine, home: Path, there: Path, remote: Path
) -> None:
    shown = told(run_ollm("sync", "init", str(remote)))
    key = key_in(shown)
    assert f"On the next machine: ollm sync init {remote}" in shown
    assert key in told(run_ollm("sync", "init"))
    # The remote has a key from now on: nobody can begin with another one.
    refused = laptop("sync", "init", str(remote))
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "the remote is in use and its key is missing here" in refused.stderr
    wrong = laptop("sync", "init", str(remote), OLLM_SYNC_KEY=key[:-1] + "7")
    assert "not a sync key" in wrong.stderr
    assert not (there / "config.yaml").exists()
    assert key_in(told(laptop("sync", "init", str(remote), OLLM_SYNC_KEY=key))) == key
    session_id = said(run_ollm)
    assert told(run_ollm("sync")) == "1 session sent."
    assert told(laptop("sync")) == "1 session received."
    assert sessions_in(there) == {session_id}
    assert "Only marzipan does." in told(laptop("sessions", "view", session_id[:8]))
    assert told(laptop("sync")) == "Nothing new."


@pytest.fixture
def both(run_ollm: Run, laptop: Machine, remote: Path) -> None:
    """Two machines that sync."""
    key = key_in(told(run_ollm("sync", "init", str(remote))))
    told(laptop("sync", "init", str(remote), OLLM_SYNC_KEY=key))


@pytest.mark.usefixtures("both")
def test_a_dry_run_says_what_would_be_done_and_does_nothing(
    run_ollm: Run, laptop: Machine, there: Path
) -> None:
    said(run_ollm)
    assert told(run_ollm("sync", "--dry-run")) == "1 session would be sent."
    assert told(laptop("sync")) == "Nothing new."
    told(run_ollm("sync"))
    assert told(laptop("sync", "--dry-run")).startswith("New data from ")
    assert sessions_in(there) == set()


@pytest.mark.usefixtures("both")
def test_the_status_tells_what_waits_and_what_was_wrong(
    run_ollm: Run, laptop: Machine, remote: Path
) -> None:
    first = told(run_ollm("sync", "status"))
    assert f"remote    {remote}\nlast sync never\nto send   nothing" in first
    session_id = said(run_ollm)
    assert "to send   1 session" in told(run_ollm("sync", "status"))
    told(run_ollm("sync"))
    status = told(run_ollm("sync", "status"))
    assert "to send   nothing" in status and "never" not in status and "machines  " in status
    told(run_ollm("sessions", "delete", session_id, "--yes"))
    assert "to delete 1 session" in told(run_ollm("sync", "status"))
    remote.rename(remote.with_name("away"))
    failed = run_ollm("sync")
    assert failed.returncode == 1
    assert f"there is no folder {remote} (is it mounted? git init --bare" in failed.stderr
    assert f"problem   there is no folder {remote}" in told(run_ollm("sync", "status"))


@pytest.mark.usefixtures("both")
def test_what_is_deleted_here_is_deleted_there_and_what_retention_removes_is_not(
    run_ollm: Run, laptop: Machine, home: Path, there: Path
) -> None:
    wanted, unwanted = said(run_ollm, "another question"), said(run_ollm)
    newest = said(run_ollm, "a third question")
    for machine in (run_ollm, laptop):
        machine("sync")
    assert sessions_in(there) == {unwanted, wanted, newest}
    asked = run_ollm("sessions", "delete", unwanted, stdin="n\n")
    assert "Delete 1 session permanently, on all your machines?" in asked.stdout + asked.stderr
    told(run_ollm("sessions", "delete", unwanted, "--yes"))
    told(run_ollm("sessions", "cleanup", "--keep", "1"))
    assert told(run_ollm("sessions", "trash", "empty", "--yes"))
    assert sessions_in(home) == {newest}
    run_ollm("sync")
    assert told(laptop("sync")) == "1 session deleted."
    assert sessions_in(there) == {wanted, newest}


@pytest.mark.usefixtures("both")
def test_everything_deleted_here_is_deleted_there(
    run_ollm: Run, laptop: Machine, there: Path
) -> None:
    said(run_ollm)
    for machine in (run_ollm, laptop):
        machine("sync")
    assert told(run_ollm("sessions", "clear", "--all", "--yes")) == "1 deleted."
    run_ollm("sync")
    assert told(laptop("sync")) == "1 session deleted."
    assert sessions_in(there) == set()


@pytest.mark.usefixtures("both")
def test_what_went_on_elsewhere_is_not_deleted_there_when_the_trash_is_emptied(
    run_ollm: Run, laptop: Machine, home: Path, there: Path
) -> None:
    session_id = said(run_ollm)
    for machine in (run_ollm, laptop):
        machine("sync")
    library = SessionLibrary.at(StoreLayout(home / "sessions"))
    library.discard(session_id, "deleted by hand")
    library.close()
    laptop("-p", "and the tuba?", "-r", session_id, script=ANSWER)
    for machine in (laptop, run_ollm):
        machine("sync")
    told(run_ollm("sessions", "trash", "empty", "--yes"))
    for machine in (run_ollm, laptop):
        machine("sync")
    assert sessions_in(there) == {session_id}


@pytest.mark.more
@pytest.mark.usefixtures("both")
def test_sessions_are_copied_before_the_first_merge_and_deleted_there_too(
    run_ollm: Run, laptop: Machine, home: Path
) -> None:
    mine = said(run_ollm, "what does the porcupine say")
    copies = home / "sync" / "before-first-sync"
    told(run_ollm("sync"))
    assert not copies.exists()
    said(laptop)
    told(laptop("sync"))
    told(run_ollm("sync"))
    assert [path.stem for path in (copies / "sessions").iterdir()] == [mine]
    told(run_ollm("sessions", "delete", mine, "--yes"))
    assert b"porcupine" not in everything_in(home)


def test_an_encrypted_store_syncs_with_one_that_is_not_and_shows_nothing(
    run_ollm: Run, laptop: Machine, home: Path, there: Path, remote: Path
) -> None:
    sealed = {"OLLM_RETENTION_ENCRYPT_AT_REST": "true", "OLLM_PASSPHRASE": "open sesame"}

    def here(*arguments: str, **more: object) -> subprocess.CompletedProcess[str]:
        return run_ollm(*arguments, **sealed | more)

    key = key_in(told(here("sync", "init", str(remote))))
    told(laptop("sync", "init", str(remote), OLLM_SYNC_KEY=key))
    session_id = said(laptop)
    told(laptop("sync"))
    assert told(here("sync")) == "1 session received."
    here("-p", "and the tuba?", "-r", session_id, script=[[{"text": "The tuba hums."}]])
    told(here("sync"))
    told(laptop("sync"))
    assert "The tuba hums." in laptop("sessions", "search", "tuba").stdout
    everything = everything_in(home)
    for word in ("xylophonist", "marzipan", "tuba", key, key.replace("-", "")):
        assert word.encode() not in everything
    locked = run_ollm("sync", OLLM_RETENTION_ENCRYPT_AT_REST="true")
    assert locked.returncode == 1 and "the sessions are encrypted" in locked.stderr


@pytest.mark.more
def test_a_machine_that_began_with_another_key_can_take_the_right_one(
    run_ollm: Run, laptop: Machine, there: Path, remote: Path, tmp_path: Path
) -> None:
    key = key_in(told(run_ollm("sync", "init", str(remote))))
    aside = remote.rename(tmp_path / "aside.git")
    a_remote(remote)
    other = key_in(told(laptop("sync", "init", str(remote))))
    assert other != key
    shutil.rmtree(remote)
    aside.rename(remote)
    session_id = said(run_ollm)
    told(run_ollm("sync"))
    wrong = laptop("sync")
    assert wrong.returncode == 1
    assert "another machine uses another key (OLLM_SYNC_KEY=… ollm sync init)" in wrong.stderr
    told(laptop("sync", "init", OLLM_SYNC_KEY=key))
    assert told(laptop("sync")) == "1 session received."
    assert sessions_in(there) == {session_id}


@pytest.mark.more
def test_two_machines_that_began_at_once_come_to_one_key(
    run_ollm: Run, laptop: Machine, home: Path, there: Path, remote: Path, tmp_path: Path
) -> None:
    key = key_in(told(run_ollm("sync", "init", str(remote))))
    aside = remote.rename(tmp_path / "aside.git")
    a_remote(remote)
    told(laptop("sync", "init", str(remote)))
    session_id = said(laptop)
    told(laptop("sync"))
    git = ["git", "-C", str(remote), "fetch", "-q", str(aside), "+refs/*:refs/*"]
    subprocess.run(git, check=True)
    for machine in (run_ollm, laptop):
        assert "another machine uses another key" in machine("sync").stderr
    told(laptop("sync", "init", OLLM_SYNC_KEY=key))
    for machine in (laptop, run_ollm):
        told(machine("sync"))
    assert sessions_in(home) == sessions_in(there) == {session_id}


@pytest.mark.usefixtures("both")
def test_a_damaged_memory_is_made_anew_and_nothing_is_lost(
    run_ollm: Run, laptop: Machine, home: Path, there: Path
) -> None:
    first, second = said(run_ollm), said(laptop)
    for machine in (run_ollm, laptop, run_ollm):
        told(machine("sync"))
    (state,) = home.glob("sync/*/memory/state.sqlite")
    state.write_bytes(b"rubbish" * 1000)
    third = said(run_ollm)
    for machine in (run_ollm, laptop):
        told(machine("sync"))
    assert sessions_in(home) == sessions_in(there) == {first, second, third}


@pytest.mark.usefixtures("both")
@pytest.mark.parametrize("damaged", ["HEAD", "objects/??/*"])
def test_a_damaged_repository_of_ours_is_made_anew_and_nothing_is_lost(
    run_ollm: Run, laptop: Machine, home: Path, there: Path, damaged: str
) -> None:
    first, second = said(run_ollm), said(laptop)
    for machine in (run_ollm, laptop, run_ollm):
        told(machine("sync"))
    (repository,) = home.glob("sync/*/memory/repository.git")
    for path in repository.glob(damaged):
        path.chmod(0o600)
        path.write_bytes(b"rubbish")
    third = said(run_ollm)
    anew = run_ollm("sync")
    assert anew.returncode == 1
    assert "what syncing remembers was damaged, and is made anew (ollm sync)" in anew.stderr
    for machine in (run_ollm, laptop):
        told(machine("sync"))
    assert sessions_in(home) == sessions_in(there) == {first, second, third}


@pytest.mark.usefixtures("both")
def test_what_keeps_git_from_the_remote_is_told_with_what_to_do(
    run_ollm: Run, tmp_path: Path
) -> None:
    plain, empty = tmp_path / "plain", tmp_path / "bin"
    for folder in (plain, empty):
        folder.mkdir()
    no_repository = run_ollm("sync", "init", str(plain))
    assert f"not appear to be a git repository (git init --bare {plain} makes one)" in (
        no_repository.stderr
    )
    no_server = run_ollm("sync", "init", "https://127.0.0.1:9/me/sessions.git")
    assert "(try: git ls-remote https://127.0.0.1:9/me/sessions.git)" in no_server.stderr
    no_git = run_ollm("sync", PATH=str(empty))
    assert "git is not installed (sync needs it" in no_git.stderr


@pytest.mark.usefixtures("both")
def test_watching_goes_on_without_the_remote_and_tells_only_what_is_new(
    laptop: Machine,
    remote: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    away = remote.with_name("away")

    def go_on_there() -> None:
        said(laptop)
        told(laptop("sync"))

    minutes = iter((lambda: None, lambda: remote.rename(away), lambda: away.rename(remote)))
    happens = itertools.chain(minutes, (go_on_there, lambda: None))

    def sleep(_seconds: float) -> None:
        if (happening := next(happens, None)) is None:
            raise KeyboardInterrupt
        happening()

    monkeypatch.setattr(sync_command, "time", SimpleNamespace(sleep=sleep))
    asked = Namespace(
        command=None, remote=None, watch=True, dry_run=False, quiet=False, debug=False
    )
    with pytest.raises(KeyboardInterrupt):
        sync_command.run(asked)
    printed = capsys.readouterr()
    assert printed.out.splitlines() == ["Nothing new.", "1 session received."]
    assert printed.err == f"ollm: warning: there is no folder {remote}\n"


def test_a_remote_is_reached_over_ssh_as_git_itself_would(
    run_ollm: Run, laptop: Machine, there: Path, remote: Path, tmp_path: Path
) -> None:
    ssh = tmp_path / "ssh"  # the last of its arguments is what runs on the host
    ssh.write_text('#!/bin/sh\nwhile [ $# -gt 1 ]; do shift; done\nexec sh -c "$1"\n')
    ssh.chmod(0o755)
    way = {"GIT_SSH_COMMAND": str(ssh)}
    key = key_in(told(run_ollm("sync", "init", f"git@host.example:{remote}", **way)))
    told(laptop("sync", "init", f"ssh://me@host.example{remote}", OLLM_SYNC_KEY=key, **way))
    session_id = said(run_ollm)
    assert told(run_ollm("sync", **way)) == "1 session sent."
    assert told(laptop("sync", **way)) == "1 session received."
    assert sessions_in(there) == {session_id}
    ssh.write_text("#!/bin/sh\necho 'Host key verification failed.' >&2\nexit 255\n")
    closed = run_ollm("sync", **way)
    wanted = f"Host key verification failed. (try: git ls-remote git@host.example:{remote})"
    assert wanted in closed.stderr


@pytest.mark.usefixtures("both")
def test_two_processes_do_not_sync_one_store_at_a_time(run_ollm: Run, home: Path) -> None:
    with (home / "sync" / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        busy = run_ollm("sync")
    assert busy.returncode == 1
    assert "another ollm is syncing (try again in a moment)" in busy.stderr
    assert told(run_ollm("sync")) == "Nothing new."


@pytest.mark.more
@pytest.mark.usefixtures("both")
def test_a_copied_data_folder_becomes_a_machine_of_its_own(
    run_ollm: Run, laptop: Machine, home: Path, there: Path, tmp_path: Path
) -> None:
    session_id = said(run_ollm)
    told(run_ollm("sync"))
    twin_home = tmp_path / "twin"
    shutil.copytree(home, twin_home)

    def twin(*arguments: str, **more: object) -> subprocess.CompletedProcess[str]:
        return laptop(*arguments, **{"OLLM_HOME": str(twin_home)} | more)

    said_here = said(run_ollm, "said here")
    said_by_twin = said(twin, "said by the twin")
    for machine in (run_ollm, twin, run_ollm, laptop, twin):
        told(machine("sync"))
    everything = {session_id, said_here, said_by_twin}
    assert sessions_in(home) == sessions_in(there) == sessions_in(twin_home) == everything
    ids = {json.loads((each / "machine.json").read_bytes())["id"] for each in (home, twin_home)}
    assert len(ids) == 2


def test_nothing_is_synced_unless_a_remote_is_set(run_ollm: Run, home: Path) -> None:
    done = run_ollm("sync")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no sync remote set (ollm sync init git@host:me/sessions.git)" in done.stderr
    said(run_ollm)
    assert not (home / "sync").exists() and not (home / "machine.json").exists()


@pytest.mark.usefixtures("both")
def test_a_program_that_ends_has_synced_by_itself(
    run_ollm: Run, laptop: Machine, there: Path
) -> None:
    done = run_ollm("-p", SAID, script=ANSWER, OLLM_SYNC_AUTOMATIC="true")
    assert done.returncode == 0
    # It goes on beside and holds up nothing: the other machine asks until it is there.
    while not sessions_in(there):
        laptop("sync", "--quiet")
