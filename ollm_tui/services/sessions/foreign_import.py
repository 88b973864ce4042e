"""Takes conversations of other programs into the store; those that are there already stay."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from ollm_tui.core.session.encoding import CannotDecode
from ollm_tui.core.session.message import ToolResultPart
from ollm_tui.core.session.session import Session
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.importers.programs.foreign_talk import ForeignTalk
from ollm_tui.storage.importers.programs.reading_programs import PROGRAMS, read_source, sources

FOREIGN_PROGRAMS = PROGRAMS
"""The programs whose conversations can be taken in."""
NOTHING_READABLE = "none of it could be read"


class Imported(NamedTuple):
    """What became of one conversation or one file."""

    path: Path
    session_id: str = ""
    """The session it is now; empty if it was not taken in."""
    title: str = ""
    is_known: bool = False
    """Whether it was there already."""
    problem: str = ""
    """What could not be read, in words."""


def import_from(
    library: SessionLibrary,
    program: str,
    home: Path,
    environ: Mapping[str, str],
    *,
    files: tuple[Path, ...] = (),
    project: Path | None = None,
    redact: Callable[[str], str] = str,
) -> Iterator[Imported]:
    """Take in the conversations of a program, from these files or from where it keeps them; with
    `project`, only those of that folder. Secrets in outputs of tools are hidden."""
    for path in files or sources(program, home, environ):
        said_something = False
        try:
            for talk in read_source(program, path):
                session = talk.session()
                said_something = said_something or session is not None
                if session and project in (None, Path(session.project or "")):
                    yield _taken(library, talk, session, path, redact)
                elif session is None and talk.skipped:
                    yield Imported(path, problem=NOTHING_READABLE)
                    said_something = True
            if files and not said_something:
                yield Imported(path, problem=f"no conversation of {program} in it")
        except CannotDecode as error:
            yield Imported(path, problem=str(error))
        except OSError as error:
            yield Imported(path, problem=error.strerror or str(error))


def _taken(
    library: SessionLibrary,
    talk: ForeignTalk,
    session: Session,
    path: Path,
    redact: Callable[[str], str],
) -> Imported:
    problem = f"{talk.skipped} entries of it could not be read" if talk.skipped else ""
    known = library.free_id(session.session_id) != session.session_id
    if not known:
        library.add(_without_secrets(session, redact))
    return Imported(path, session.session_id, session.title, known, problem)


def _without_secrets(session: Session, redact: Callable[[str], str]) -> Session:
    """A session whose outputs of tools hide what looks like a secret, as our own do."""
    messages = tuple(
        replace(
            message,
            parts=tuple(
                replace(part, content=redact(part.content))
                if isinstance(part, ToolResultPart)
                else part
                for part in message.parts
            ),
        )
        if message.role == "tool"
        else message
        for message in session.messages
    )
    calls = tuple(
        replace(call, result=replace(call.result, llm_content=redact(call.result.llm_content)))
        for call in session.tool_calls
    )
    return replace(session, messages=messages, tool_calls=calls)
