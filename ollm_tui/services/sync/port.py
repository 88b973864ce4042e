"""What the transport of syncing asks of the sessions here: what is new, and taking in the rest."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

SHARED = "shared"
"""Under this name travels what belongs to no session: the saved searches."""
Mark = tuple[int, ...]
"""Changes whenever a session may have something new to send."""


class Marks(NamedTuple):
    """The marks of all sessions, and of the store as a whole."""

    sessions: Mapping[str, Mark]
    """Every session that is kept the same, and what else is under a name of its own."""
    store: str
    """What `Records.is_still` recognises; empty if that cannot be told, since it changes now."""


class Item(NamedTuple):
    """One fact that travels; taking it in twice, or in another order, changes nothing."""

    at: str
    """The time of the fact; its month says on which branch it travels."""
    data: bytes


class Batch(NamedTuple):
    """What a session has to send, and how far that goes."""

    items: Sequence[Item]
    cursor: str
    """Given back at the next sending, once the items are on the remote."""


class Machine(NamedTuple):
    """One of the user's machines."""

    id: str
    """Random, and all that the host of the remote sees."""
    name: str
    """What people call it."""


class BadItems(Exception):
    """Some items cannot be taken in; the others of the same call are."""

    def __init__(self, count: int) -> None:
        super().__init__(f"{count} items not understood")
        self.count = count


class Records(Protocol):
    """The sessions of this machine as the transport sees them."""

    @property
    def machine(self) -> Machine:
        """This machine."""
        ...

    def renew_machine(self) -> Machine:
        """Take another id, because a copy of this store writes under the same one."""
        ...

    def marks(self) -> Marks:
        """Return the marks of all sessions."""
        ...

    def names(self) -> Collection[str]:
        """Return every session that is here, also in the trash."""
        ...

    def is_still(self, store: str) -> bool:
        """Whether no session has changed since the marks with this one of the store were taken."""
        ...

    def since(self, session_id: str, cursor: str) -> Batch:
        """Return what this machine made of a session after a cursor. StoreError or OSError."""
        ...

    def merge(self, session_id: str, items: Sequence[bytes], machine: Machine) -> None:
        """Take in what another machine made; it is on disk when this returns.

        BadItems if some cannot be understood, SessionNotFound if its beginning is not here,
        SessionBusy or another StoreError, or OSError.
        """
        ...

    def delete(self, session_id: str) -> None:
        """Delete a session that was deleted on another machine. StoreError or OSError."""
        ...
