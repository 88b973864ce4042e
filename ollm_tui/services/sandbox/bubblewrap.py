"""The arguments of bubblewrap: the machine can be read and the project can be written.

A job has processes of its own, no network, a private directory for temporary files, no sockets
of other programs (it could have those do what it must not), and none of the user's keys.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import ollm_tui
from ollm_tui.services.sandbox.protected import Protected

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
