"""Git on a bare repository of our own, and on one remote, so that neither can make it run code.

Nothing is ever checked out: objects are written and read by plumbing, and what a remote offers
is data whose names, kinds and sizes are looked at first.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ollm_tui.core.errors import OllmError
from ollm_tui.core.intake import visible
from ollm_tui.storage.store_layout import make_directory, remove_tree

OURS = "refs/ours/"
"""What this machine made, whether or not the remote has it yet, in our own repository."""
THEIRS = "refs/theirs/"
"""What the remote offered last."""
ON_REMOTE = "refs/heads/ollm/"
"""Where both are on the remote."""

ANSWER_SECONDS = 60.0
"""How long git may take for what is here."""
TRANSFER_SECONDS = 900.0
"""How long git may talk to the remote."""
MOST_OUTPUT = 64_000_000
"""The most that is read of a listing; a remote could offer one without end."""
MOST_FOLDER = 8_000_000
"""The largest folder that is looked into: more than a hundred thousand files."""
MOST_BLOB = 64_000_000
"""The largest blob that is read or written."""
MOST_MEMORY = 1_000_000_000
"""The most that git may take to unpack what is offered: some bytes can unpack to any number."""
_LIMITED = 'ulimit -f "$1" && { ulimit -v "$2" 2>&-; shift 2; exec "$@"; }'
"""The size of a file in blocks, and the memory in kilobytes, which not every system can limit."""
_CHUNK = 64_000_000
"""Bytes of blobs that are asked for at once."""
_REPACK_FROM = 1000
"""Loose objects and packs from which on they are packed into one."""
_REPACK_REMOTE_FROM = 6700
"""Loose objects of a remote in a folder from which on they are packed, as git itself has it."""

# Authentication stays the user's own: keys, agents and helpers of the user's git settings.
_PASSED_ON = (
    *("PATH", "HOME", "USER", "LOGNAME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "TMPDIR"),
    *("SSH_AUTH_SOCK", "SSH_AGENT_PID", "GIT_SSH", "GIT_SSH_COMMAND", "DBUS_SESSION_BUS_ADDRESS"),
    *("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GNUPGHOME"),
    *("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"),
)
_SET = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "false",
    "SSH_ASKPASS_REQUIRE": "never",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    # The host learns nothing from a commit but that it was made.
    **{f"GIT_{who}_NAME": "ollm" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "ollm@localhost" for who in ("AUTHOR", "COMMITTER")},
}
_SETTINGS = (
    # A power cut must not leave half an object under a name that counts as written.
    *("core.fsync=all", "core.logAllRefUpdates=false"),
    *("core.hooksPath=/dev/null", "core.fsmonitor=false", "core.alternateRefsCommand=false"),
    *("gc.auto=0", "maintenance.auto=false", "receive.autogc=false", "transfer.fsckObjects=true"),
    *("fetch.fsckObjects=true", "fetch.unpackLimit=1", "fetch.recurseSubmodules=false"),
    *("submodule.recurse=false", "push.recurseSubmodules=no", "push.followTags=false"),
    *("push.gpgSign=false", "commit.gpgSign=false", "receive.denyCurrentBranch=refuse"),
    *("core.packedGitWindowSize=32m", "core.packedGitLimit=256m"),
    *("core.bigFileThreshold=16m", "pack.threads=1", "advice.pushUpdateRejected=false"),
)
_SHA = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_URL = re.compile(r"(?:https|ssh)://[^\s-]\S*|(?:[\w.-]+@)?[\w.][\w.-]*:(?!//)[^\s:]\S*")
_PUSHED = re.compile(r"([ +*=!-])\t[^:\t]*:(\S+)\t(.*)")


_GONE = "Could not read from remote repository"
_NO_ANSWER = (_GONE, "unable to access")
"""What git says if the other side is not there; in English, since LC_ALL is set."""
_TOO_MUCH = ("invalid index-pack output", "Out of memory")
"""What git says if unpacking was ended, as by one of the limits below."""
_HINTS = {
    "does not appear to be a git repository": "git init --bare {} makes one",
    "detected dubious ownership": "if you trust it: git config --global --add safe.directory {}",
}


class SyncError(OllmError):
    """The remote or our own repository of it cannot be used."""


class NoAnswer(SyncError):
    """The remote cannot be reached; our own repository has no part in that."""


class TreeEntry(NamedTuple):
    """A file of a commit."""

    name: str
    sha: str


class Update(NamedTuple):
    """A ref of the remote that gets a new commit, or goes, if it still has the old one."""

    name: str
    new: str
    old: str | None


def remote_address(written: str, user_home: Path | None = None) -> str:
    """Return the address of a remote as git is given it. SyncError if it is none we use."""
    if written.startswith("~/") and user_home:
        written = str(user_home / written[2:])
    if written.startswith("/") or _URL.fullmatch(written):
        return written
    raise SyncError(
        f"sync.remote: {visible(written)} is not a git remote",
        "git@host:me/sessions.git, https://…, or the full path of a folder",
    )


class BareGit:
    """Our own bare repository, and the one remote it talks to."""

    def __init__(
        self, folder: Path, remote: str, environ: Mapping[str, str], *, most_bytes: int
    ) -> None:
        """`most_bytes`: the largest pack that is taken from the remote."""
        self.folder = folder
        self._remote = remote
        self._is_local = remote.startswith("/")
        self._most_bytes = most_bytes
        allowed = {"GIT_ALLOW_PROTOCOL": "file" if self._is_local else "https:ssh"}
        passed_on = {name: environ[name] for name in _PASSED_ON if name in environ}
        self._environment = {**passed_on, **_SET, **allowed}
        self._settings = tuple(word for each in _SETTINGS for word in ("-c", each))

    def prepare(self) -> None:
        """Make the repository, unless it is there. SyncError if git cannot be run."""
        if shutil.which("git", path=self._environment.get("PATH")) is None:
            raise NoAnswer("git is not installed", "sync needs it, e.g. apt install git")
        if (self.folder / "HEAD").exists():
            # Nobody else writes here: what a git that was killed has locked stays locked for ever.
            for left in (*self.folder.glob("*.lock"), *self.folder.glob("refs/**/*.lock")):
                left.unlink(missing_ok=True)
            return
        make_directory(self.folder.parent)
        remove_tree(self.folder)
        self._run("init", "--quiet", "--bare", "--template=", str(self.folder))

    def fetch(self) -> None:
        """Take over what the remote offers. SyncError if it cannot be used or offers too much."""
        words = (
            "fetch",
            "--quiet",
            "--prune",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-auto-gc",
        )
        # A hook or setting of a repository in a folder must not count: its own programs run here.
        words += self._served("upload-pack")
        # A shell, since setting limits between fork and exec is not safe beside threads.
        limits = ("sh", "-c", _LIMITED, "sh")
        limits += (str(self._most_bytes // 512), str(MOST_MEMORY // 1024))
        refspec = f"+{ON_REMOTE}*:{THEIRS}*"
        if self._is_local and not Path(self._remote).is_dir():
            raise NoAnswer(
                f"there is no folder {visible(self._remote)}",
                f"is it mounted? git init --bare {shlex.quote(self._remote)} makes a new one",
            )
        try:
            self._run(*words, "--", self._remote, refspec, before=limits, seconds=TRANSFER_SECONDS)
        except SyncError:
            for left in self.folder.glob("objects/pack/tmp_*"):
                left.unlink(missing_ok=True)
            raise

    def refs(self, prefix: str) -> dict[str, str]:
        """Return the refs below a prefix, without it, and their commits."""
        said = self._run("for-each-ref", "--format=%(objectname) %(objecttype) %(refname)", prefix)
        found: dict[str, str] = {}
        for line in said.decode("utf-8", "replace").splitlines():
            sha, kind, name = line.split(" ", 2)
            if kind == "commit":
                found[name.removeprefix(prefix)] = sha
        return found

    def listing(self, commit: str) -> list[TreeEntry]:
        """Return the plain files of a commit; links, folders and anything else are left out.

        None are in a folder that is larger than any of ours.
        """
        asked = f"{commit}^{{tree}}\n".encode()
        size = self._run("cat-file", "--batch-check=%(objectsize)", given=asked).strip()
        if not size.isdigit() or int(size) > MOST_FOLDER:
            return []
        said = self._run("ls-tree", "-z", commit)
        entries: list[TreeEntry] = []
        for row in said.decode("utf-8", "replace").split("\0")[:-1]:
            about, name = row.split("\t", 1)
            mode, kind, sha = about.split(" ")
            if (mode, kind) == ("100644", "blob"):
                entries.append(TreeEntry(name, sha))
        return entries

    def blobs(self, shas: Sequence[str]) -> Iterator[bytes | None]:
        """Yield blobs in the order asked for; None for one that is missing or too large."""
        if not shas:
            return
        asked = "".join(f"{sha}\n" for sha in shas).encode()
        said = self._run("cat-file", "--batch-check", given=asked).decode().splitlines()
        sizes = [_blob_size(line) for line in said]
        at = 0
        while at < len(shas):
            end, total = at, 0
            while end < len(shas) and (end == at or total + (sizes[end] or 0) <= _CHUNK):
                total += sizes[end] or 0
                end += 1
            wanted = [sha for sha, size in zip(shas[at:end], sizes[at:end], strict=True) if size]
            read = self._read(wanted, total)
            for size in sizes[at:end]:
                yield None if size is None else next(read) if size else b""
            at = end

    def write_blob(self, data: bytes) -> str:
        """Write a blob and return its name."""
        return self._sha("hash-object", "-w", "-t", "blob", "--stdin", given=data)

    def write_commit(self, entries: Sequence[TreeEntry], parent: str | None) -> str:
        """Write a commit of files and return its name."""
        rows = "".join(f"100644 blob {entry.sha}\t{entry.name}\0" for entry in entries)
        tree = self._sha("mktree", "-z", given=rows.encode())
        before = ("-p", parent) if parent else ()
        return self._sha("commit-tree", tree, *before, given=b"ollm\n")

    def is_whole(self) -> bool:
        """Whether everything in our own repository can be read; that takes a while."""
        return self._code("fsck", "--no-dangling", "--no-progress", seconds=TRANSFER_SECONDS) == 0

    def set_ref(self, name: str, commit: str) -> None:
        """Let one of our own refs name a commit."""
        self._run("update-ref", OURS + name, commit)

    def is_before(self, one: str, other: str) -> bool:
        """Whether a commit is among the ancestors of another."""
        return self._code("merge-base", "--is-ancestor", one, other) == 0

    def push(self, updates: Sequence[Update]) -> dict[str, str]:
        """Give refs new commits; returns why, for each that was refused. SyncError if none came
        through to the remote."""
        words = ["push", "--porcelain", "--no-verify", *self._served("receive-pack")]
        words += [f"--force-with-lease={ON_REMOTE}{each.name}:{each.old or ''}" for each in updates]
        words += ["--", self._remote]
        words += [f"{each.new}:{ON_REMOTE}{each.name}" for each in updates]
        process = self._start(words)
        said, complaint = self._finish(process, None, TRANSFER_SECONDS)
        rows = [_PUSHED.fullmatch(line) for line in said.decode("utf-8", "replace").splitlines()]
        told = {row[2].removeprefix(ON_REMOTE): (row[1], row[3]) for row in rows if row}
        if process.returncode and not any(flag == "!" for flag, _ in told.values()):
            raise self._failure(complaint)
        return {
            each.name: told.get(each.name, ("!", "no answer"))[1]
            for each in updates
            if told.get(each.name, ("!", ""))[0] == "!"
        }

    def remove(self, refs: Mapping[str, str]) -> None:
        """Remove refs from the remote, if they still have these commits. SyncError."""
        if refs:
            self.push([Update(name, "", tip) for name, tip in refs.items()])

    def note_pushed(self, tips: Mapping[str, str]) -> None:
        """Note what the remote has now, as a fetch would."""
        for name, tip in tips.items():
            self._run("update-ref", THEIRS + name, tip)

    def pack(self, *, at_once: bool = False) -> None:
        """Pack everything into one file, without what nobody refers to: if there are many files,
        or at once."""
        objects = self.folder / "objects"
        packs = sum(1 for _ in objects.glob("pack/*.pack"))
        if at_once or _loose_in(objects) + packs >= _REPACK_FROM:
            self._run("repack", "-a", "-d", "-q", seconds=TRANSFER_SECONDS)
            self._run("prune", "--expire=now", seconds=TRANSFER_SECONDS)

    def pack_remote(self) -> None:
        """Pack the loose files of a remote in a folder, if there are many: no host does it there.

        Only what was just fetched is packed, and nothing is left out: others may be writing. The
        remote's own settings have no part in it.
        """
        objects = Path(self._remote) / "objects"
        if not self._is_local or _loose_in(objects) < _REPACK_REMOTE_FROM:
            return
        lens = self.folder.with_name("remote.git")
        remove_tree(lens)
        self._run("init", "--quiet", "--bare", "--template=", folder=lens)
        there = {"GIT_OBJECT_DIRECTORY": str(objects)}
        refs = "".join(f"create {THEIRS}{name} {tip}\n" for name, tip in self.refs(THEIRS).items())
        self._run("update-ref", "--stdin", given=refs.encode(), folder=lens, more=there)
        words = ("repack", "-d", "-l", "-q")
        self._run(*words, folder=lens, more=there, seconds=TRANSFER_SECONDS)
        remove_tree(lens)

    def _served(self, program: str) -> tuple[str, ...]:
        """Say how the other side is run where that is here, in a repository of the remote."""
        if not self._is_local:
            return ()
        settings = " ".join(f"-c {shlex.quote(each)}" for each in _SETTINGS)
        return (f"--{program}=git {settings} {program}",)

    def _read(self, shas: Sequence[str], total: int) -> Iterator[bytes]:
        if not shas:
            return
        asked = "".join(f"{sha}\n" for sha in shas).encode()
        most = total + 200 * len(shas)
        data = self._run("cat-file", "--batch", given=asked, most=most)
        at = 0
        for _ in shas:
            line_end = data.index(b"\n", at)
            size = int(data[at:line_end].split(b" ")[2])
            at = line_end + 1 + size + 1
            yield data[line_end + 1 : at - 1]

    def _sha(self, *words: str, given: bytes) -> str:
        said = self._run(*words, given=given).decode().strip()
        if not _SHA.fullmatch(said):
            raise SyncError(f"git {words[0]} said {visible(said[:80])}", "is git up to date?")
        return said

    def _run(
        self,
        *words: str,
        given: bytes | None = None,
        before: Sequence[str] = (),
        seconds: float = ANSWER_SECONDS,
        most: int = MOST_OUTPUT,
        folder: Path | None = None,
        more: Mapping[str, str] | None = None,
    ) -> bytes:
        process = self._start(words, before, folder, more)
        said, complaint = self._finish(process, given, seconds)
        if process.returncode:
            raise self._failure(complaint)
        if len(said) > most:
            raise SyncError("the remote has too many branches", "is it the right one?")
        return said

    def _code(self, *words: str, seconds: float = ANSWER_SECONDS) -> int:
        process = self._start(words)
        self._finish(process, None, seconds)
        return process.returncode

    def _start(
        self,
        words: Sequence[str],
        before: Sequence[str] = (),
        folder: Path | None = None,
        more: Mapping[str, str] | None = None,
    ) -> subprocess.Popen[bytes]:
        git = ("git", "--no-pager", f"--git-dir={folder or self.folder}", *self._settings)
        try:
            return subprocess.Popen(
                (*before, *git, *words),
                env={**self._environment, **(more or {})},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                # Without a terminal nothing can ask for a password there.
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise SyncError(f"cannot run git: {error}", "install git") from error

    def _finish(
        self, process: subprocess.Popen[bytes], given: bytes | None, seconds: float
    ) -> tuple[bytes, bytes]:
        try:
            return process.communicate(given, timeout=seconds)
        except subprocess.TimeoutExpired as error:
            raise SyncError(f"git timed out after {seconds:g} s") from error
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()

    def _failure(self, complaint: bytes) -> SyncError:
        text = complaint.decode("utf-8", "replace").strip()
        told = _blame(text)
        kind = NoAnswer if any(each in text for each in _NO_ANSWER) else SyncError
        known = (hint for words, hint in _HINTS.items() if words in told)
        hint = next(known, "try: git ls-remote {}" if kind is NoAnswer else "ollm sync status")
        words = told.removeprefix("fatal: ").removeprefix("error: ")
        if any(each in told for each in _TOO_MUCH):
            words = "what the remote offers is too large or damaged"
            hint = "sync.maxMegabytes limits each download"
        return kind(visible(words)[:200], hint.format(visible(self._remote)))


def _loose_in(objects: Path) -> int:
    """Guess how many loose objects there are from one folder of 256, as git itself does."""
    return 256 * sum(1 for _ in objects.glob("17/*"))


def _blob_size(line: str) -> int | None:
    words = line.split(" ")
    if len(words) != 3 or words[1] != "blob" or int(words[2]) > MOST_BLOB:
        return None
    return int(words[2])


def _blame(text: str) -> str:
    """Return the line that says best what is wrong."""
    lines = [line for line in text.splitlines() if line.strip()]
    blamed = [line for line in lines if line.startswith(("fatal:", "error:"))] or lines[-1:]
    # Before this one, ssh or the server has said why.
    if blamed and _GONE in blamed[0]:
        blamed = lines
    return blamed[0] if blamed else "git failed"
