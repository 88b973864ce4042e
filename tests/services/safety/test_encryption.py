"""The key of the sessions: a passphrase or the keyring, right or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from ollm_tui.core.errors import OllmError
from ollm_tui.services.safety.encryption import PASSPHRASE_VARIABLE, open_cipher

WORDS = {PASSPHRASE_VARIABLE: "correct horse"}


class MemoryKeyring:
    """A keyring that keeps what it is given."""

    def __init__(self, *, broken: bool = False) -> None:
        self.kept: dict[tuple[str, str], str] = {}
        self.broken = broken

    def get_password(self, service_name: str, username: str) -> str | None:
        if self.broken:
            raise RuntimeError("no backend")
        return self.kept.get((service_name, username))

    def set_password(self, service_name: str, username: str, password: str) -> None:
        self.kept[service_name, username] = password


def test_the_same_passphrase_opens_what_it_sealed(home: Path) -> None:
    sealed = open_cipher(home, WORDS, None).seal(b"secret", "here")
    assert open_cipher(home, WORDS, None).open(sealed, "here") == b"secret"


def test_a_wrong_passphrase_is_said_before_anything_is_read(home: Path) -> None:
    open_cipher(home, WORDS, None)
    with pytest.raises(OllmError, match="wrong passphrase"):
        open_cipher(home, {PASSPHRASE_VARIABLE: "wrong"}, None)


def test_nobody_to_ask_is_an_error_with_the_variable_to_set(home: Path) -> None:
    with pytest.raises(OllmError) as caught:
        open_cipher(home, {}, None)
    assert PASSPHRASE_VARIABLE in caught.value.hint


def test_a_new_passphrase_is_asked_for_twice(home: Path) -> None:
    answers = iter(("one", "two"))
    with pytest.raises(OllmError, match="do not match"):
        open_cipher(home, {}, lambda _: next(answers))
    assert not (home / "encryption.json").exists()
    open_cipher(home, {}, lambda _: "one")
    open_cipher(home, {PASSPHRASE_VARIABLE: "one"}, None)


def test_an_empty_passphrase_is_refused(home: Path) -> None:
    with pytest.raises(OllmError, match="empty"):
        open_cipher(home, {}, lambda _: "")


def test_the_keyring_keeps_the_key_where_there_is_one(home: Path) -> None:
    keyring = MemoryKeyring()
    sealed = open_cipher(home, {}, None, keyring).seal(b"secret", "here")
    assert len(keyring.kept) == 1
    assert open_cipher(home, {}, None, keyring).open(sealed, "here") == b"secret"


def test_a_lost_or_broken_keyring_never_makes_a_second_key(home: Path) -> None:
    keyring = MemoryKeyring()
    open_cipher(home, {}, None, keyring)
    before = (home / "encryption.json").read_bytes()
    keyring.kept.clear()
    for lost in (keyring, MemoryKeyring(broken=True), None):
        with pytest.raises(OllmError):
            open_cipher(home, {}, None, lost)
    assert (home / "encryption.json").read_bytes() == before


def test_a_damaged_key_file_is_never_replaced(home: Path) -> None:
    home.mkdir()
    (home / "encryption.json").write_bytes(b"{")
    with pytest.raises(OllmError, match="cannot be read"):
        open_cipher(home, WORDS, None)
    assert (home / "encryption.json").read_bytes() == b"{"
