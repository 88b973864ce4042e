"""The key that encrypts sessions: made from a passphrase, or kept in the system's keyring."""

from __future__ import annotations

import base64
import hashlib
import importlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, Protocol, cast

import msgspec

from ollm_tui.core.errors import OllmError
from ollm_tui.settings.schema import Settings
from ollm_tui.storage.files.atomic_file import read_regular, write_atomically
from ollm_tui.storage.files.cipher import KEY_BYTES, AesGcm, CannotOpenError, Cipher
from ollm_tui.storage.store_layout import make_directory

PASSPHRASE_VARIABLE = "OLLM_PASSPHRASE"
KEYRING_ENTRY = ("ollm", "encryption-key")
SCRYPT_COST = 2**15
"""The cost of a new key: about 0.1 s and 32 MB of memory for each try."""
_FILE = "encryption.json"
_CHECK = "ollm"
"""This text is in the key file, encrypted: only the right key opens it."""


class _KeyFile(msgspec.Struct, frozen=True, rename="camel"):
    """Where the key comes from, and a text that only the right key opens."""

    source: Literal["passphrase", "keyring"]
    check: str
    salt: str = ""
    cost: int = SCRYPT_COST


class Keyring(Protocol):
    """The part of the `keyring` package that is used."""

    def get_password(self, service_name: str, username: str) -> str | None:
        """The secret of an entry, or None."""
        ...

    def set_password(self, service_name: str, username: str, password: str) -> None:
        """Store the secret of an entry."""
        ...


def cipher_for(
    settings: Settings,
    home: Path,
    environ: Mapping[str, str],
    ask: Callable[[str], str] | None,
) -> Cipher | None:
    """The cipher, or None if the settings want no encryption. OllmError if there is no key."""
    if not settings.retention.encrypt_at_rest:
        return None
    return open_cipher(home, environ, ask, find_keyring())


def open_cipher(
    home: Path,
    environ: Mapping[str, str],
    ask: Callable[[str], str] | None,
    keyring: Keyring | None = None,
) -> Cipher:
    """The cipher of this home; the first time a key is made. OllmError if there is no key.

    `ask` asks the user for a passphrase; None if nobody can be asked.
    """
    path = home / _FILE
    known = _read(path)
    source = (
        known.source
        if known
        else ("passphrase" if _prefers_passphrase(environ, keyring) else "keyring")
    )
    if source == "keyring":
        key, salt = _key_from_keyring(keyring, make=known is None), b""
    else:
        salt = base64.b64decode(known.salt) if known else os.urandom(16)
        passphrase = _passphrase(environ, ask, new=known is None)
        key = _derived_key(passphrase, salt, known.cost if known else SCRYPT_COST)
    cipher = _cipher(key)
    if known:
        _verify(cipher, known)
    else:
        check = cipher.seal(_CHECK.encode(), _FILE).decode()
        made = _KeyFile(source, check, base64.b64encode(salt).decode())
        make_directory(home)
        write_atomically(path, [msgspec.json.encode(made)])
    return cipher


def find_keyring() -> Keyring | None:
    """The system's keyring, or None if the package is not installed."""
    try:
        return cast(Keyring, importlib.import_module("keyring"))
    except ImportError:
        return None


def _prefers_passphrase(environ: Mapping[str, str], keyring: Keyring | None) -> bool:
    return keyring is None or bool(environ.get(PASSPHRASE_VARIABLE))


def _read(path: Path) -> _KeyFile | None:
    try:
        return msgspec.json.decode(read_regular(path), type=_KeyFile)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        # Making a new key here would lock the old sessions for good.
        raise OllmError(f"{path} cannot be read: {error}", "restore it from a backup") from error


def _key_from_keyring(keyring: Keyring | None, *, make: bool) -> bytes:
    if keyring is None:
        raise OllmError(
            "the key of the sessions is in the keyring, but keyring is not installed",
            "pip install keyring",
        )
    try:
        kept = keyring.get_password(*KEYRING_ENTRY)
        if kept is None and make:
            kept = base64.b64encode(os.urandom(KEY_BYTES)).decode()
            keyring.set_password(*KEYRING_ENTRY, kept)
    except RuntimeError as error:  # what keyring raises where there is no keyring at all
        hint = f"set {PASSPHRASE_VARIABLE} to use a passphrase"
        raise OllmError(f"the keyring cannot be used: {error}", hint) from error
    if kept is None:
        raise OllmError("the keyring has lost the key of the sessions", "restore the keyring")
    return base64.b64decode(kept)


def _passphrase(environ: Mapping[str, str], ask: Callable[[str], str] | None, *, new: bool) -> str:
    if given := environ.get(PASSPHRASE_VARIABLE):
        return given
    if ask is None:
        raise OllmError(
            "the sessions are encrypted", f"set the passphrase in {PASSPHRASE_VARIABLE}"
        )
    passphrase = ask("New passphrase for your sessions: " if new else "Passphrase: ")
    if not passphrase:
        raise OllmError("the passphrase is empty", "choose one")
    if new and ask("Again: ") != passphrase:
        raise OllmError("the passphrases do not match", "try again")
    return passphrase


def _derived_key(passphrase: str, salt: bytes, cost: int) -> bytes:
    memory = 128 * 8 * cost * 2  # twice the 128 · r · n bytes that scrypt works on
    return hashlib.scrypt(
        passphrase.encode("utf-8", "surrogatepass"),
        salt=salt,
        n=cost,
        r=8,
        p=1,
        maxmem=memory,
        dklen=KEY_BYTES,
    )


def _cipher(key: bytes) -> AesGcm:
    try:
        return AesGcm(key)
    except ImportError as error:
        raise OllmError(
            "encryptAtRest needs the package cryptography", "pip install 'ollm-tui[crypto]'"
        ) from error


def _verify(cipher: Cipher, known: _KeyFile) -> None:
    try:
        cipher.open(known.check.encode(), _FILE)
    except CannotOpenError as error:
        raise OllmError("wrong passphrase", "try again") from error
