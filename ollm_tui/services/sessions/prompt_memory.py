"""Remembers prompts that were sent (per project), drafts (per session) and the open sidebar.

Nothing here raises: what cannot be written is kept in memory, and the log says why.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator
from hashlib import sha256
from itertools import islice
from pathlib import Path
from threading import Lock

import msgspec
from msgspec.structs import replace as replace_fields

from ollm_tui.core.intake import clean
from ollm_tui.services.sessions.saved_lines import SavedLines
from ollm_tui.storage.files.atomic_file import read_regular
from ollm_tui.storage.files.shared_file import append_line, drop_lines, keep_last_lines, replace
from ollm_tui.storage.store_layout import is_valid_name, remove_tree

MOST_PROMPTS = 1_000
MOST_BYTES = 2_000_000
"""The most bytes of all prompts of a project, including texts pasted into them."""
MOST_PROJECTS = 20
"""How many other projects offer their prompts: those that were used last."""
CUT_EVERY = 50
"""The file is cut back at the first prompt, and then after this many."""

RECENT = 5
"""How many models are remembered as used last."""
PROMPTS, DRAFTS = "prompt-history", "drafts"
"""The folders of prompts and drafts."""

log = logging.getLogger(__name__)


class _Line(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    text: str
    session: str = ""
    """The session it was typed in, with which it is deleted."""


class _Screen(msgspec.Struct):
    sidebar: bool | None = None
    """Whether it is open; None while nobody chose."""
    inspector: bool = False


class PromptMemory:
    """Remembers on disk, or without a directory until the program ends; usable in any thread."""

    def __init__(self, directory: Path | None, project: Path) -> None:
        # A hash: a path holds slashes and may be too long for a file name.
        self._key = f"project-{sha256(bytes(project.absolute())).hexdigest()[:24]}"
        self._history = directory and directory / PROMPTS / f"{self._key}.jsonl"
        self._folder = directory and directory / DRAFTS
        self.searches = SavedLines(directory and directory / "searches.json")
        """The searches that the user saved."""
        self.favourite_models = SavedLines(directory and directory / "favourite-models.json")
        """Models the user wants first, as PROVIDER/MODEL."""
        self.recent_models = SavedLines(directory and directory / "recent-models.json", RECENT)
        """Models the user chose last, as PROVIDER/MODEL."""
        self._screen = directory and directory / "screen.json"
        self._looks = _Screen()
        self._unwritten: list[_Line] = []
        self._drafts: dict[str, str] = {}
        self._last = ""
        self._count = 0
        self._lock = Lock()

    def history(self) -> list[str]:
        """Return the prompts sent in this project, the oldest first, without repetitions."""
        with self._lock:
            texts = (*self._read_history(), *(line.text for line in self._unwritten))
        kept = [text for text, before in zip(texts, ("", *texts), strict=False) if text != before]
        return kept[-MOST_PROMPTS:]

    def elsewhere(self) -> list[str]:
        """Return the prompts sent in other projects, the latest first."""
        if not self._history:
            return []
        try:
            files = [each for each in self._history.parent.iterdir() if each.suffix == ".jsonl"]
            files.sort(key=lambda file: file.stat().st_mtime_ns, reverse=True)
        except OSError:
            return []  # there are none yet
        others = (file for file in files if file != self._history)
        texts = (text for file in islice(others, MOST_PROJECTS) for text in _latest(file))
        return list(islice(texts, MOST_PROMPTS))

    def remember(self, text: str, session_id: str = "") -> None:
        """Add a prompt that was sent, or put aside, unless it is the same as the last one."""
        text = clean(text)
        with self._lock:
            if text.strip() and text != self._last:
                self._last = text
                self._unwritten.append(_Line(text, session_id))
                self._write_history()

    def draft(self, session_id: str | None) -> str:
        """Return the unsent text of a session, or (None) of the project before it has a session."""
        key = self._draft_key(session_id)
        with self._lock:
            # A draft in memory is one that could not be written: it is newer than the file.
            if key in self._drafts or not self._folder:
                return self._drafts.get(key, "")
            try:
                return clean(read_regular(self._folder / key).decode("utf-8", "replace"))
            except FileNotFoundError:
                return ""
            except OSError as error:
                log.warning("a draft cannot be read: %s", error)
                return ""

    def keep_draft(self, session_id: str | None, text: str) -> None:
        """Store the unsent text of a session; an empty text removes the draft."""
        key, text = self._draft_key(session_id), clean(text)
        with self._lock:
            self._drafts[key] = text
            if not self._folder:
                return
            try:
                if text:
                    replace(self._folder / key, (text.encode(),))
                else:
                    (self._folder / key).unlink(missing_ok=True)
                del self._drafts[key]
            except OSError as error:
                log.warning("a draft cannot be kept: %s", error)

    def sidebar_is_open(self) -> bool | None:
        """Return whether the sidebar was open when the program was left; None if nobody chose."""
        return self._read_looks().sidebar

    def keep_sidebar(self, is_open: bool) -> None:
        """Store whether the sidebar is open."""
        self._keep_looks(replace_fields(self._read_looks(), sidebar=is_open))

    def inspector_is_open(self) -> bool:
        """Return whether the inspector was open when the program was left."""
        return self._read_looks().inspector

    def keep_inspector(self, is_open: bool) -> None:
        """Store whether the inspector is open."""
        self._keep_looks(replace_fields(self._read_looks(), inspector=is_open))

    def _read_looks(self) -> _Screen:
        if not self._screen:
            return self._looks
        try:
            return msgspec.json.decode(read_regular(self._screen), type=_Screen)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return _Screen()  # there is none yet, or it is damaged: nothing is lost by it

    def _keep_looks(self, looks: _Screen) -> None:
        self._looks = looks
        if not self._screen:
            return
        try:
            replace(self._screen, (msgspec.json.encode(looks),))
        except OSError as error:
            log.warning("how the screen looks cannot be kept: %s", error)

    def _draft_key(self, session_id: str | None) -> str:
        if session_id is None:
            return self._key
        if is_valid_name(session_id):
            return session_id
        # An id that is no valid file name must not become one.
        return f"session-{sha256(session_id.encode('utf-8', 'replace')).hexdigest()[:24]}"

    def _read_history(self) -> list[str]:
        return _prompts(self._history) if self._history else []

    def _write_history(self) -> None:
        if not self._history:
            del self._unwritten[:-MOST_PROMPTS]
            return
        # Also what could not be written before, in its order.
        while self._unwritten:
            try:
                append_line(self._history, msgspec.json.encode(self._unwritten[0]))
                del self._unwritten[0]
                self._cut_now_and_then(self._history)
            except OSError as error:
                log.warning("a prompt cannot be remembered: %s", error)
                return

    def _cut_now_and_then(self, path: Path) -> None:
        if self._count % CUT_EVERY == 0:
            keep_last_lines(path, MOST_PROMPTS, MOST_BYTES)
        self._count += 1


def forget_prompts(directory: Path, sessions: Collection[str], said: Collection[str]) -> None:
    """Remove what was typed in sessions that are deleted, and drafts of them.

    `said` is what the user said in them: prompts of earlier versions do not name their session.
    OSError if that fails.
    """

    def is_theirs(line: bytes) -> bool:
        found = _line(line)
        # A damaged line may hold part of such a prompt, and nobody can read it.
        return not found.text or found.session in sessions or found.text.strip() in said

    for file in (directory / PROMPTS).glob("*.jsonl"):
        drop_lines(file, is_theirs)
    for session_id in sessions:
        (directory / DRAFTS / session_id).unlink(missing_ok=True)


def forget_all_prompts(directory: Path) -> None:
    """Remove every prompt and draft. OSError if that fails."""
    for folder in (PROMPTS, DRAFTS):
        remove_tree(directory / folder)


def _prompts(file: Path) -> list[str]:
    """Return the prompts in a file, the oldest first; damaged lines are left out."""
    try:
        lines = read_regular(file).splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        log.warning("earlier prompts cannot be read: %s", error)
        return []
    texts = (clean(_line(line).text) for line in lines)
    return [text for text in texts if text.strip()]


def _latest(file: Path) -> Iterator[str]:
    return reversed(_prompts(file))


def _line(line: bytes) -> _Line:
    """Return the prompt in a line of the file, or an empty text if the line is damaged."""
    try:
        return msgspec.json.decode(line, type=_Line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _Line("")
