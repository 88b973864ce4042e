"""Commands that can do irreparable harm: each program with what makes it dangerous."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

from ollm_tui.services.safety.places import Places

Argv = Sequence[str]

SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "fish", "ash", "busybox"))
INTERPRETERS = SHELLS | {"python", "python3", "perl", "ruby", "node", "php", "lua", "source", "."}
DOWNLOADERS = frozenset(("curl", "wget", "fetch", "aria2c", "http", "https", "lynx", "nc", "ncat"))
SQL_CLIENTS = frozenset(
    (
        *("psql", "mysql", "mariadb", "sqlite3", "sqlite", "sqlcmd", "duckdb", "clickhouse-client"),
        *("mongosh", "mongo", "cqlsh", "usql", "pgcli", "mycli", "redis-cli", "sqlplus"),
    )
)
DESTROYS_DATA = re.compile(
    r"\b(drop\s+(table|database|schema|index|view|user|role|collection)|truncate|delete\s+from"
    r"|dropDatabase|deleteMany|flushall|flushdb|alter\s+table\b[^;]*\bdrop)\b",
    re.IGNORECASE,
)
"""Finds commands to a database that delete data."""
WRAPPERS = frozenset(
    (
        *(
            "env",
            "nice",
            "nohup",
            "timeout",
            "time",
            "stdbuf",
            "setsid",
            "command",
            "builtin",
            "exec",
        ),
        *("ionice", "chrt", "xargs", "parallel", "watch", "strace", "unbuffer", "busybox", "find"),
        *("coproc", "script", "flock", "taskset", "chroot", "unshare", "nsenter", "fd", "entr"),
    )
)
"""Programs that run another one, which is named in their words."""

_OTHER_USER = "it runs as another user"
_MACHINE = "it stops or restarts the machine"
_DISK = "it overwrites a disk"
_ALWAYS = (
    (_OTHER_USER, ("sudo", "doas", "su", "pkexec", "run0", "runuser", "sg", "newgrp")),
    (_MACHINE, ("shutdown", "reboot", "halt", "poweroff", "init", "telinit")),
    (_DISK, ("fdisk", "parted", "sfdisk", "wipefs", "mkswap", "blkdiscard")),
    ("it destroys files for good", ("shred", "srm", "wipe")),
    ("it changes the kernel", ("insmod", "modprobe", "rmmod", "sysctl")),
    ("it changes the firewall", ("iptables", "nft", "ufw")),
    ("it changes users", ("useradd", "userdel", "usermod", "passwd", "visudo")),
    ("it starts something later, by itself", ("at", "batch")),
    ("it changes which disks there are", ("mount", "umount", "swapoff", "losetup")),
)
ALWAYS: Mapping[str, str] = {name: reason for reason, names in _ALWAYS for name in names}
"""Programs that are dangerous with any words, each with the reason."""

_GIT_LOSES = {
    "reset": (("--hard", "--merge", "--keep"), "it throws away changes"),
    "checkout": (("-f", "--force", "--", ".", "-B"), "it throws away changes"),
    "switch": (("-f", "--force", "--discard-changes", "-C"), "it throws away changes"),
    "restore": (("",), "it throws away changes"),
    "branch": (("-D", "-M", "-f", "--force"), "it loses a branch"),
    "rm": (("-f", "-rf", "-fr", "--force"), "it throws away changes"),
    "tag": (("-d", "-f", "--delete", "--force"), "it loses a tag"),
    "stash": (("drop", "clear"), "it throws away what was stashed"),
    "reflog": (("expire", "delete"), "it throws away what could be restored"),
    "gc": (("--prune=now", "--prune=all"), "it throws away what could be restored"),
    "update-ref": (("-d",), "it loses a branch"),
    "worktree": (("remove",), "it deletes a directory"),
    "filter-branch": (("",), "it rewrites the history"),
    "filter-repo": (("",), "it rewrites the history"),
}
"""By git command: the words with which it loses something, "" for any, and the reason."""
_GIT_FORCED = ("--force", "--mirror", "--delete", "--prune")
_GIT_VALUED = frozenset(("-C", "--git-dir", "--work-tree", "--namespace"))
"""Options before the command whose value is the next word."""
_OPEN_TO_ALL = re.compile(r"[0-7]*7[0-7]?7|[oa]+\+r?wx?|.*\+s|[2467][0-7]{3}")
"""Modes with which everybody may write, or that run a file as its owner."""
_TARGET = re.compile(
    r"-[a-z]*[tCdoOP]|--(?:target-directory|directory|output|output-dir|output-document"
    r"|directory-prefix)"
)
"""Options of copying programs whose value is where they write."""
_TARGET_BEGINS = re.compile(rf"(?:{_TARGET.pattern})(?:=|(?=[/~$]|\.\./))")
_READS_SETTINGS = frozenset(("--get", "--get-all", "--list", "-l", "--get-regexp", "list", "get"))


def danger(argv: Argv, places: Places) -> str:
    """What is dangerous about a command, given as its words; empty if nothing known is."""
    name = argv[0].rpartition("/")[2] if argv else ""
    if name in ALWAYS:
        return ALWAYS[name]
    if name.startswith("mkfs"):
        return _DISK
    check = _CHECKS.get(name)
    return check(argv[1:], places) if check else ""


def _first_danger(paths: Iterable[str], places: Places) -> str:
    return next((found for path in paths if (found := places.write_danger(path))), "")


def _flags(words: Argv) -> str:
    """The letters of all short options in one text."""
    return "".join(word[1:] for word in words if re.match(r"-[A-Za-z]", word))


def _operands(words: Argv) -> list[str]:
    return [word for word in words if not word.startswith("-")]


def _rm(words: Argv, places: Places) -> str:
    if set(_flags(words)) & set("rR") or "--recursive" in words:
        return "it deletes whole directories"
    if any(word.rpartition("/")[2] in ("*", ".*") for word in words):
        return "it deletes all files of a directory"
    return _writes(words, places)


def _git(words: Argv, places: Places) -> str:
    rest = list(words)
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option.startswith(("-c", "--config-env", "--exec-path")):
            return "it has git run with other settings, which can start any program"
        if option in _GIT_VALUED and rest:
            rest.pop(0)
    if not rest:
        return ""
    command, given = rest[0], rest[1:]
    if command == "push" and (
        any(word.startswith((*_GIT_FORCED, "+", ":")) for word in given)
        or set("fd") & set(_flags(given))
    ):
        return "it overwrites or deletes what others pushed"
    # A word that is a path is taken for one, and the changes in it are lost.
    if command == "checkout" and any(places.real(word).exists() for word in _operands(given)):
        return "it throws away changes"
    if command == "clean" and ("f" in _flags(given) or "--force" in given):
        return "it deletes files git does not know"
    if command == "config" and not set(given) & _READS_SETTINGS:
        return "it changes what git does by itself"
    if command == "restore" and "--staged" in given:
        return ""
    losing, why = _GIT_LOSES.get(command, ((), ""))
    return why if any(not word or word in given for word in losing) else ""


def _find(words: Argv, _places: Places) -> str:
    runs = {b for a, b in pairwise(words) if a in ("-exec", "-execdir", "-ok", "-okdir")}
    deletes = "-delete" in words or runs & {"rm", "/bin/rm", "unlink"}
    return "it deletes all files it finds" if deletes else ""


def _dd(words: Argv, places: Places) -> str:
    targets = [word[3:] for word in words if word.startswith("of=")]
    return _first_danger(targets, places)


def _chmod(words: Argv, places: Places) -> str:
    if any(_OPEN_TO_ALL.fullmatch(word) for word in words):
        return "it lets everybody change files, or run them as their owner"
    return _first_danger(_operands(words)[1:], places)


def _kill(words: Argv, _places: Places) -> str:
    return "it ends processes that are not its own" if {"-1", "1"} & set(words[1:]) else ""


def _systemctl(words: Argv, _places: Places) -> str:
    reading = {"status", "list-units", "show", "is-active", "cat", "list-unit-files", "is-enabled"}
    return "" if set(_operands(words)[:1]) <= reading else "it changes what the system runs"


def _crontab(words: Argv, _places: Places) -> str:
    return "" if list(words) == ["-l"] else "it starts something later, by itself"


def _writes(words: Argv, places: Places) -> str:
    """The danger of a program that changes every path it names."""
    return _first_danger(_operands(words), places)


def _writes_last(words: Argv, places: Places) -> str:
    """The danger of a program that changes the last path, or the one after -t and the like."""
    targets = _operands(words)[-1:] if len(_operands(words)) > 1 else []
    targets += [b for a, b in pairwise(words) if _TARGET.fullmatch(a)]
    targets += [word[found.end() :] for word in words if (found := _TARGET_BEGINS.match(word))]
    return _first_danger(targets, places)


def _sed(words: Argv, places: Places) -> str:
    inplace = "i" in _flags(words) or any(word.startswith("--in-place") for word in words)
    return _writes(words[1:], places) if inplace else ""


def _rsync(words: Argv, places: Places) -> str:
    if any(word.startswith(("--delete", "--remove-source")) for word in words):
        return "it deletes files that are not in the source"
    return _writes_last(words, places)


def _net(words: Argv, _places: Places) -> str:
    runs = set(_flags(words)) & set("ec") or any("exec:" in word.lower() for word in words)
    return "it gives somebody in the network a shell" if runs else ""


def _words_of(reason: str, *dangerous: str) -> Callable[[Argv, Places], str]:
    """A check for programs that are dangerous with one of some words."""

    def check(words: Argv, _places: Places) -> str:
        return reason if set(dangerous) & set(words) else ""

    return check


def _docker(words: Argv, _places: Places) -> str:
    removes = {("volume", "rm"), ("down", "-v"), ("down", "--volumes")} & set(pairwise(words))
    mounts = any(word.startswith(("/:", "--volume=/:")) or word == "-v/:" for word in words)
    if removes or mounts or {"--privileged", "prune"} & set(words):
        return "it can change the whole machine, or deletes data"
    return ""


_PUBLISH = _words_of("it publishes something", "publish", "upload", "unpublish")
_CLOUD = _words_of(
    "it deletes what others use", "delete", "destroy", "rb", "rm", "terminate-instances"
)
_CHECKS: Mapping[str, Callable[[Argv, Places], str]] = {
    "rm": _rm,
    "rmdir": _writes,
    "unlink": _writes,
    "mkdir": _writes,
    "touch": _writes,
    "truncate": _writes,
    "tee": _writes,
    "mv": _writes,
    "cp": _writes_last,
    "ln": _writes_last,
    "install": _writes_last,
    "tar": _writes_last,
    "unzip": _writes_last,
    "curl": _writes_last,
    "wget": _writes_last,
    "scp": _writes_last,
    "rsync": _rsync,
    "sed": _sed,
    "git": _git,
    "find": _find,
    "dd": _dd,
    "chmod": _chmod,
    "chown": _writes,
    "kill": _kill,
    "killall": _words_of("it ends processes that are not its own", "-u", "--user"),
    "pkill": _words_of("it ends processes that are not its own", "-u", "--euid", "-U"),
    "systemctl": _systemctl,
    "launchctl": _systemctl,
    "crontab": _crontab,
    "nc": _net,
    "ncat": _net,
    "socat": _net,
    "docker": _docker,
    "podman": _docker,
    "npm": _PUBLISH,
    "yarn": _PUBLISH,
    "pnpm": _PUBLISH,
    "cargo": _PUBLISH,
    "twine": _PUBLISH,
    "uv": _PUBLISH,
    "gem": _words_of("it publishes something", "push"),
    "kubectl": _CLOUD,
    "terraform": _CLOUD,
    "aws": _CLOUD,
    "gcloud": _CLOUD,
    "gh": _CLOUD,
}
