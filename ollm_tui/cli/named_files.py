"""Files the user names: written as they are asked for, read without trusting what is in them.

Apart from the command, because reading one needs most of the store and listing sessions must not.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, cast

from ollm_tui.core import clock
from ollm_tui.core.errors import OllmError
from ollm_tui.core.session.encoding import CannotDecode, parse_json
from ollm_tui.core.session.session import is_session_id, new_session_id
from ollm_tui.services.sessions.session_bundle import Bundle, read_bundle
from ollm_tui.storage.files.atomic_file import read_regular
from ollm_tui.storage.files.side_files import SideFiles
from ollm_tui.storage.sessions.session_file import parse_session

_FORMATS: dict[str, Literal["json", "md", "html"]] = {
    ".md": "md",
    ".markdown": "md",
    ".html": "html",
    ".htm": "html",
}


def format_for(output: str | None) -> Literal["json", "md", "html"]:
    """Return the export format for a file name; JSON if its ending says nothing."""
    return _FORMATS.get(Path(output or "").suffix.lower(), "json")


def write_file(name: str, text: str) -> None:
    """Write a file. OllmError if that fails."""
    try:
        Path(name).write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        hint = "name another file with --output"
        raise OllmError(f"cannot write {name}: {error.strerror}", hint) from error


def read_session(name: str) -> Bundle:
    """Read a session from a file of ours or of an older program, with snapshots if it is a bundle.

    OllmError if it is no session.
    """
    path = Path(name)
    side_files = SideFiles(path.with_suffix(".files"))
    try:
        data = read_regular(path)
        if bundle := read_bundle(data):
            return bundle
        return Bundle(parse_session(data, _own_id(data, path), clock.now(), side_files).session)
    except OSError as error:
        hint = "give the file of an exported session"
        raise OllmError(f"cannot read {name}: {error.strerror or error}", hint) from error
    except CannotDecode as error:
        hint = "use the JSON of ollm sessions export"
        raise OllmError(f"{name} is not a session: {error}", hint) from error


def _own_id(data: bytes, path: Path) -> str:
    """Return the id in the file, else the file's name if that is an id, else a new id."""
    tree = parse_json(data)
    said = cast(dict[str, object], tree).get("sessionId") if isinstance(tree, dict) else None
    if isinstance(said, str) and is_session_id(said):
        return said
    return path.stem if is_session_id(path.stem) else new_session_id()
