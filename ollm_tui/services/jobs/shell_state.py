"""What a shell carries from one job to the next: directory, environment, variables.

A job gets the state as it is when the job starts and gives back its own at the end; the app
takes it over as a whole, so of jobs that run side by side the last to finish wins.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple, cast

import msgspec

from ollm_tui.core.errors import JobError
from ollm_tui.services.jobs.process_tree import MARK_VARIABLE

_NOT_CARRIED = frozenset({"_", "PWD", "SHLVL", MARK_VARIABLE})
"""Variables of which each job has its own."""
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NO_VARIABLES = b'{"values": {}, "pickles": {}, "modules": {}}'


class ShellState(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a shell at one moment."""

    cwd: str
    environment: Mapping[str, str]
    declarations: bytes = b""
    """Variables and functions of shell code, as a script that declares them again."""
    python: bytes = _NO_VARIABLES
    """Variables of Python code, as JSON: plain values, pickles, modules. Never unpickled in the
    app: that would run code of the job."""

    @property
    def size(self) -> int:
        """Bytes that the variables take."""
        return len(self.declarations) + len(self.python)

    @property
    def variables(self) -> dict[str, Any]:
        """The variables of Python code that are plain values and can be written as text."""
        values = _python(self)["values"]
        return {name: value for name, value in values.items() if _is_text(value)}

    def with_variables(self, given: Mapping[str, Any]) -> ShellState:
        """The state with variables set from outside, texts and numbers for shell code too.

        JobError if a name cannot be that of a variable.
        """
        for name in given:
            if not _IDENTIFIER.fullmatch(name) or name.startswith("__"):
                raise JobError(
                    f"{name!r} cannot be the name of a variable",
                    "letters, digits and _ only, not a digit first",
                )
        python = _python(self)
        for name, value in given.items():
            python["values"][name] = value
            python["pickles"].pop(name, None)
            python["modules"].pop(name, None)
        lines = [
            f"{name}={_quoted(str(value))}\n"
            for name, value in given.items()
            if isinstance(value, str | int | float) and not isinstance(value, bool)
        ]
        return msgspec.structs.replace(
            self,
            declarations=self.declarations + "".join(lines).encode("utf-8", "surrogateescape"),
            python=json.dumps(python).encode(),
        )


class StateAfter(NamedTuple):
    """The state that a job left."""

    state: ShellState
    variables_dropped: bool = False
    """Whether its variables took too much room, so that they are as they were before."""


def state_after(
    report: bytes, before: ShellState, only_then: Mapping[str, str], *, python: bool, most: int
) -> StateAfter:
    """The state a job reported; what was given to this job alone does not stay.

    A report that is not whole, from a job that was killed for instance, changes nothing.
    Variables of more than `most` bytes stay as they were before; they need not be there as a whole.
    """
    # The directory and NAME=value pairs, separated by NUL; after an empty field the variables,
    # which end with NUL.
    head, border, variables = report.partition(b"\0\0")
    too_long = len(variables) > most
    if not border or not (too_long or variables.endswith(b"\0")):
        return StateAfter(before)
    cwd, *pairs = head.decode("utf-8", "surrogateescape").split("\0")
    environment = dict(pair.split("=", 1) for pair in pairs if "=" in pair[1:])
    for name, value in only_then.items():
        if environment.get(name) == value:  # a value that the job set itself stays
            del environment[name]
            if name in before.environment:
                environment[name] = before.environment[name]
    for name in before.environment:
        if not _IDENTIFIER.fullmatch(name):
            # A shell passes such a name on to its children but cannot report it.
            environment.setdefault(name, before.environment[name])
    for name in _NOT_CARRIED:
        environment.pop(name, None)
    after = msgspec.structs.replace(before, cwd=cwd, environment=environment)
    if too_long:
        return StateAfter(after, variables_dropped=True)
    if python:
        return StateAfter(msgspec.structs.replace(after, python=variables[:-1]))
    return StateAfter(msgspec.structs.replace(after, declarations=variables[:-1]))


def check_environment(given: Mapping[str, str]) -> None:
    """Raise JobError if a name or value cannot be given to any process."""
    for name, value in given.items():
        if not name or "=" in name or "\0" in name:
            raise JobError(f"{name!r} cannot be the name of a variable", "it has no = and no NUL")
        if "\0" in value:
            raise JobError(f"the value of {name} has a NUL in it", "no process can be given that")


def readable(text: str) -> str:
    """A text that can be encoded as UTF-8; names of files and variables may hold any bytes."""
    return text.encode("utf-8", "replace").decode()


def _is_text(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _python(state: ShellState) -> dict[str, dict[str, Any]]:
    # A job can write anything into its report.
    try:
        return cast(dict[str, dict[str, Any]], json.loads(state.python))
    except ValueError:
        return json.loads(_NO_VARIABLES)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
