"""Encryption of what is written to disk: AES-256-GCM, or none.

Sealed bytes are printable and begin with a mark that no JSON begins with, so that plain and
sealed sessions can lie side by side.
"""

from __future__ import annotations

import base64
import binascii
import importlib
import os
from typing import Any, Protocol, cast

MARK = b"sealed:1:"
KEY_BYTES = 32
NO_KEY = "it is encrypted"
"""Why something cannot be read where no key was given."""
_OTHER_KEY = "it is encrypted with another key, or damaged"
_NONCE_BYTES = 12
"""The standard length for GCM."""


class CannotOpenError(Exception):
    """Sealed bytes cannot be opened: the key is wrong or missing, or they are damaged."""


class Cipher(Protocol):
    """Seals bytes for a place; what is moved to another place does not open there."""

    def seal(self, data: bytes, place: str) -> bytes:
        """Return the bytes to be written."""
        ...

    def open(self, data: bytes, place: str) -> bytes:
        """Return the bytes that were sealed. CannotOpenError if that is impossible."""
        ...


def record_place(session_id: str, seq: int) -> str:
    """Name the place of a record: it opens only in its session and under its number."""
    return f"{session_id}/{seq}"


class Plain:
    """No cipher: bytes are written as they are, and sealed ones cannot be read."""

    def seal(self, data: bytes, place: str) -> bytes:
        """Return the same bytes."""
        return data

    def open(self, data: bytes, place: str) -> bytes:
        """Return the same bytes. CannotOpenError if they are sealed."""
        if data.startswith(MARK):
            raise CannotOpenError(NO_KEY)
        return data


class AesGcm:
    """AES-256-GCM with a fresh nonce each time; bytes that were never sealed pass unchanged."""

    def __init__(self, key: bytes) -> None:
        # Imported late: an optional dependency, and 20 ms that only its users should pay.
        ciphers: Any = importlib.import_module("cryptography.hazmat.primitives.ciphers.aead")
        self._invalid = importlib.import_module("cryptography.exceptions").InvalidTag
        self._aes = ciphers.AESGCM(key)

    def seal(self, data: bytes, place: str) -> bytes:
        """Return bytes that only this key opens, and only in this place."""
        return MARK + base64.b64encode(self.encrypt(data, place))

    def open(self, data: bytes, place: str) -> bytes:
        """Return the bytes again. CannotOpenError if the key or the place is another."""
        if not data.startswith(MARK):
            return data
        try:
            raw = base64.b64decode(data[len(MARK) :].strip(), validate=True)
        except (binascii.Error, ValueError) as error:
            raise CannotOpenError(_OTHER_KEY) from error
        return self.decrypt(raw, place)

    def encrypt(self, data: bytes, place: str) -> bytes:
        """Seal bytes without mark and printable form, for where there are only sealed ones."""
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + cast(bytes, self._aes.encrypt(nonce, data, place.encode()))

    def decrypt(self, data: bytes, place: str) -> bytes:
        """Open what `encrypt` sealed. CannotOpenError if the key or the place is another."""
        nonce, sealed = data[:_NONCE_BYTES], data[_NONCE_BYTES:]
        try:
            return cast(bytes, self._aes.decrypt(nonce, sealed, place.encode()))
        except (ValueError, self._invalid) as error:
            raise CannotOpenError(_OTHER_KEY) from error
