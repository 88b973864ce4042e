"""`ollm sessions import --from`: takes in what other programs stored, and says what it did."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from ollm_tui.cli.session_listing import SHORT_ID
from ollm_tui.core.counts import counted
from ollm_tui.core.errors import UsageError
from ollm_tui.core.intake import clean, visible
from ollm_tui.services.redaction.redactor import Redactor
from ollm_tui.services.sessions.foreign_import import import_from

if TYPE_CHECKING:
    from ollm_tui.services.sessions.session_library import SessionLibrary

NEEDS_FILE = "chatgpt"
"""The program whose conversations lie wherever their export was downloaded to."""


def take_in(library: SessionLibrary, arguments: Namespace) -> int:
    """Take in the conversations of a program; the exit code is 1 if a file could not be read."""
    files = tuple(Path(name).expanduser() for name in arguments.file)
    program = arguments.program
    if program == NEEDS_FILE and not files:
        hint = "ollm sessions import --from chatgpt export.zip"
        raise UsageError("no export file given", hint)
    taken = known = unread = 0
    redactor = Redactor.knowing(os.environ)
    for each in import_from(
        library,
        program,
        Path.home(),
        os.environ,
        files=files,
        project=Path(arguments.project).expanduser().resolve() if arguments.project else None,
        redact=redactor.redact,
    ):
        if each.problem:
            sys.stderr.write(f"ollm: {visible(str(each.path))}: {visible(each.problem)}\n")
        if not each.session_id:
            unread += 1
        elif each.is_known:
            known += 1
        else:
            taken += 1
            print(f"{each.session_id[:SHORT_ID]}  {clean(each.title)}")
    there = f", {known} already imported" if known else ""
    unreadable = f", {counted(unread, 'file')} could not be read" if unread else ""
    print(f"{counted(taken, 'session')} imported from {program}{there}{unreadable}.")
    return 1 if unread else 0
