"""Describes the sandbox of a job, and starts programs in it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

import ollm_tui
from ollm_tui.services.sandbox.landlock import LandlockRules
from ollm_tui.services.sandbox.placeholders import Placeholder
from ollm_tui.services.sandbox.protected import Protected, protected_in

_WALLS = (
    *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"),
    *("--unshare-cgroup-try", "--die-with-parent", "--cap-drop", "ALL"),
    # A job is ended by signals to its group, which bubblewrap outside must not get.
    "--new-session",
    *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run"),
)
_PACKAGE = Path(ollm_tui.__file__).parent
_PROGRAMS_AMONG_SOCKETS = ("/run/current-system", "/run/opengl-driver")
"""Directories below /run, which is hidden, in which some systems have programs."""
_NAMES_OF_HOSTS = "/etc/resolv.conf"
_KEYS = (
    *(".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".password-store"),
    *(".config/gcloud", ".netrc", ".pgpass", ".git-credentials", ".vault-token", ".pypirc"),
)
"""What is hidden in the home directory."""


def bubblewrap_words(
    *,
    scope: Sequence[Path],
    protected: Protected,
    network: bool,
    temporary: Path,
    private: Path,
) -> list[str]:
    """All arguments but the directory, the environment and the program.

    The order matters: later mounts cover earlier ones.
    """
    words = [*_WALLS, *(_host_names() if network else ("--unshare-net",))]
    for place in _PROGRAMS_AMONG_SOCKETS:
        words += ("--ro-bind-try", place, place)
    for place in sorted({str(temporary), "/tmp", "/var/tmp"}):
        if Path(place).is_dir():
            words += ("--bind", str(private), place)
    # Python and this package may be among the temporary files, hidden now; jobs need them.
    for place in sorted({sys.prefix, sys.base_prefix, str(_PACKAGE)}):
        words += ("--ro-bind-try", place, place)
    # Outer directories first, so that they do not cover inner ones.
    for path in sorted((*scope, *protected.fixed), key=lambda each: len(each.parts)):
        words += ("--bind-try", str(path), str(path))
    for path in protected.read_only:
        # A path that does not exist could not be created by us either, so a job cannot do so.
        words += ("--ro-bind-try", str(path), str(path))
    return [*words, *chain.from_iterable(_hidden_keys())]


def _host_names() -> Iterator[str]:
    """Arguments that show the settings of the resolver, which are often below the hidden /run."""
    real = os.path.realpath(_NAMES_OF_HOSTS)
    if real.startswith("/run/") and Path(real).exists():
        yield from ("--ro-bind", real, real)


def _hidden_keys() -> Iterator[tuple[str, ...]]:
    """Arguments that put an empty directory or file over each of the user's keys."""
    for name in _KEYS:
        path = Path.home() / name
        if path.is_dir():
            yield ("--tmpfs", os.path.realpath(path))
        elif path.is_file():
            yield ("--ro-bind", os.devnull, os.path.realpath(path))


ARGUMENTS_FILE = 204
"""The descriptor number of the file in which bubblewrap finds its arguments."""
_WRITABLE_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/shm")


class HeldProgram(NamedTuple):
    """A program as it is started to run in its sandbox."""

    argv: list[str]
    environment: dict[str, str]
    arguments: bytes | None = None
    """The content of the file with the arguments of bubblewrap; None without bubblewrap."""
    placeholders: tuple[Placeholder, ...] = ()
    landlock: LandlockRules | None = None


class Confinement(msgspec.Struct, frozen=True, kw_only=True):
    """The sandbox of a job."""

    kind: Literal["bwrap", "landlock"]
    program: str = ""
    """The path of bubblewrap."""
    scope: tuple[Path, ...]
    """Directories that may be written."""
    read_only: tuple[Path, ...] = ()
    """Paths in the scope that must not be written."""
    network: bool = False
    temporary: Path
    """The directory for temporary files."""
    private: Path
    """The directory that jobs in bubblewrap see in place of `temporary`."""

    def hold(
        self,
        argv: Sequence[str],
        cwd: str,
        environment: Mapping[str, str],
        arguments_file: int = ARGUMENTS_FILE,
    ) -> HeldProgram:
        """The program in its sandbox. JobError if something cannot be protected."""
        if self.kind == "landlock":
            return HeldProgram(list(argv), dict(environment), landlock=self.rules())
        protected = protected_in(self.scope, self.read_only)
        words = bubblewrap_words(
            scope=self.scope,
            protected=protected,
            network=self.network,
            temporary=self.temporary,
            private=self.private,
        )
        # bubblewrap itself has no environment: LD_PRELOAD would run code before the sandbox is up.
        for name, value in environment.items():
            words += ("--setenv", name, value)
        arguments = b"".join(os.fsencode(word) + b"\0" for word in (*words, "--chdir", cwd))
        return HeldProgram(
            [self.program, "--args", str(arguments_file), "--", *argv],
            {},
            arguments,
            protected.placeholders,
        )

    def rules(self) -> LandlockRules:
        """What Landlock lets a program do."""
        writable = (*map(str, self.scope), str(self.temporary), *_WRITABLE_DEVICES)
        # Landlock opens each path, and would fail for one that does not exist.
        return LandlockRules(tuple(filter(os.path.exists, writable)), self.network)
