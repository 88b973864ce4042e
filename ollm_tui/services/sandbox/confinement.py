"""Describes the sandbox of a job, and starts programs in it."""

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
