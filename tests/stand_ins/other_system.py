"""Stands in for Python on macOS: a program that runs `-m MODULE …` or `-c CODE …`.

What only Linux has is taken away before anything of the program is loaded, and every Python that
the program starts is this one again. It shows what is needed, not how macOS behaves.
"""

from __future__ import annotations

import errno
import fcntl
import os
import resource
import runpy
import select
import shutil
import signal
import socket
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

ONLY_LINUX: dict[ModuleType, str] = {
    os: "memfd_create MFD_CLOEXEC pidfd_open fdatasync pipe2 sched_getaffinity sched_setaffinity"
    " O_PATH O_TMPFILE O_DIRECT O_LARGEFILE eventfd getrandom copy_file_range splice waitid"
    " posix_fadvise posix_fallocate getxattr setxattr listxattr removexattr setresuid getresuid",
    select: "epoll",
    socket: "MSG_CMSG_CLOEXEC SOCK_CLOEXEC SOCK_NONBLOCK SO_PEERCRED",
    fcntl: "F_OFD_SETLK F_SETPIPE_SZ F_ADD_SEALS",
    resource: "prlimit RLIMIT_SIGPENDING RLIMIT_MSGQUEUE RLIMIT_NICE",
    signal: "pidfd_send_signal sigtimedwait sigwaitinfo SIGPWR SIGSTKFLT",
}
ONLY_LINUX_CALLS = ("prctl", "syscall", "inotify_", "openat2", "epoll_", "unshare", "setns")
ONLY_LINUX_PROGRAMS = ("bwrap", "setpriv", "systemd-run", "unshare", "setsid")
REPOSITORY = Path(__file__).resolve().parent.parent.parent
MOST_FILES = 256
"""As many files macOS lets a program open."""


def interpreter(place: Path) -> Path:
    """Write the program there and return it."""
    place.write_text(
        f"#!{sys.executable}\n"
        f"import sys; sys.path[0] = {str(REPOSITORY)!r}\n"
        f"from {__name__} import main; main({str(place)!r}, sys.argv[1:])\n"
    )
    place.chmod(0o755)
    return place


def take_away() -> None:
    """Leave this process with what macOS has, too."""
    for module, names in ONLY_LINUX.items():
        for name in names.split():
            if hasattr(module, name):
                delattr(module, name)
    for name in ("stat", "lstat", "access", "readlink"):
        setattr(os, name, _without_proc(getattr(os, name)))
    shutil.which = _without_programs(shutil.which)
    socket.socketpair = _without_packets(socket.socketpair)
    resource.setrlimit(resource.RLIMIT_NOFILE, (MOST_FILES, MOST_FILES))
    sys.platform = "darwin"
    sys.modules["_scproxy"] = _no_proxies()
    sys.addaudithook(_refuse)


def _no_proxies() -> ModuleType:
    """The module by which urllib asks macOS for its proxies: there are none."""
    module = ModuleType("_scproxy")
    vars(module).update(_get_proxies=dict, _get_proxy_settings=dict)
    return module


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    """Refuse files of /proc and functions of Linux, whoever asks for them."""
    if event == "ctypes.dlsym" and str(arguments[1]).startswith(ONLY_LINUX_CALLS):
        raise AttributeError(f"{arguments[1]}: symbol not found")
    if event in ("open", "os.scandir", "os.listdir") and _is_of_linux(arguments[0]):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), arguments[0])


def _is_of_linux(path: Any) -> bool:
    if not isinstance(path, str | bytes | os.PathLike):
        return False
    place = os.fsdecode(path)  # pyright: ignore[reportUnknownArgumentType] # any path will do
    return place in ("/proc", "/sys") or place.startswith(("/proc/", "/sys/"))


def _without_proc(real: Any) -> Any:
    def call(path: Any, *arguments: Any, **named: Any) -> Any:
        if not _is_of_linux(path):
            return real(path, *arguments, **named)
        if real.__name__ == "access":
            return False
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)

    return call


def _without_programs(real: Any) -> Any:
    def which(name: str, *arguments: Any, **named: Any) -> Any:
        return None if name in ONLY_LINUX_PROGRAMS else real(name, *arguments, **named)

    return which


def _without_packets(real: Any) -> Any:
    def socketpair(family: Any = None, kind: int = socket.SOCK_STREAM, proto: int = 0) -> Any:
        if kind == socket.SOCK_SEQPACKET:
            raise OSError(errno.EPROTONOSUPPORT, os.strerror(errno.EPROTONOSUPPORT))
        return real(family, kind, proto)

    return socketpair


def main(program: str, arguments: list[str]) -> None:
    """Run a module or code, as the arguments say."""
    while arguments[0] not in ("-m", "-c"):
        arguments = arguments[1:]  # options of the interpreter
    how, what, *rest = arguments
    sys.argv = [how, *rest]
    take_away()
    sys.executable = program
    if how == "-m":
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})
