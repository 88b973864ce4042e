"""The transport of syncing: what one machine says arrives on the others, and only there."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from ollm_tui.services.sync.receiving import SEGMENTS_AT_ONCE
from ollm_tui.services.sync.remote_key import RemoteKey
from ollm_tui.storage.sync import bare_git
from ollm_tui.storage.sync.bare_git import SyncError
from tests.folders import everything_in
from tests.services.sync.a_store import Place

A = "11111111-1111-4111-8111-111111111111"
B = "22222222-2222-4222-8222-222222222222"


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    path = tmp_path / "remote.git"
    subprocess.run(["git", "init", "-q", "--bare", str(path)], check=True)
    return path


@pytest.fixture
def places(tmp_path: Path, remote: Path) -> list[Place]:
    key = RemoteKey.new()
    return [Place(tmp_path / name, remote, key, name) for name in ("desk", "laptop", "server")]


def texts(place: Place, session_id: str = A) -> set[str]:
    return set(place.store.facts.get(session_id, {}).values())


def test_what_one_machine_says_arrives_on_another(places: list[Place]) -> None:
    desk, laptop, _ = places
    desk.store.say(A, "hello")
    assert desk.syncing().once().sent == {A}
    report = laptop.syncing().once()
    assert (report.received, report.problems) == ({A}, [])
    assert texts(laptop) == {"hello"}


def test_both_go_on_offline_and_both_keep_everything(places: list[Place]) -> None:
    desk, laptop, _ = places
    desk.store.say(A, "one")
    desk.syncing().once()
    laptop.syncing().once()
    desk.store.say(A, "from the desk")
    laptop.store.say(A, "from the laptop")
    for place in (desk, laptop, desk):
        place.syncing().once()
    assert texts(desk) == texts(laptop) == {"one", "from the desk", "from the laptop"}


def test_nothing_new_changes_nothing(places: list[Place], remote: Path) -> None:
    desk, laptop, _ = places
    desk.store.say(A, "one")
    for place in (desk, laptop, desk):
        place.syncing().once()
    before = refs(remote)
    assert desk.syncing().once().sent == set()
    assert laptop.syncing().once().received == set()
    assert refs(remote) == before


def refs(remote: Path) -> bytes:
    return subprocess.run(
        ["git", "-C", str(remote), "for-each-ref"], check=True, capture_output=True
    ).stdout


def test_no_word_and_no_name_is_readable_on_the_remote(places: list[Place], remote: Path) -> None:
    desk, laptop, _ = places
    desk.store.say(A, "wunderbarer geheimtext " * 20)
    laptop.store.say(B, "wunderbarer geheimtext " * 20)
    for place in (desk, laptop, desk):
        place.syncing().once()
    said = subprocess.run(
        f"git -C {remote} cat-file --batch --batch-all-objects; git -C {remote} for-each-ref;"
        f" cat {remote}/packed-refs; true",
        shell=True,
        check=True,
        capture_output=True,
    ).stdout
    for word in (b"geheim", b"desk", b"laptop", A.encode(), B.encode()):
        assert word not in said


def test_what_was_deleted_here_goes_elsewhere_and_cannot_be_read_again(
    places: list[Place], remote: Path
) -> None:
    desk, laptop, server = places
    desk.store.say(A, "secret")
    desk.store.say(B, "kept")
    desk.syncing().once()
    laptop.syncing().once()
    laptop.delete(A)
    laptop.syncing().once()
    assert desk.syncing().once().deleted == {A}
    assert A not in desk.store.facts and texts(desk, B) == {"kept"}
    server.syncing().once()
    assert set(server.store.facts) == {B}
    # The branch of keys has no past in which the key of the session could be found.
    keys = next(
        line.split()[0]
        for line in refs(remote).splitlines()
        if line.endswith(f"{desk.store.machine.id}/keys".encode())
    ).decode()
    past = subprocess.run(
        ["git", "-C", str(remote), "rev-list", keys], check=True, capture_output=True
    ).stdout
    assert len(past.split()) == 1


def test_a_session_missing_elsewhere_is_not_deleted_here(places: list[Place]) -> None:
    desk, laptop, _ = places
    desk.store.say(A, "hello")
    desk.syncing().once()
    laptop.syncing().once()
    del laptop.store.facts[A]  # such as by retention
    laptop.syncing().once()
    desk.syncing().once()
    assert texts(desk) == {"hello"}


def test_a_remote_that_was_emptied_gets_everything_again(places: list[Place], remote: Path) -> None:
    desk, laptop, server = places
    desk.store.say(A, "one")
    laptop.store.say(B, "two")
    for place in (desk, laptop, desk):
        place.syncing().once()
    shutil.rmtree(remote)
    with pytest.raises(SyncError):
        desk.syncing().once()
    subprocess.run(["git", "init", "-q", "--bare", str(remote)], check=True)
    for place in (desk, laptop, server):
        assert place.syncing().once().problems == []
    assert (texts(server), texts(server, B)) == ({"one"}, {"two"})


@pytest.mark.more
def test_a_busy_session_is_merged_at_the_next_sync(places: list[Place]) -> None:
    desk, laptop, _ = places
    desk.store.say(A, "one")
    desk.syncing().once()
    laptop.store.busy.add(A)
    laptop.syncing().once()
    assert texts(laptop) == set()
    laptop.store.busy.clear()
    laptop.syncing().once()
    assert texts(laptop) == {"one"}


def test_a_copied_store_takes_another_name_and_loses_nothing(
    places: list[Place], tmp_path: Path, remote: Path
) -> None:
    desk, laptop, _ = places
    desk.store.say(A, "one")
    desk.syncing().once()
    twin = Place(tmp_path / "twin", remote, desk.key, "twin")
    twin.state.close()
    shutil.copytree(desk.folder, tmp_path / "twin", dirs_exist_ok=True)
    twin = Place(tmp_path / "twin", remote, desk.key, "twin")
    twin.store.machine = desk.store.machine
    twin.store.facts = {name: dict(facts) for name, facts in desk.store.facts.items()}
    desk.store.say(B, "at the desk")
    desk.syncing().once()
    twin.store.say(A, "at the twin")
    twin.syncing().once()
    assert twin.store.machine != desk.store.machine
    twin.store.say(A, "under the new name")
    for place in (twin, desk, laptop):
        place.syncing().once()
    assert texts(laptop, B) == {"at the desk"}
    assert {"one", "under the new name"} <= texts(laptop)


def pushed(remote: Path, before: str, tip: str) -> bytes:
    """What git sends for a branch that was elsewhere before, if it was there at all."""
    given = f"{tip}\n^{before}\n" if before else f"{tip}\n"
    command = ["git", "-C", str(remote), "pack-objects", "--thin", "--stdout", "--revs"]
    done = subprocess.run(command, input=given.encode(), check=True, capture_output=True)
    return done.stdout


@pytest.mark.more
def test_a_message_moves_little_and_segments_are_joined_when_there_is_nothing_new(
    places: list[Place], remote: Path
) -> None:
    desk, laptop, _ = places
    branch = f"ollm/{desk.store.machine.id}/2026-11"
    tip = ""
    for number in range(70):
        desk.store.say(A if number % 2 else B, f"message {number}")
        desk.syncing().once()
        before, tip = tip, git(remote, "rev-parse", branch)
        assert len(pushed(remote, before, tip)) <= 5_000
        if number == 30:
            laptop.syncing().once()
    assert len(git(remote, "ls-tree", "--name-only", branch).split()) == 70
    desk.syncing().once()
    assert len(git(remote, "ls-tree", "--name-only", branch).split()) == 1
    joined = git(remote, "rev-parse", branch)
    desk.syncing().once()
    assert git(remote, "rev-parse", branch) == joined
    assert laptop.syncing().once().problems == []
    desk.store.say(A, "after that")
    desk.syncing().once()
    assert laptop.syncing().once().problems == []
    assert (len(texts(laptop)), len(texts(laptop, B))) == (36, 35)


def test_another_key_reads_nothing_and_says_so(places: list[Place], tmp_path: Path) -> None:
    desk = places[0]
    desk.store.say(A, "one")
    desk.syncing().once()
    stranger = Place(tmp_path / "stranger", desk.remote, RemoteKey.new(), "stranger")
    assert stranger.syncing().once().problems == [
        "another machine uses another key (OLLM_SYNC_KEY=… ollm sync init)"
    ]
    assert stranger.store.facts == {}


def test_what_was_deleted_here_does_not_come_back_with_what_others_said_meanwhile(
    places: list[Place],
) -> None:
    desk, laptop, _ = places
    desk.store.say(A, "one")
    desk.syncing().once()
    laptop.syncing().once()
    desk.store.say(A, "more")
    desk.syncing().once()
    laptop.delete(A)
    report = laptop.syncing().once()
    assert (report.problems, report.received, laptop.store.facts) == ([], set(), {})


def git(remote: Path, *words: str, given: bytes = b"") -> str:
    done = subprocess.run(
        ["git", "-C", str(remote), "-c", "user.name=x", "-c", "user.email=x@y", *words],
        input=given,
        check=True,
        capture_output=True,
    )
    return done.stdout.decode().strip()


def said_one_by_one(place: Place, *texts: str) -> str:
    """Say texts in a segment each; returns the branch they are on."""
    for text in texts:
        place.store.say(A, text)
        place.syncing().once()
    return f"refs/heads/ollm/{place.store.machine.id}/2026-11"


def let_offer(remote: Path, branch: str, rows: list[str]) -> None:
    tree = git(remote, "mktree", given="".join(f"{row}\n" for row in rows).encode())
    git(remote, "update-ref", branch, git(remote, "commit-tree", tree, given=b"x"))


@pytest.mark.more
def test_what_a_remote_kept_back_or_damaged_is_taken_in_when_it_is_offered(
    places: list[Place], remote: Path
) -> None:
    desk, laptop, server = places
    branch = said_one_by_one(desk, "one", "two", "three")
    tip = git(remote, "rev-parse", branch)
    rows = git(remote, "ls-tree", tip).splitlines()
    rubbish = git(remote, "hash-object", "-w", "--stdin", given=b"rubbish")
    let_offer(remote, branch, [rows[0], rows[2]])
    assert laptop.syncing().once().problems == ["the remote withholds part of desk"]
    assert texts(laptop) == {"one", "three"}
    damaged = rows[1].replace(rows[1].split()[2], rubbish)
    let_offer(remote, branch, [rows[0], damaged, rows[2]])
    assert server.syncing().once().problems == ["part of desk on the remote is damaged"]
    assert texts(server) == {"one", "three"}
    git(remote, "update-ref", branch, tip)
    for place in (laptop, server):
        assert place.syncing().once().problems == []
        assert texts(place) == {"one", "two", "three"}


def test_a_remote_that_goes_back_in_time_takes_nothing_away_and_is_told_of(
    places: list[Place], remote: Path
) -> None:
    desk, laptop, _ = places
    branch = said_one_by_one(desk, "one", "two")
    laptop.syncing().once()
    tip = git(remote, "rev-parse", branch)
    git(remote, "update-ref", branch, f"{tip}^")
    problem = "the remote has less from desk than before; nothing lost here"
    assert laptop.syncing().once().problems == [problem]
    assert texts(laptop) == {"one", "two"}
    assert desk.syncing().once().problems == []  # which sends it again
    assert git(remote, "rev-parse", branch) == tip
    assert laptop.syncing().once().problems == []


@pytest.mark.more
def test_a_key_that_is_kept_back_is_told_of_and_holds_up_nothing_else(
    places: list[Place], remote: Path
) -> None:
    desk, laptop, _ = places
    desk.store.say(A, "one")
    desk.syncing().once()
    keys = f"refs/heads/ollm/{desk.store.machine.id}/keys"
    before = git(remote, "rev-parse", keys)
    desk.store.say(B, "two")
    desk.syncing().once()
    tip = git(remote, "rev-parse", keys)
    desk.store.say(A, "three")
    desk.syncing().once()
    git(remote, "update-ref", keys, before)
    assert laptop.syncing().once().problems == ["the remote withholds a key of desk"]
    assert (texts(laptop), texts(laptop, B)) == ({"one", "three"}, set())
    git(remote, "update-ref", keys, tip)
    assert laptop.syncing().once().problems == []
    assert texts(laptop, B) == {"two"}


@pytest.mark.more
def test_a_session_that_cannot_be_taken_in_holds_up_no_other(places: list[Place]) -> None:
    desk, laptop, _ = places
    laptop.store.busy.add(A)
    desk.store.say(A, "waits")
    desk.syncing().once()
    for number in range(SEGMENTS_AT_ONCE + 2):
        desk.store.say(B, f"message {number}")
        desk.syncing().once()
    laptop.syncing().once()
    assert len(texts(laptop, B)) == SEGMENTS_AT_ONCE + 2
    laptop.syncing().once()
    laptop.store.busy.clear()
    assert laptop.syncing().once().received == {A}
    assert texts(laptop) == {"waits"}
    assert laptop.syncing().once().received == set()


def test_what_was_deleted_stays_deleted_when_the_remote_goes_back_in_time(
    places: list[Place], remote: Path
) -> None:
    desk, laptop, _ = places
    desk.store.say(A, "secret")
    desk.syncing().once()
    keys = f"refs/heads/ollm/{desk.store.machine.id}/keys"
    before = git(remote, "rev-parse", keys)
    desk.delete(A)
    desk.syncing().once()
    git(remote, "update-ref", keys, before)
    for place in (desk, laptop, desk):
        place.syncing().once()
    assert desk.store.facts == laptop.store.facts == {}


def test_the_key_of_a_deleted_session_is_gone_from_our_own_repository(
    places: list[Place], tmp_path: Path
) -> None:
    desk = places[0]
    desk.store.say(A, "secret")
    desk.syncing().once()
    hash_ = desk.key.hash(A)
    wrapped = desk.state.entry(desk.store.machine.id, hash_)
    assert wrapped
    desk.delete(A)
    desk.syncing().once()
    held = git(desk.git.folder, "cat-file", "--batch-all-objects", "--batch-check").splitlines()
    blobs = [line.split()[0] for line in held if " blob " in line]
    assert blobs
    assert all(wrapped.sealed not in (blob or b"") for blob in desk.git.blobs(blobs))
    desk.state.close()
    assert wrapped.sealed not in everything_in(tmp_path / "desk")


@pytest.mark.more
def test_a_remote_that_forbids_forgetting_is_told_of_and_the_rest_is_synced(
    places: list[Place], remote: Path
) -> None:
    desk, laptop, _ = places
    git(remote, "config", "receive.denyNonFastForwards", "true")
    desk.store.say(A, "secret")
    desk.syncing().once()
    laptop.syncing().once()
    desk.delete(A)
    desk.store.say(B, "more")
    assert desk.syncing().once().problems == [
        "the remote's history still has the keys of deleted sessions"
    ]
    assert laptop.syncing().once().deleted == {A}
    assert texts(laptop, B) == {"more"}
    assert desk.syncing().once().problems == []


def test_what_a_git_that_was_killed_had_locked_holds_up_nothing(places: list[Place]) -> None:
    desk, laptop = places[:2]
    desk.store.say(A, "one")
    for place in (desk, laptop):
        place.syncing().once()
    theirs = next(laptop.git.folder.glob(f"refs/theirs/{desk.store.machine.id}/*"))
    for locked in (theirs, laptop.git.folder / "packed-refs", laptop.git.folder / "HEAD"):
        locked.with_name(f"{locked.name}.lock").touch()
    desk.store.say(A, "two")
    for place in (desk, laptop):
        assert place.syncing().once().problems == []
    assert laptop.store.facts == desk.store.facts


def test_a_remote_in_a_folder_is_packed_and_loses_nothing(
    places: list[Place], remote: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, laptop = places[:2]
    desk.store.say(A, "one")
    for place in (desk, laptop):
        place.syncing().once()
    # A branch that is not of ours, in the same repository.
    git = ["git", "-C", str(remote), "-c", "user.name=x", "-c", "user.email=x@x"]
    tree = subprocess.run([*git, "mktree"], input=b"", capture_output=True, check=True).stdout
    words = [*git, "commit-tree", tree.decode().strip(), "-m", "x"]
    commit = subprocess.run(words, capture_output=True, check=True).stdout.decode().strip()
    subprocess.run([*git, "update-ref", "refs/heads/other", commit], check=True)
    loose = len(list(remote.glob("objects/??/*")))
    monkeypatch.setattr(bare_git, "_REPACK_REMOTE_FROM", 0)
    assert desk.syncing().once().problems == []
    assert list(remote.glob("objects/pack/*.pack"))
    assert len(list(remote.glob("objects/??/*"))) < loose
    subprocess.run([*git, "fsck", "--strict"], check=True)
    laptop.store.say(A, "two")
    for place in (laptop, desk):
        assert place.syncing().once().problems == []
    assert laptop.store.facts == desk.store.facts
