"""One remote as sending and receiving share it: repository, key, memory, and what went wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from ollm_tui.services.sync.port import Machine, Records
from ollm_tui.services.sync.remote_key import RemoteKey
from ollm_tui.storage.files.cipher import AesGcm, CannotOpenError
from ollm_tui.storage.sync.bare_git import BareGit
from ollm_tui.storage.sync.sync_state import SyncState

KEYS = "keys"
"""The branch of a machine with the wrapped keys of sessions; the others are months."""
NAME_FILE = "machine"
"""The file of that branch with what people call the machine, sealed."""
NAMES = "name/"
"""How the facts begin that keep what people call each machine."""
_BRANCH = re.compile(r"([a-z0-9]{16})/(keys|\d{4}-\d{2})")


@dataclass
class SyncReport:
    """What a sync did, and what it could not do."""

    sent: set[str] = field(default_factory=set[str])
    """Sessions of which something was sent."""
    received: set[str] = field(default_factory=set[str])
    """Sessions of which something came in."""
    deleted: set[str] = field(default_factory=set[str])
    """Sessions that were deleted here because they were on another machine."""
    problems: list[str] = field(default_factory=list[str])
    """Lines for the user; the rest was synced."""

    def complain(self, problem: str) -> None:
        """Note what went wrong, once."""
        if problem not in self.problems:
            self.problems.append(problem)


class Remote(NamedTuple):
    """What sending and receiving work with."""

    git: BareGit
    key: RemoteKey
    state: SyncState
    records: Records

    def name_of(self, machine: str) -> str:
        """Return what people call a machine."""
        return self.state.fact(NAMES + machine) or "another machine"

    def machine(self, machine: str) -> Machine:
        """Return another machine."""
        return Machine(machine, self.name_of(machine))

    def cipher(self, machine: str, hash_: bytes) -> AesGcm:
        """Return the cipher for what a machine says in a session. CannotOpenError."""
        entry = self.state.entry(machine, hash_)
        if entry is None:
            raise CannotOpenError("its key is not there")
        return self.key.session_cipher(machine, entry)


def split_branch(name: str) -> tuple[str, str] | None:
    """Return the machine of a branch and its name there; None if it is no branch of ours."""
    match = _BRANCH.fullmatch(name)
    return (match[1], match[2]) if match else None
