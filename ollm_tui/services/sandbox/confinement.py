"""How a job is held, as whoever starts it needs to know it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from ollm_tui.services.sandbox.bubblewrap import bubblewrap_words
from ollm_tui.services.sandbox.landlock import LandlockRules
from ollm_tui.services.sandbox.placeholders import Placeholder
from ollm_tui.services.sandbox.protected import protected_in

ARGUMENTS_FILE = 204
"""The number of the file in which bubblewrap finds its words."""
_WRITABLE_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/shm")


class HeldProgram(NamedTuple):
    """A program as it is started so that it is held."""

    argv: list[str]
    environment: dict[str, str]
    arguments: bytes | None = None
    """What the file ARGUMENTS_FILE has to hold."""
    placeholders: tuple[Placeholder, ...] = ()
    landlock: LandlockRules | None = None


class Confinement(msgspec.Struct, frozen=True, kw_only=True):
    """The walls around a job."""

    kind: Literal["bwrap", "landlock"]
    program: str = ""
    """Where bubblewrap is."""
    scope: tuple[Path, ...]
    """Directories that may be written."""
    read_only: tuple[Path, ...] = ()
    """Not to be written although they lie in the scope."""
    network: bool = False
    temporary: Path
    """Where programs put what they need for a moment."""
    private: Path
    """What stands in its place for jobs."""

    def hold(
        self,
        argv: Sequence[str],
        cwd: str,
        environment: Mapping[str, str],
        arguments_file: int = ARGUMENTS_FILE,
    ) -> HeldProgram:
        """A program with the walls around it. JobError if something protected cannot be."""
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
        # Not in its own environment: there LD_PRELOAD would be obeyed before the walls are up.
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
        """What Landlock leaves to a program."""
        wanted = (*map(str, self.scope), str(self.temporary), *_WRITABLE_DEVICES)
        return LandlockRules(tuple(filter(os.path.exists, wanted)), self.network)
