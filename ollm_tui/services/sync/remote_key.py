"""The key of a remote: the user takes it to each machine, and it wraps the keys of sessions."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import os
from pathlib import Path

from ollm_tui.core.errors import OllmError, UsageError
from ollm_tui.services.sync.port import Machine
from ollm_tui.storage.files.atomic_file import read_regular, write_atomically
from ollm_tui.storage.files.cipher import KEY_BYTES, AesGcm, CannotOpenError, Cipher
from ollm_tui.storage.store_layout import make_directory
from ollm_tui.storage.sync.sync_state import DELETED, KEY, Entry

KEY_VARIABLE = "OLLM_SYNC_KEY"
"""The environment variable in which `ollm sync init` finds a key."""
_FILE_PLACE = "sync-key"
_CHECK_BYTES = 3
"""Of the hash of a key, in its written form: a slip of the hand is found at once."""
_GROUP = 5
_HASH_BYTES = 16


class RemoteKey:
    """Names, wraps and seals what goes to one remote."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._cipher = _cipher(_derived(secret, b"wrap"))
        self._names = _derived(secret, b"names")

    @classmethod
    def new(cls) -> RemoteKey:
        """Make a key for a new remote. OllmError if there is no encryption here."""
        return cls(os.urandom(KEY_BYTES))

    @classmethod
    def from_text(cls, text: str) -> RemoteKey:
        """Return the key in its written form. UsageError if it is none."""
        letters = "".join(text.split()).replace("-", "").upper()
        try:
            data = base64.b32decode(letters + "=" * (-len(letters) % 8))
        except binascii.Error:
            data = b""
        secret, check = data[:KEY_BYTES], data[KEY_BYTES:]
        if len(secret) != KEY_BYTES or not hmac.compare_digest(check, _check(secret)):
            raise UsageError("not a sync key", "ollm sync init shows it on a machine that syncs")
        return cls(secret)

    @classmethod
    def kept(cls, path: Path, cipher: Cipher) -> RemoteKey | None:
        """Return the key that is kept in a file; None if there is none. OllmError if unreadable."""
        try:
            secret = cipher.open(read_regular(path), _FILE_PLACE)
        except FileNotFoundError:
            return None
        except (OSError, CannotOpenError) as error:
            raise OllmError(f"cannot read the sync key: {error}", str(path)) from error
        return cls.from_text(secret.decode("ascii", "replace"))

    def keep(self, path: Path, cipher: Cipher) -> None:
        """Keep the key in a file for this user only, sealed where the sessions are."""
        make_directory(path.parent)
        write_atomically(path, [cipher.seal(self.text.encode(), _FILE_PLACE)])

    @property
    def text(self) -> str:
        """The key as it is written down and typed on another machine."""
        letters = base64.b32encode(self._secret + _check(self._secret)).decode().rstrip("=")
        return "-".join(letters[at : at + _GROUP] for at in range(0, len(letters), _GROUP))

    def hash(self, session_id: str) -> bytes:
        """Name a session for the remote."""
        return hmac.digest(self._names, session_id.encode(), "sha256")[:_HASH_BYTES]

    def wrapped(self, machine: str, hash_: bytes) -> Entry:
        """Make a new key for what a machine says in a session, and wrap it."""
        sealed = self._cipher.encrypt(os.urandom(KEY_BYTES), _place(KEY, machine, hash_))
        return Entry(hash_, KEY, sealed)

    def tombstone(self, machine: str, hash_: bytes) -> Entry:
        """Say that a session was deleted; nobody without the key of the remote can."""
        return Entry(hash_, DELETED, self._cipher.encrypt(b"", _place(DELETED, machine, hash_)))

    def is_genuine(self, machine: str, entry: Entry) -> bool:
        """Whether a machine of the user's wrote an entry."""
        try:
            self._cipher.decrypt(entry.sealed, _place(entry.kind, machine, entry.hash))
        except CannotOpenError:
            return False
        return True

    def session_cipher(self, machine: str, entry: Entry) -> AesGcm:
        """Return the cipher of a session. CannotOpenError if its key is not there."""
        if entry.kind != KEY:
            raise CannotOpenError("it was deleted")
        key = self._cipher.decrypt(entry.sealed, _place(KEY, machine, entry.hash))
        if len(key) != KEY_BYTES:
            raise CannotOpenError("its key is damaged")
        return AesGcm(key)

    def seal(self, data: bytes, place: str) -> bytes:
        """Seal what belongs to no session."""
        return self._cipher.encrypt(data, place)

    def open(self, data: bytes, place: str) -> bytes:
        """Open what `seal` sealed. CannotOpenError."""
        return self._cipher.decrypt(data, place)

    def seal_name(self, machine: Machine) -> bytes:
        """Seal what people call a machine."""
        return self.seal(machine.name.encode("utf-8", "replace"), f"machine/{machine.id}")

    def open_name(self, machine: str, sealed: bytes) -> str:
        """Return what people call a machine. CannotOpenError if the key is another."""
        return self.open(sealed, f"machine/{machine}").decode("utf-8", "replace")


def _place(kind: int, machine: str, hash_: bytes) -> str:
    return f"{'deleted' if kind == DELETED else 'key'}/{machine}/{hash_.hex()}"


def _derived(secret: bytes, purpose: bytes) -> bytes:
    return hmac.digest(secret, b"ollm sync " + purpose, "sha256")


def _check(secret: bytes) -> bytes:
    return hashlib.sha256(b"ollm sync check" + secret).digest()[:_CHECK_BYTES]


def _cipher(key: bytes) -> AesGcm:
    try:
        return AesGcm(key)
    except ImportError as error:
        raise OllmError(
            "sync needs the package cryptography", "pip install 'ollm-tui[crypto]'"
        ) from error
