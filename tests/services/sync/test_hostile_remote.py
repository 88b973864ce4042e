"""A remote made by a stranger runs nothing here and damages nothing."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from ollm_tui.services.sync.remote_key import RemoteKey
from ollm_tui.storage.sync import bare_git
from ollm_tui.storage.sync.bare_git import THEIRS, BareGit, SyncError, remote_address
from tests.cases import some
from tests.services.sync.a_store import Place

A = "11111111-1111-4111-8111-111111111111"
STRANGER = "f" * 16


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    path = tmp_path / "remote.git"
    git(tmp_path, "init", "-q", "--bare", str(path))
    return path


@pytest.fixture
def desk(tmp_path: Path, remote: Path) -> Place:
    place = Place(tmp_path / "desk", remote, RemoteKey.new())
    place.store.say(A, "mine")
    return place


def git(folder: Path, *words: str, given: bytes = b"") -> str:
    done = subprocess.run(["git", *words], cwd=folder, input=given, capture_output=True, check=True)
    return done.stdout.decode().strip()


def offer(remote: Path, branch: str, rows: str) -> None:
    """Let a branch of the remote offer a tree, as `git mktree` reads it."""
    tree = git(remote, "mktree", "--missing", given=rows.encode())
    names = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    commit = git(remote, *names, "commit-tree", tree, given=b"x")
    git(remote, "update-ref", f"refs/heads/ollm/{branch}", commit)


def blob(remote: Path, data: bytes) -> str:
    return git(remote, "hash-object", "-w", "--stdin", given=data)


def test_hooks_and_programs_of_a_remote_in_a_folder_do_not_run(
    desk: Place, remote: Path, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {ran}\n")
    program.chmod(0o755)
    (remote / "hooks").mkdir(exist_ok=True)
    for hook in ("pre-receive", "update", "post-receive", "post-update", "reference-transaction"):
        (remote / "hooks" / hook).symlink_to(program)
    for setting in (
        *("core.hooksPath", "core.fsmonitor", "uploadpack.packObjectsHook", "core.sshCommand"),
        *("core.alternateRefsCommand", "gpg.program", "core.pager", "core.editor"),
    ):
        value = str(remote / "hooks") if setting == "core.hooksPath" else str(program)
        git(remote, "config", setting, value)
    (remote / "objects" / "info").mkdir(exist_ok=True)
    (remote / "objects" / "info" / "alternates").write_text(str(remote / "objects") + "\n")
    assert desk.syncing().once().sent == {A}
    desk.syncing().once()
    assert not ran.exists()


def test_links_submodules_folders_and_strange_names_are_passed_over(
    desk: Place, remote: Path, tmp_path: Path
) -> None:
    target = blob(remote, b"/etc/passwd")
    inner = git(remote, "mktree", given=f"100644 blob {target}\tx\n".encode())
    rows = (
        f"120000 blob {target}\t0000001-0000001\n"
        f"160000 commit {'1' * 40}\t0000002-0000002\n"
        f"040000 tree {inner}\t0000003-0000003\n"
        f"100755 blob {target}\t0000004-0000004\n"
        f"100644 blob {target}\t-rf\n"
        f"100644 blob {target}\tCON\n"
    )
    offer(remote, f"{STRANGER}/2026-11", rows)
    offer(remote, "not-a-machine", rows)
    before = sorted(tmp_path.iterdir())
    desk.syncing().once()
    assert sorted(tmp_path.iterdir()) == before
    assert set(desk.store.facts) == {A}


@some(1, "name", [".git", "..", ".gitmodules"])
def test_trees_that_would_harm_a_checkout_are_refused_or_passed_over(
    desk: Place, remote: Path, name: str
) -> None:
    content = blob(remote, b'[submodule "x"]\n\turl = -u./payload\n\tpath = x\n')
    offer(remote, f"{STRANGER}/2026-11", f"100644 blob {content}\t{name}\n")
    try:
        desk.syncing().once()
    except SyncError:
        pass
    assert set(desk.store.facts) == {A}


@some(2, "data", [b"", b"\x93", b"\xc1" * 100, b"{}" * 1000])
def test_segments_and_keys_of_rubbish_change_nothing(
    desk: Place, remote: Path, data: bytes
) -> None:
    sha = blob(remote, data)
    offer(remote, f"{STRANGER}/keys", f"100644 blob {sha}\t00\n")
    offer(remote, f"{STRANGER}/2026-11", f"100644 blob {sha}\t0000001-0000001\n")
    assert desk.syncing().once().problems
    assert set(desk.store.facts) == {A}


def test_a_pack_that_is_too_large_is_not_taken_and_leaves_nothing(
    desk: Place, remote: Path, tmp_path: Path
) -> None:
    large = blob(remote, os.urandom(3_000_000))
    offer(remote, f"{STRANGER}/2026-11", f"100644 blob {large}\t0000001-0000001\n")
    folder = tmp_path / "small.git"
    little = BareGit(folder, str(remote), os.environ, most_bytes=1_000_000)
    little.prepare()
    with pytest.raises(SyncError, match="too large") as caught:
        little.fetch()
    assert "sync.maxMegabytes" in (caught.value.hint or "")
    assert not list(folder.glob("objects/pack/tmp_*"))


def test_a_blob_that_unpacks_to_too_much_is_never_read(desk: Place, remote: Path) -> None:
    # 70 MB of zeros are a pack of 70 kB.
    bomb = blob(remote, bytes(70_000_000))
    offer(remote, f"{STRANGER}/2026-11", f"100644 blob {bomb}\t0000001-0000001\n")
    assert desk.syncing().once().problems
    assert next(desk.git.blobs([bomb])) is None


def test_a_folder_with_too_many_files_is_not_looked_into(
    desk: Place, remote: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sha = blob(remote, b"x")
    rows = "".join(f"100644 blob {sha}\t{n:07d}-{n:07d}\n" for n in range(1, 1000))
    offer(remote, f"{STRANGER}/2026-11", rows)
    desk.git.prepare()
    desk.git.fetch()
    (tip,) = desk.git.refs(THEIRS).values()
    assert len(desk.git.listing(tip)) == 999
    monkeypatch.setattr(bare_git, "MOST_FOLDER", 10_000)
    assert desk.git.listing(tip) == []
    assert desk.syncing().once().sent == {A}


def test_a_stranger_cannot_delete_and_cannot_move_what_was_said(
    desk: Place, remote: Path, tmp_path: Path
) -> None:
    laptop = Place(tmp_path / "laptop", remote, desk.key, "laptop")
    desk.syncing().once()
    # All that the desk sent is offered once more, as if another machine had.
    for branch in ("keys", "2026-11"):
        tip = git(remote, "rev-parse", f"refs/heads/ollm/{desk.store.machine.id}/{branch}")
        git(remote, "update-ref", f"refs/heads/ollm/{STRANGER}/{branch}", tip)
    laptop.syncing().once()
    assert [key.split(":")[0] for key in laptop.store.facts[A]] == [desk.store.machine.id]
    git(remote, "update-ref", "-d", f"refs/heads/ollm/{desk.store.machine.id}/2026-11")
    laptop.syncing().once()
    assert laptop.store.facts[A]


@some(
    2,
    "address",
    ["ext::sh -c touch% x", "--upload-pack=x", "-oProxyCommand=x:y", "file:///x", "http://h/x"],
)
def test_addresses_that_could_run_a_program_are_refused(address: str) -> None:
    with pytest.raises(SyncError):
        remote_address(address)


def test_what_unpacks_to_more_than_the_memory_allows_ends_git_and_nothing_else(
    desk: Place, remote: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.syncing().once()
    # Few bytes that git, unlike those of a file, unpacks as a whole before it can look at them.
    head = f"tree {git(remote, 'mktree')}\nauthor o <o> 1 +0000\ncommitter o <o> 1 +0000\n\n"
    bomb = head.encode() + b"a" * 80_000_000
    commit = git(remote, "hash-object", "-t", "commit", "-w", "--stdin", given=bomb)
    git(remote, "update-ref", f"refs/heads/ollm/{STRANGER}/2026-11", commit)
    monkeypatch.setattr(bare_git, "MOST_MEMORY", 80_000_000)
    with pytest.raises(SyncError, match="too large"):
        desk.syncing().once()
    git(remote, "update-ref", "-d", f"refs/heads/ollm/{STRANGER}/2026-11")
    desk.store.say(A, "more")
    assert desk.syncing().once().sent == {A}


def test_a_remote_whose_objects_are_to_be_fetched_elsewhere_runs_no_program(
    desk: Place, remote: Path, tmp_path: Path
) -> None:
    desk.syncing().once()
    ran, program = tmp_path / "ran", tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {ran}\n")
    program.chmod(0o755)
    for name, value in (
        *(("core.repositoryFormatVersion", "1"), ("extensions.partialClone", "elsewhere")),
        *(("remote.elsewhere.promisor", "true"), ("remote.elsewhere.url", str(remote))),
        *(("remote.elsewhere.uploadPack", str(program)), ("gc.recentObjectsHook", str(program))),
    ):
        git(remote, "config", name, value)
    (remote / "refs" / "heads" / "missing").write_text("2" * 40 + "\n")
    desk.store.say(A, "more")
    with suppress(SyncError):
        desk.syncing().once()
    offer(remote, f"{STRANGER}/2026-11", f"100644 blob {'1' * 40}\tmissing\n")
    with suppress(SyncError):
        desk.syncing().once()
    assert not ran.exists()
