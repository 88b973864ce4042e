"""Finds the key of a provider: in a variable, in the keyring or by a command; no file has it."""

from __future__ import annotations

import importlib
import shlex
import subprocess
from collections.abc import Mapping
from typing import Protocol, cast

from ollm_tui.core.errors import AuthFailed
from ollm_tui.settings.schema import ProviderSettings

COMMAND_SECONDS = 30.0
"""How long a command that prints a key may take."""
KEYRING_SERVICE = "ollm"


class _Keyring(Protocol):
    def get_password(self, service_name: str, username: str) -> str | None: ...


def find_key(name: str, settings: ProviderSettings, environ: Mapping[str, str]) -> str | None:
    """The key of a provider, or None if it needs none. AuthFailed if the key cannot be found."""
    if settings.key_env:
        return _from_variable(name, settings.key_env, environ)
    if settings.keyring:
        return _from_keyring(name, settings.keyring)
    if settings.key_command:
        return _from_command(name, settings.key_command, environ)
    return None


def _from_variable(name: str, variable: str, environ: Mapping[str, str]) -> str:
    key = environ.get(variable, "").strip()
    if not key:
        raise AuthFailed(f"{name} needs a key", f"set the environment variable {variable}")
    return key


def _from_keyring(name: str, entry: str) -> str:
    try:
        # Few need it, and it takes 110 ms to load.
        keyring = cast(_Keyring, importlib.import_module("keyring"))
    except ImportError as error:
        raise AuthFailed(
            f"the key of {name} is in the keyring, but keyring is not installed",
            "pip install keyring, or use keyEnv or keyCommand",
        ) from error
    try:
        key = keyring.get_password(KEYRING_SERVICE, entry)
    except RuntimeError as error:  # what keyring raises where there is no keyring at all
        raise AuthFailed(f"cannot read the keyring: {error}", "use keyEnv instead") from error
    if not key:
        raise AuthFailed(
            f"the keyring has no entry {entry!r}", f"keyring set {KEYRING_SERVICE} {entry}"
        )
    return key


def _from_command(name: str, command: str, environ: Mapping[str, str]) -> str:
    hint = "run this provider's keyCommand by hand to see why"
    try:
        done = subprocess.run(
            shlex.split(command),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=COMMAND_SECONDS,
            # Password programs find their agent, their session and their vault in there.
            env=dict(environ),
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        # The error's own text holds the command line and may hold more than a name.
        raise AuthFailed(f"the keyCommand of {name} cannot be run", hint) from error
    key = done.stdout.strip()
    if done.returncode or not key or "\n" in key:
        raise AuthFailed(f"the keyCommand of {name} gave no key (exit {done.returncode})", hint)
    return key
