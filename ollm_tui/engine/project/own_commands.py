"""The user's own commands: Markdown files whose text is sent to the model by their name.

Those in the user's folder count as they are; those of a project only once the user agreed to
exactly this content.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

import msgspec
import yaml

from ollm_tui.core.errors import UsageError
from ollm_tui.core.intake import clean, visible
from ollm_tui.services.safety.project_trust import Trust, Verdict, digest_of
from ollm_tui.settings.locations import FOLDER
from ollm_tui.storage.files.beneath import Beneath

COMMANDS_FOLDER = "commands"
"""The folder of the commands, in the user's folder and in a project's."""
LARGEST_BYTES = 100_000
"""The size up to which a file is read; a longer one is no command."""
MOST_COMMANDS = 200
"""How many files of a folder are read."""

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,40}")
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_PIECE = re.compile(r"!`([^`\n]+)`|\$ARGUMENTS\b|\$([1-9])(?!\d)")

_Stamp = tuple[tuple[str, int, int], ...]


class Filled(NamedTuple):
    """A command with the words that followed its name."""

    text: str
    shell: tuple[str, ...] = ()
    """Commands for the shell whose output goes along; the user has to agree to them."""


class OwnCommand(NamedTuple):
    """One command."""

    name: str
    text: str
    description: str = ""
    arguments: str = ""
    """What follows the name; not in brackets, it is needed."""
    model: str = ""
    mode: str = ""
    is_of_project: bool = False
    problem: str = ""
    """Why it cannot be used; empty if it can."""

    @property
    def wishes(self) -> tuple[tuple[str, str], ...]:
        """The model and the mode that it changes to; an empty one is not wished for."""
        return (("model", self.model), ("mode", self.mode))

    def filled(self, words: str) -> Filled:
        """Put the words where the file wants them, else after its text. UsageError if it needs
        words and there are none, or if its front matter cannot be read."""
        if self.problem:
            raise UsageError(f"/{self.name}: {self.problem}", "fix the lines between the ---")
        words = words.strip()
        if self.arguments and not self.arguments.startswith("[") and not words:
            raise UsageError(f"/{self.name} needs {self.arguments}", "add it after the name")
        numbered, shell = words.split(), list[str]()

        # Only what stands in the file is run: words that were typed or pasted are text.
        def words_for(found: re.Match[str]) -> str:
            number = found[2]
            return "".join(numbered[int(number) - 1 : int(number)]) if number else words

        def replaced(found: re.Match[str]) -> str:
            if found[1] is None:
                return words_for(found)
            shell.append(_PIECE.sub(words_for, found[1]).strip())
            return f"`{shell[-1]}`"

        text = _PIECE.sub(replaced, self.text)
        if words and not re.search(r"\$ARGUMENTS\b|\$[1-9](?!\d)", self.text):
            text = f"{text}\n\n{words}"
        return Filled(text, tuple(dict.fromkeys(shell)))


class OwnCommands:
    """Reads the commands of the user and of a project; a changed file counts at once."""

    def __init__(self, home: Path | None, root: Path, trust: Trust) -> None:
        self._yours = _Folder(home / COMMANDS_FOLDER if home else None)
        own = root / FOLDER
        is_yours = home is not None and own.resolve() == home.resolve()
        self._projects = _Folder(None if is_yours else own / COMMANDS_FOLDER, is_of_project=True)
        self._trust = trust
        self._subject = f"commands:{root}"
        self._agreed_once = ""
        """The digest of commands that count as long as the program runs."""

    @property
    def all(self) -> dict[str, OwnCommand]:
        """The commands that can be used now by name; yours come before those of the project."""
        return {**(self.of_project if self._are_trusted else {}), **self._yours.commands}

    @property
    def of_project(self) -> dict[str, OwnCommand]:
        """The commands of the project, trusted or not."""
        return self._projects.commands

    @property
    def digest(self) -> str:
        """A hash of the project's commands: trust holds for exactly this content."""
        return self._projects.digest

    @property
    def awaits_answer(self) -> bool:
        """Whether the project has commands that the user has yet to decide about."""
        known = self._trust.verdict(self._subject, self.digest)
        return bool(self.of_project) and known is None and self._agreed_once != self.digest

    def agree_once(self, digest: str) -> None:
        """Have the project's commands with this content count until the program ends."""
        self._agreed_once = digest

    def keep_verdict(self, digest: str, verdict: Verdict) -> None:
        """Store the user's answer about the project's commands; it holds until they change."""
        self._trust.keep(self._subject, digest, verdict)

    @property
    def _are_trusted(self) -> bool:
        if not self.of_project:
            return False
        return (
            self._agreed_once == self.digest
            or self._trust.verdict(self._subject, self.digest) == "always"
        )


