"""Landlock: a process gives up writing outside of some directories, and TCP, for good.

It does not restrict changing modes and times of files, UDP, and sockets that have a path. Also
loaded by the launcher of jobs, so it imports nothing but the standard library.
"""

from __future__ import annotations

import ctypes
import os
import stat
from typing import NamedTuple

OLDEST = 3
"""The oldest usable version: before it, files outside could still be truncated."""
_WITH_TCP, _WITH_DEVICE_CALLS, _WITH_SCOPES = 4, 5, 6
"""The first versions that can restrict these."""

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
"""System calls, with the same numbers on every kind of processor."""
_VERSION_FLAG, _PATH_BENEATH = 1, 1
_PR_SET_NO_NEW_PRIVS = 38

_WRITE_FILE, _TRUNCATE, _DEVICE_CALLS = 1 << 1, 1 << 14, 1 << 15
_CHANGE_DIRECTORY = sum(1 << bit for bit in range(4, 14))
"""The rights to remove and create entries of every kind, and to move them between directories."""
_TCP = 0b11
"""The rights to bind and to connect."""
_SCOPES = 0b11
"""Abstract sockets of processes, and signals to processes, that are not below this one."""


class LandlockRules(NamedTuple):
    """What a process may still do."""

    writable: tuple[str, ...]
    """Directories with all below them, and files, that it may write."""
    tcp: bool


class _Ruleset(ctypes.Structure):
    _fields_ = (
        ("files", ctypes.c_uint64),
        ("network", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    )


class _PathBeneath(ctypes.Structure):
    _pack_ = 1  # as the kernel defines it
    _fields_ = (("allowed", ctypes.c_uint64), ("directory", ctypes.c_int32))


def version() -> int:
    """The version of Landlock in the kernel; 0 if there is none."""
    try:
        return _call(_CREATE_RULESET, None, 0, _VERSION_FLAG)
    except OSError:
        return 0


def restrict(rules: LandlockRules) -> None:
    """Restrict this process, and all it starts, from now on. OSError if that is not possible."""
    known = version()
    if known < OLDEST:
        raise OSError(f"Landlock {known} is too old")
    on_files = _WRITE_FILE | _TRUNCATE | (_DEVICE_CALLS if known >= _WITH_DEVICE_CALLS else 0)
    handled = _Ruleset(
        files=on_files | _CHANGE_DIRECTORY,
        network=_TCP if known >= _WITH_TCP and not rules.tcp else 0,
        scoped=_SCOPES if known >= _WITH_SCOPES else 0,
    )
    # Only the fields that this version knows.
    size = 24 if known >= _WITH_SCOPES else 16 if known >= _WITH_TCP else 8
    ruleset = _call(_CREATE_RULESET, ctypes.byref(handled), size, 0)
    try:
        for path in rules.writable:
            _allow(ruleset, path, on_files)
        # The kernel lets only such processes restrict themselves without being root.
        if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "new privileges cannot be given up")
        _call(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, on_files: int) -> None:
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        is_directory = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        # The kernel refuses rights of directories for a file.
        rights = on_files | _CHANGE_DIRECTORY if is_directory else on_files
        rule = _PathBeneath(rights, descriptor)
        _call(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(rule), 0)
    finally:
        os.close(descriptor)


def _call(number: int, *arguments: object) -> int:
    if not hasattr(os, "O_PATH"):  # not Linux: the numbers mean other calls there
        raise OSError("there is no Landlock here")
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    result: int = library.syscall(
        *(ctypes.c_long(each) if isinstance(each, int) else each for each in (number, *arguments))
    )
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
