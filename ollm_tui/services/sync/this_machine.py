"""Which machine this is: a random id that its records carry, and the name people call it."""

from __future__ import annotations

import re
import secrets
import socket
from pathlib import Path

import msgspec

from ollm_tui.core.intake import clean
from ollm_tui.services.sync.port import Machine
from ollm_tui.storage.files.atomic_file import read_regular
from ollm_tui.storage.files.shared_file import replace

FILE_NAME = "machine.json"
_ID = re.compile(r"[a-z0-9]{16}")
_LONGEST_NAME = 60


class _MachineFile(msgspec.Struct, frozen=True):
    id: str
    name: str


def this_machine(folder: Path) -> Machine:
    """Return this machine; the first time it gets an id. OSError if that cannot be kept."""
    try:
        found = msgspec.json.decode(read_regular(folder / FILE_NAME), type=_MachineFile)
    except (FileNotFoundError, msgspec.MsgspecError, UnicodeDecodeError):
        return new_machine(folder)
    machine = Machine(found.id, shown_name(found.name))
    return machine if is_machine_id(machine.id) else new_machine(folder)


def new_machine(folder: Path) -> Machine:
    """Give this machine another id. OSError if that cannot be kept."""
    machine = Machine(secrets.token_hex(8), shown_name(socket.gethostname()))
    replace(folder / FILE_NAME, (msgspec.json.encode(_MachineFile(machine.id, machine.name)),))
    return machine


def is_machine_id(text: str) -> bool:
    """Whether a text can be the id of a machine."""
    return _ID.fullmatch(text) is not None


def shown_name(name: str) -> str:
    """Return the name of a machine as it may be shown: it comes from elsewhere."""
    return " ".join(clean(name).split())[:_LONGEST_NAME] or "another machine"