class _Folder:
    """The commands in one folder, read again when a file of it changed."""

    def __init__(self, path: Path | None, *, is_of_project: bool = False) -> None:
        self._path = path
        self._is_of_project = is_of_project
        self._stamp: _Stamp = ()
        self._commands: dict[str, OwnCommand] = {}
        self._digest = ""

    @property
    def commands(self) -> dict[str, OwnCommand]:
        self._refresh()
        return self._commands

    @property
    def digest(self) -> str:
        self._refresh()
        return self._digest

    def _refresh(self) -> None:
        stamp = tuple(sorted(self._files()))[:MOST_COMMANDS]
        if stamp == self._stamp:
            return
        self._stamp = stamp
        texts = {name: self._read(name) for name, _, _ in stamp}
        known = {name: text for name, text in texts.items() if text}
        self._digest = digest_of(part.encode() for pair in known.items() for part in pair)
        made = (_parsed(name, text, self._is_of_project) for name, text in known.items())
        self._commands = {command.name: command for command in made}

    def _files(self) -> Iterator[tuple[str, int, int]]:
        if self._path is None:
            return
        try:
            with os.scandir(self._path) as entries:
                for entry in entries:
                    name = entry.name.removesuffix(".md").lower()
                    if entry.name.endswith(".md") and _NAME.fullmatch(name):
                        state = entry.stat()
                        yield entry.name, state.st_mtime_ns, state.st_size
        except OSError:
            return

    def _read(self, name: str) -> str:
        assert self._path
        try:
            # A link may not lead out of a project; in the user's own folder it may.
            if self._is_of_project:
                root = self._path.parent.parent.resolve()
                path = (self._path / name).resolve().relative_to(root)
                file = Beneath(root).read(path.as_posix(), LARGEST_BYTES)
                data = file.data if file else None
            else:
                path = self._path / name
                data = path.read_bytes() if path.stat().st_size <= LARGEST_BYTES else None
        except (OSError, ValueError, RuntimeError):
            return ""
        return clean(data.decode("utf-8", "replace")) if data else ""


def _parsed(file: str, text: str, is_of_project: bool) -> OwnCommand:
    name = file.removesuffix(".md").lower()
    found = _FRONT_MATTER.match(text)
    body = text[found.end() :] if found else text
    command = OwnCommand(name, body.strip(), is_of_project=is_of_project)
    if not found:
        return command._replace(description=_first_line(body))
    try:
        given = cast(object, yaml.safe_load(found[1]))
        none: dict[str, Any] = {}
        fields = none if given is None else msgspec.convert(given, dict[str, Any])
    except (yaml.YAMLError, msgspec.ValidationError):
        return command._replace(problem="invalid front matter")
    wanted = {key: visible(str(fields.get(key) or "")).strip() for key in _FIELDS}
    return command._replace(**{**wanted, "description": wanted["description"] or _first_line(body)})


_FIELDS = ("description", "arguments", "model", "mode")


def _first_line(text: str) -> str:
    return visible(next((line for line in text.splitlines() if line.strip()), "")).strip()[:80]
