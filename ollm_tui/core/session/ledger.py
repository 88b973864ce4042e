"""The ledger of a checkpoint: facts taken from folded messages without asking a model."""

from __future__ import annotations

from collections.abc import Container
from typing import Literal

from msgspec.structs import replace

from ollm_tui.core.session.message import Value

FactKind = Literal[
    "constraint",
    "decision",
    "todo",
    "dead-end",
    "error",
    "file",
    "value",
    "command",
    "identifier",
    "note",
]
"""A note is a sentence of no kind that may be worth its room."""


class Fact(Value, frozen=True, omit_defaults=True):
    """One thing worth knowing, on one line, in the words it was said with."""

    kind: FactKind
    text: str
    about: str = ""
    """What a value is the value of, how the runs of a command ended, or whether a task was
    only perhaps done."""
    source: str = ""
    """The message or tool call it was last seen in."""
    from_user: bool = False
    current: bool = True
    """False: done, replaced or taken back. Kept so that earlier ledgers learn of it."""
    now: str = ""
    """What was said of the same thing later, where it may have taken this one's place."""


class Ledger(Value, frozen=True, omit_defaults=True):
    """Facts, oldest first."""

    facts: tuple[Fact, ...] = ()

    def without_sources(self, sources: Container[str]) -> Ledger:
        """The ledger without what was said in some messages, where those stay in the prompt."""
        kept = tuple(fact for fact in self.facts if fact.source not in sources)
        return replace(self, facts=kept)
