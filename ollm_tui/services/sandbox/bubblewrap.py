"""The words bubblewrap is called with: a machine that can be read, a project that can be written.

Its own processes, no network, a private place for temporary files, no sockets of other
programs (a job could have those do what it must not), none of the user's keys.
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
    # The job is asked to end by its own group: the process outside of the walls must live on.
    "--new-session",
    *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run"),
)
_PACKAGE = Path(ollm_tui.__file__).parent
_PROGRAMS_AMONG_SOCKETS = ("/run/current-system", "/run/opengl-driver")
"""Where some systems have theirs."""
_NAMES_OF_HOSTS = "/etc/resolv.conf"
_KEYS = (
    *(".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".password-store"),
    *(".config/gcloud", ".netrc", ".pgpass", ".git-credentials", ".vault-token", ".pypirc"),
)


def bubblewrap_words(
    *,
    scope: Sequence[Path],
    protected: Protected,
    network: bool,
    temporary: Path,
    private: Path,
) -> list[str]:
    """All words but the directory, the environment and the program. Later ones lie on top."""
    words = [*_WALLS, *(_host_names() if network else ("--unshare-net",))]
    for place in _PROGRAMS_AMONG_SOCKETS:
        words += ("--ro-bind-try", place, place)
    for place in sorted({str(temporary), "/tmp", "/var/tmp"}):
        if Path(place).is_dir():
            words += ("--bind", str(private), place)
    # They may lie among the temporary files, which are hidden now; jobs start with them.
    for place in sorted({sys.prefix, sys.base_prefix, str(_PACKAGE)}):
        words += ("--ro-bind-try", place, place)
    for path in sorted((*scope, *protected.fixed), key=lambda each: len(each.parts)):
        words += ("--bind-try", str(path), str(path))
    for path in protected.read_only:
        # Where nothing is and we could make nothing either, the job cannot do so.
        words += ("--ro-bind-try", str(path), str(path))
    return [*words, *chain.from_iterable(_hidden_keys())]


def _host_names() -> Iterator[str]:
    """What finds the addresses of hosts often lies among the sockets."""
    real = os.path.realpath(_NAMES_OF_HOSTS)
    if real.startswith("/run/") and Path(real).exists():
        yield from ("--ro-bind", real, real)


def _hidden_keys() -> Iterator[tuple[str, ...]]:
    for name in _KEYS:
        path = Path.home() / name
        if path.is_dir():
            yield ("--tmpfs", os.path.realpath(path))
        elif path.is_file():
            yield ("--ro-bind", os.devnull, os.path.realpath(path))
